"""No secret of the contract leaves the service, whatever its name and the form in which it is written."""

from __future__ import annotations

import base64
import json
import re
import urllib.parse
from pathlib import Path

import pytest

from config.observability.redaction import redacted, redacted_path, redacted_value

pytestmark = pytest.mark.once

VALUE = "Zq7-secret_Value"
BASIC = base64.b64encode(f"client:{VALUE}".encode()).decode()
# Parameters and form fields of the three documents and of the pages, headers, cookies and variables of the environment.
PARAMETERS = (
    "key code code_verifier client_secret token access_token refresh_token id_token id_token_hint api_key api_sig "
    "password password1 password2 oldpassword secret session_key csrfmiddlewaretoken client_assertion otp "
    "clientSecret apiKey accessToken"
).split()
HEADERS = ("X-API-Key", "x-api-key", "X-CSRFToken", "X-Amz-Security-Token")
COOKIES = ("sessionid", "csrftoken")
VARIABLES = (
    "SECRET_KEY SECRET_KEY_FALLBACKS SIGNING_KEY_ENCRYPTION_KEYS EMAIL_HOST_PASSWORD S3_SECRET_KEY S3_ACCESS_KEY "
    "CHAT_BOT_TOKEN CHAT_OAUTH_CLIENT_SECRET SCROBBLER_API_KEY SCROBBLER_SECRET METRICS_TOKEN REDIS_SENTINEL_PASSWORD "
    "aws_secret_access_key aws_session_token"
).split()
FORMS = {
    "query": "GET /api/x?limit=3&{name}={value}&page=2 HTTP/1.1",
    "first of a query": "/api/x?{name}={value}",
    "query inside a query": "/accounts/login/?next=%2Fapi%2Fx%3F{name}%3D{value}%26page%3D2",
    "form": "{name}={value}",
    "JSON": '{{"a": 1, "{name}": "{value}", "b": 2}}',
    "JSON without spaces": '{{"{name}":"{value}","b":2}}',
    "JSON in JSON": '{{"body": "{{\\"{name}\\": \\"{value}\\"}}"}}',
    "repr of a dictionary": "{{'{name}': '{value}'}}",
    "repr of a header": "[(b'{name}', b'{value}'), (b'accept', b'*/*')]",
    "header": "{name}: {value}",
    "sentence": "ValueError: {name}={value}, which is wrong",
    "call": "issue({name}='{value}', by=None)",
    "PostgreSQL": "DETAIL:  Key ({name})=({value}) already exists.",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [*PARAMETERS, *HEADERS, *COOKIES, *VARIABLES])
def test_the_value_of_a_secret_is_replaced(name: str, form: str) -> None:
    line = redacted(FORMS[form].format(name=name, value=VALUE))
    assert VALUE not in line
    assert name in line
    assert "[redacted]" in line


