"""The requests of browsers and apps' servers. A test names the fields that it changes.

A field that is None is left out, a list is sent as a repeated field.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from django.test import Client

from oidc_provider.models import Application
from tests.factories.accounts import PASSWORD
from tests.factories.oidc_provider import CLIENT_SECRET, CODE_CHALLENGE, CODE_VERIFIER

ISSUER = "http://127.0.0.1:8000"
AUTHORIZE = "/api/auth/oauth2/authorize"
TOKEN = "/api/auth/oauth2/token"
USERINFO = "/api/auth/oauth2/userinfo"
INTROSPECT = "/api/auth/oauth2/introspect"
REVOKE = "/api/auth/oauth2/revoke"
END_SESSION = "/api/auth/oauth2/end-session"
KEY_SET = "/api/auth/jwks"
DISCOVERY = "/.well-known/openid-configuration"
DISCOVERY_OF_RFC_8414 = "/.well-known/oauth-authorization-server"
CONNECTED_APPS = "/accounts/connected-apps/"
FORM = "application/x-www-form-urlencoded"
EVERY_SCOPE = "openid identify email connections offline_access"

DESCRIPTION = re.compile(r"[\x20\x21\x23-\x5b\x5d-\x7e]{1,200}")  # RFC 6749 §5.2, and as long as decided

# Django gives test responses no public type.
Answer = Any


def encoded(fields: dict[str, Any]) -> str:
    """`a=1&b=2`."""
    return urlencode({name: value for name, value in fields.items() if value is not None}, doseq=True)


def authorization_query(application: Application, **changes: Any) -> str:
    """Return a valid authorization request of `application` with `changes`."""
    good = {
        "client_id": application.client_id,
        "redirect_uri": application.redirect_urls[0],
        "response_type": "code",
        "scope": "openid",
        "state": "the state",
        "code_challenge": CODE_CHALLENGE,
        "code_challenge_method": "S256",
    }
    return encoded({**good, **changes})


def authorize(browser: Client, application: Application, *, accept: str = "text/html", **changes: Any) -> Answer:
    return browser.get(f"{AUTHORIZE}?{authorization_query(application, **changes)}", headers={"accept": accept})


def place_of(answer: Answer) -> str:
    """Return the URL of a redirect without its query."""
    return str(answer["Location"]).partition("?")[0]


def sent_back(answer: Answer) -> dict[str, str]:
    """Return the query parameters of a redirect, each of which occurs once."""
    assert answer.status_code in {302, 303}, (answer.status_code, answer.content)
    values = parse_qs(urlsplit(answer["Location"]).query, keep_blank_values=True, strict_parsing=True)
    assert all(len(several) == 1 for several in values.values()), values
    return {name: several[0] for name, several in values.items()}


def error_sent_back(answer: Answer) -> str:
    """Return the error code of an error redirect with description, state and issuer."""
    values = sent_back(answer)
    assert set(values) == {"error", "error_description", "state", "iss"}, values
    assert DESCRIPTION.fullmatch(values["error_description"]), values
    assert (values["state"], values["iss"]) == ("the state", ISSUER)
    return values["error"]


def decide(browser: Client, answer: Answer, decision: str = "allow") -> Answer:
    """Press a button of the consent page to which `answer` redirects."""
    assert answer["Location"].startswith("/consent/"), answer["Location"]
    return browser.post(answer["Location"], {"decision": decision})


def waiting_at(answer: Answer) -> str:
    """Return the path of the waiting request in a redirect to the login or reauthentication page."""
    return unquote(str(answer["Location"]).partition("?next=")[2])


def log_in(browser: Client, waiting: str, login: str = "ada") -> Answer:
    """Log in at the page to which the waiting request led."""
    return browser.post("/accounts/login/", {"login": login, "password": PASSWORD, "next": waiting})


def code_for(browser: Client, application: Application, **changes: Any) -> str:
    """Sign in to the app, with consent where it is asked for, and return the code."""
    answer = authorize(browser, application, **changes)
    if answer["Location"].startswith("/consent/"):
        answer = decide(browser, answer)
    return sent_back(answer)["code"]


def basic(client_id: str, client_secret: str, scheme: str = "Basic") -> str:
    return f"{scheme} {base64.b64encode(f'{client_id}:{client_secret}'.encode()).decode()}"


def post(path: str, fields: dict[str, Any] | str, *, content_type: str = FORM, **headers: str) -> Answer:
    """Send a form as a server does: without cookies and CSRF token, with CSRF checks on."""
    body = fields if isinstance(fields, str) else encoded(fields)
    return Client(enforce_csrf_checks=True).post(path, body, content_type=content_type, headers=headers)


def userinfo(access_token: str) -> Answer:
    return Client().get(USERINFO, headers={"authorization": f"Bearer {access_token}"})


@dataclass(frozen=True)
class App:
    """The server of an app, which sends its secret in the body."""

    application: Application
    secret: str = field(default=CLIENT_SECRET)

    def post(self, path: str, **fields: Any) -> Answer:
        credentials = {"client_id": self.application.client_id, "client_secret": self.secret}
        return post(path, {**credentials, **fields})

    def exchange(self, code: str, /, **changes: Any) -> Answer:
        fields = {"code": code, "redirect_uri": self.application.redirect_urls[0], "code_verifier": CODE_VERIFIER}
        return self.post(TOKEN, **{"grant_type": "authorization_code", **fields, **changes})

    def refresh(self, refresh_token: str, /, **changes: Any) -> Answer:
        return self.post(TOKEN, **{"grant_type": "refresh_token", "refresh_token": refresh_token, **changes})

    def introspect(self, token: str, /, **changes: Any) -> Answer:
        return self.post(INTROSPECT, **{"token": token, **changes})

    def revoke(self, token: str, /, **changes: Any) -> Answer:
        return self.post(REVOKE, **{"token": token, **changes})

    def sign_in(self, browser: Client, scope: str = EVERY_SCOPE, **changes: Any) -> dict[str, Any]:
        """Sign in and return the token response."""
        answer = self.exchange(code_for(browser, self.application, scope=scope, **changes))
        assert answer.status_code == 200, answer.content
        return dict(answer.json())

    def is_live(self, token: str) -> bool:
        return bool(self.introspect(token).json()["active"])


def refused(answer: Answer) -> tuple[int, str]:
    """Return status and error code of a refusal with the documented body and caching headers."""
    assert answer["Content-Type"] == "application/json"
    assert (answer["Cache-Control"], answer["Pragma"]) == ("no-store", "no-cache")
    body = answer.json()
    assert set(body) == {"error", "error_description"}, body
    assert DESCRIPTION.fullmatch(body["error_description"]), body
    return answer.status_code, body["error"]


INVALID_REQUEST = (400, "invalid_request")
INVALID_GRANT = (400, "invalid_grant")
INVALID_CLIENT = (401, "invalid_client")
INVALID_SCOPE = (400, "invalid_scope")
INVALID_TOKEN = (401, "invalid_token")


def parts_of(jwt: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and claims, unverified."""
    header, claims, _ = jwt.split(".")
    return _json_of(header), _json_of(claims)


def claims_of(jwt: str) -> dict[str, Any]:
    return parts_of(jwt)[1]


def _json_of(part: str) -> dict[str, Any]:
    return dict(json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))))
