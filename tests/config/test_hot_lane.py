"""What `config.web.lane` answers before Django is what Django answers: status, headers and bytes.

Each request is sent to the WSGI application twice: with the lane, and with a lane that leaves everything to Django.
"""

from __future__ import annotations

import gzip
import re
from typing import Any

import pytest
from django.db import OperationalError
from pytest_django import Settings

from accounts import hot
from accounts.models import ApiKey, Permission
from config.web import lane, wsgi
from lookup import registry
from lookup.models import Profile
from lookup.views import current
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.lookup import main_profile, shown
from tests.support import wsgi as wsgi_requests
from tests.support.wsgi import Sent

SECRET = "the-secret-of-a-key"
LOOKUP = "/api/lookup/user"


def send(path: str, query: str = "", method: str = "GET", **headers: str) -> Sent:
    """Each answer has an id of its own, which is left out here."""
    sent = wsgi_requests.send(path, query, method, headers=headers)
    assert re.fullmatch(r"[0-9a-f]{16}", sent[1].pop("X-Request-Id"))
    return sent


@pytest.fixture
def in_lane(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the lane answered, request by request; a False put in beforehand sends the next one to Django."""
    answered: list[bool] = []
    usual = lane.answer

    def noted(environ: dict[str, Any]) -> hot.Answer | None:
        found = usual(environ) if not environ.get("HTTP_X_BY_DJANGO") else None
        answered.append(found is not None)
        return found

    monkeypatch.setattr(lane, "answer", noted)
    return answered


@pytest.fixture
def someone(db: None) -> None:
    user = UserFactory(username="Ada")
    Profile.objects.filter(pk=main_profile(user).pk).update(description="🌱" * 1900)
    shown(user)
    ApiKeyFactory(secret=SECRET, permissions=list(Permission.values))
    UserFactory(username="Hidden", public_api_access=False)


def both(*arguments: Any, **values: Any) -> tuple[Sent, Sent]:
    return send(*arguments, **values), send(*arguments, X_BY_DJANGO="1", **values)


KEY = {"X_API_KEY": SECRET}
ALL = "&".join(f"{include}=true" for include in registry.INCLUDES)
ANSWERED = [
    (LOOKUP, "type=username&value=ada", KEY),
    (LOOKUP, f"type=username&value=ada&{ALL}", KEY),
    (LOOKUP, f"type=username&value=ada&{ALL}", {**KEY, "ACCEPT_ENCODING": "gzip, br"}),
    (LOOKUP, f"type=username&value=ada&{ALL}", {**KEY, "ACCEPT_ENCODING": "gzip;q=0"}),
    (LOOKUP, "type=username&value=%41da&profile=true", KEY),
    (LOOKUP, "type=username&value=a+b", KEY),
    (LOOKUP, "type=username&type=uid&value=ada", KEY),
    (LOOKUP, "type=username&value=hidden", KEY),
    (LOOKUP, "type=uid&value=-1", KEY),
    (LOOKUP, "type=chat&value=%ff%00", KEY),
    (LOOKUP, "a=1&" * 201, KEY),
    (LOOKUP, "", {}),
    (LOOKUP, "type=username&value=ada", {"X_API_KEY": "unknown"}),
    ("/api/lookup/username/ada", f"key={SECRET}", {}),
    ("/api/lookup/username/ada", "", {"AUTHORIZATION": f"bearer {SECRET}"}),
    ("/api/lookup/username/ada", "key=a&key=b", {}),
    ("/api/lookup/uid/0", f"key={SECRET}", {}),
    ("/api/lookup/uid/x", f"key={SECRET}", {}),
    ("/api/leaderboard/uid", f"key={SECRET}&limit=3", {}),
    ("/api/leaderboard/views", f"key={SECRET}&limit=101", {}),
    ("/api/lookup/presence/268473310986240001", "", KEY),
    ("/api/lookup/presence/268473310986240001", "", {}),
    ("/api/lookup/presence/x", "", KEY),
]


@pytest.mark.embedded
@pytest.mark.usefixtures("someone")
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize(("path", "query", "headers"), ANSWERED)
def test_the_lane_answers_what_django_answers(
    in_lane: list[bool], path: str, query: str, headers: dict[str, str], method: str
) -> None:
    early, late = both(path, query, method, **headers)
    assert in_lane == [True, False]
    assert early[:2] == late[:2]
    assert early[2] == late[2] or gzip.decompress(early[2]) == gzip.decompress(late[2])


@pytest.mark.usefixtures("someone")
def test_both_compress_a_long_answer(in_lane: list[bool]) -> None:
    early, late = both(LOOKUP, f"type=username&value=ada&{ALL}", X_API_KEY=SECRET, ACCEPT_ENCODING="gzip, br")
    assert in_lane == [True, False]
    assert [sent[1]["Content-Encoding"] for sent in (early, late)] == ["gzip", "gzip"]
    assert gzip.decompress(early[2]) == gzip.decompress(late[2])


@pytest.mark.usefixtures("someone")
@pytest.mark.parametrize(
    ("path", "method", "headers"),
    [
        (LOOKUP, "OPTIONS", {}),
        (LOOKUP, "GET", {"HOST": "elsewhere.example"}),
        (LOOKUP, "GET", {"HOST": ""}),
        (f"{LOOKUP}/", "GET", {}),
        ("/API/lookup/user", "GET", {}),
        ("/api/lookup/username/a\xc3\xa9", "GET", {}),
        ("/api/lookup/username/a/b", "GET", {}),
        ("/api/lookup/username/", "GET", {}),
        (LOOKUP, "POST", {"CONTENT_LENGTH": "70000"}),
    ],
)
def test_what_is_out_of_the_ordinary_is_left_to_django(
    in_lane: list[bool], path: str, method: str, headers: dict[str, str]
) -> None:
    early, late = both(path, "", method, **headers)
    assert in_lane == [False, False]
    assert early == late


@pytest.mark.usefixtures("someone")
def test_without_the_edge_proxys_header_nothing_is_answered(in_lane: list[bool], settings: Settings) -> None:
    settings.EDGE_CLIENT_ADDRESS_HEADER = "X-Client-Address"
    early, late = both(LOOKUP, "type=username&value=ada", **KEY)
    assert early == late
    assert early[0] == "403 Forbidden"
    early, late = both(LOOKUP, "type=username&value=ada", X_CLIENT_ADDRESS="192.0.2.1", **KEY)
    assert early == late
    assert (early[0], in_lane) == ("200 OK", [False, False, True, False])


@pytest.mark.usefixtures("someone")
def test_a_host_for_files_alone_has_no_lane(in_lane: list[bool], settings: Settings) -> None:
    settings.IMAGE_CDN_URL = "http://files.example"
    for name in ("ALLOWED_HOSTS", "HOSTS"):
        setattr(settings, name, [*getattr(settings, name), "files.example"])
    early, late = both(LOOKUP, "type=username&value=ada", HOST="files.example", **KEY)
    assert in_lane == [False, False]
    assert early == late


@pytest.mark.usefixtures("someone")
def test_over_https_both_say_so(in_lane: list[bool], settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wsgi, "SCHEME", "https")
    settings.SECURE_HSTS_SECONDS = 60
    early, late = both(LOOKUP, "type=username&value=ada", **KEY)
    assert early == late
    assert early[1]["Strict-Transport-Security"].startswith("max-age=60")


@pytest.mark.usefixtures("someone")
@pytest.mark.parametrize(
    ("error", "status"), [(RuntimeError("a secret"), 500), (OperationalError("gone"), 503)], ids=["bug", "outage"]
)
def test_what_breaks_is_logged_and_answered_alike(
    in_lane: list[bool],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    status: int,
) -> None:
    def broken(*arguments: Any) -> bytes:
        raise error

    monkeypatch.setattr(current, "answer", broken)
    early, late = both(LOOKUP, "type=username&value=ada", **KEY)
    assert early == late
    assert early[0].startswith(str(status))
    assert "secret" not in str(early)
    assert [record.exc_info is not None for record in caplog.records] == [True, True]


@pytest.mark.usefixtures("someone")
def test_limits_and_notes_are_the_same(in_lane: list[bool]) -> None:
    """The 31st request with a key is refused, whichever way the others came."""
    sent = [send(LOOKUP, "type=username&value=ada", X_BY_DJANGO="1" if i % 2 else "", **KEY)[0] for i in range(32)]
    assert sent == ["200 OK"] * 30 + ["429 Too Many Requests"] * 2
    assert ApiKey.objects.count() == 1