@pytest.mark.parametrize(
    "line",
    [
        f"Authorization: Bearer {VALUE}",
        f"Authorization: Basic {BASIC}",
        f"Authorization: Custom {VALUE}",
        f"authorization: {VALUE}",
        f"Proxy-Authorization: Basic {BASIC}",
        f"'HTTP_AUTHORIZATION': 'Bearer {VALUE}'",
        f"[(b'authorization', b'Basic {BASIC}')]",
        f'{{"Authorization": "Bearer {VALUE}"}}',
        f"The header was bearer {VALUE}.",
        f"Cookie: theme=dark; sessionid={VALUE}; csrftoken={VALUE}",
        f"Cookie: another={VALUE}",
        f"'HTTP_COOKIE': 'another={VALUE}; b={VALUE}'",
        f"Set-Cookie: sessionid={VALUE}; HttpOnly; Path=/; SameSite=Lax",
        f"Set-Cookie: messages={VALUE}; HttpOnly",
        f"{{'sessionid': <Morsel: sessionid={VALUE}; Path=/>}}",
        f"/files/Ab12Cd34/delete/{VALUE}",
        f"https://id.example.org/files/Ab12Cd34/delete/{VALUE}?x=1",
        f"/accounts/confirm-email/{VALUE}/",
        f"/accounts/password/reset/key/1a-{VALUE}/",
        f"/consent/{VALUE}",
        f"/consent/{VALUE}/switch-account",
        f"/accounts/3rdparty/scrobbler/callback/{VALUE}/?token={VALUE}",
        f"/accounts/new-browser/{VALUE}/",
        f"/dashboard/teams/join/{VALUE}/",
        f"postgres://id:{VALUE}@127.0.0.1:5432/id",
        f"connection to postgres://id:a@b{VALUE}@db/id failed",
        f"redis://:{VALUE}@redis:6379/0",
        f"rediss://default:{VALUE}@redis:6379/0",
        f"https://access:{VALUE}@s3.example.org/bucket",
        f"host=db user=id password={VALUE} dbname=id",
        f"https://s3.example.org/b/k?X-Amz-Credential={VALUE}&X-Amz-Signature={VALUE}",
        f"https://public:{VALUE}@errors.example.org/4",
        "unknown word ik_abcd1234_Zq7secretValue",
        f"token of eyJhbGciOiJFZERTQSJ9.{VALUE}.{VALUE}",
        f'"password": "two words, {VALUE}"',
        f"password='it\\'s {VALUE}'",
    ],
)
def test_every_other_form_is_replaced(line: str) -> None:
    written = redacted(line)
    assert VALUE not in written
    assert "Zq7secretValue" not in written
    assert BASIC not in written
    assert "[redacted]" in written


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("GET /api/x?key=abc&limit=3", "GET /api/x?key=[redacted]&limit=3"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer [redacted]"),
        ('{"client_secret": "abc"}', '{"client_secret": "[redacted]"}'),
        ("Authorization: Bot MjY4.abc-1.def_2", "Authorization: Bot [redacted]"),
        ("Error at '/files/Ab12Cd34/delete/s3cret'?", "Error at '/files/Ab12Cd34/delete/[redacted]'?"),
        ("postgres://id:pa@127.0.0.1:5432/id", "postgres://id:[redacted]@127.0.0.1:5432/id"),
        ("ik_abcd1234_0123456789", "ik_abcd1234_[redacted]"),
        ("/consent/a1b2/switch-account", "/consent/[redacted]/switch-account"),
        ("b'key': b'abc'", "b'key': b'[redacted]'"),
    ],
)
def test_what_is_around_a_secret_stays(line: str, written: str) -> None:
    assert redacted(line) == written


@pytest.mark.parametrize(
    "line",
    [
        "The bot was removed.",
        "Error at /files/Ab12Cd34",
        "/accounts/password/reset/key/done/",
        "The basic form of a key is unknown.",
        "https://id.example.org:8443/a@b",
        "No error of Redis for 60 s, after 6 of them.",
        "status=503 route=/api/lookup/user keyboard=de",
        'File "/srv/id/accounts/api_keys/keys.py", line 3, in _made',
    ],
)
def test_what_is_no_secret_stays(line: str) -> None:
    assert redacted(line) == line


def test_nested_values_are_replaced_by_name_and_by_form() -> None:
    event = {
        "request": {"headers": {"Cookie": "a=b", "Accept": "*/*"}, "url": f"https://x/?key={VALUE}"},
        "password": ["a", "list"],
        "items": [(f"Bearer {VALUE}", {"X-API-Key": VALUE}), b"token=" + VALUE.encode(), {VALUE: 1}, None, 3, True],
        "refresh_token": "",
        "error": ValueError(f"client_secret={VALUE}"),
    }
    found = redacted_value(event)
    assert found["request"] == {
        "headers": {"Cookie": "[redacted]", "Accept": "*/*"},
        "url": "https://x/?key=[redacted]",
    }
    assert found["password"] == "[redacted]"
    assert found["items"][:2] == [["Bearer [redacted]", {"X-API-Key": "[redacted]"}], "token=[redacted]"]
    assert found["items"][3:] == [None, 3, True]
    assert found["refresh_token"] == ""
    assert found["error"] == "client_secret=[redacted]"
    json.dumps(found)


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("/files/Ab12/delete/s3cret", "/files/Ab12/delete/[redacted]"),
        ("/accounts/password/reset/key/1a-s3cret/", "/accounts/password/reset/key/[redacted]/"),
        ("/nowhere/key=s3cret", "/nowhere/key=[redacted]"),
        ("/api/lookup/user", "/api/lookup/user"),
        ("/api/lookup/username/ik_abcd1234_0123", "/api/lookup/username/ik_abcd1234_[redacted]"),
        ("/files/token=s3cret", "/files/token=[redacted]"),
    ],
)
def test_a_path_is_written_without_its_secrets(path: str, written: str) -> None:
    assert redacted_path(path) == written


def test_a_long_text_takes_no_long_time() -> None:
    """Each rule reads a text once: no combination of its parts is tried again and again."""
    for text in (
        "key" * 30_000,
        "a-" * 50_000,
        '"' * 50_000,
        "key=\\" + "\\" * 50_000,
        "://" + "a" * 50_000,
        "x://a:" * 9_000,
    ):
        redacted(text)


def test_an_encoded_secret_is_replaced() -> None:
    line = urllib.parse.urlencode({"next": f"/api/x?key={VALUE}&limit=3"})
    assert redacted(line) == "next=%2Fapi%2Fx%3Fkey%3D[redacted]%26limit%3D3"


# --- nginx, whose log has the same rule ---

NGINX = (Path(__file__).parents[2] / "deploy" / "nginx.conf").read_text()


def logged_uri(request_uri: str) -> str:
    """What the map `$logged_uri` of the configuration makes of a request: the first pattern that fits decides."""
    rows = re.findall(r'(?m)^    ~(\S+)\s+"\$(\w+)(\.*)";', NGINX.partition("map $request_uri")[2].partition("}\n")[0])
    assert len(rows) == 3
    for pattern, name, rest in rows:
        if found := re.search(pattern.replace("(?<", "(?P<"), request_uri):
            return f"{found[name]}{rest}"
    raise AssertionError(request_uri)


@pytest.mark.parametrize(
    ("request_uri", "logged"),
    [
        (f"/api/x?key={VALUE}", "/api/x"),
        (f"/files/Ab12/delete/{VALUE}?x=1", "/files/Ab12/delete/..."),
        (f"/accounts/password/reset/key/1a-{VALUE}/", "/accounts/password/reset/key/..."),
        (f"/accounts/confirm-email/{VALUE}/", "/accounts/confirm-email/..."),
        (f"/accounts/3rdparty/scrobbler/callback/{VALUE}/?token={VALUE}", "/accounts/3rdparty/scrobbler/callback/..."),
        (f"/consent/{VALUE}/switch-account", "/consent/..."),
        (f"/accounts/new-browser/{VALUE}/", "/accounts/new-browser/..."),
        (f"/dashboard/teams/join/{VALUE}/", "/dashboard/teams/join/..."),
        ("/files/Ab12", "/files/Ab12"),
        (f"/files/Ab12?next=/delete/{VALUE}", "/files/Ab12"),
    ],
)
def test_nginx_logs_no_secret(request_uri: str, logged: str) -> None:
    assert logged_uri(request_uri) == logged


def test_nginx_logs_no_variable_that_may_hold_a_secret() -> None:
    log_format = NGINX.partition("log_format masked ")[2].partition(";")[0]
    named = set(re.findall(r"\$(\w+)", log_format))
    assert {"logged_uri", "request_id"} <= named
    assert not named & {"request", "request_uri", "uri", "args", "query_string", "http_referer", "http_cookie"}
    assert not [name for name in named if name.startswith(("arg_", "http_", "cookie_", "sent_http_"))]


def test_nginx_passes_its_id_on_and_no_trace_of_a_client() -> None:
    of_server = NGINX.partition("# For each location that sets no header itself.")[2].partition("location")[0]
    places = re.findall(r"(?s)proxy_pass http://.*?\n    }", NGINX)
    own = [place for place in places if "proxy_set_header" in place]
    assert (len(places), len(own)) == (5, 2)
    for place in (of_server, *own):
        assert "proxy_set_header X-Request-Id $request_id;" in place
        assert 'proxy_set_header traceparent "";' in place
