"""The simulated platforms' own part of linking: codes, tokens and signatures that are not good are refused."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
import requests
import time_machine

from tests.factories.oidc_provider import CODE_CHALLENGE, CODE_VERIFIER
from tests.presence.outside_pages import TIMEOUT, authorize_url, decide, sent_back
from tests.support.chat_platform import Simulator

ID = "80351110224678912"
PKCE = {"code_challenge": CODE_CHALLENGE, "code_challenge_method": "S256"}
BACK = "https://app.example/back"
CLIENT = ("268473310000000001", "simulated")

Whole = tuple[int, Any]  # status and JSON


@pytest.fixture
def platform(simulator: Simulator) -> Simulator:
    simulator.add_member(ID, user={"username": "ada"})
    return simulator


def _code(platform: Simulator, **changes: str | None) -> str:
    return sent_back(decide(authorize_url(platform.url, **changes), "allow", member=ID))["code"]


def _exchange(platform: Simulator, code: str, auth: Any = None, **changes: str) -> Whole:
    """With the secret in the form, unless `auth` brings it (what requests takes)."""
    credentials = {} if auth else dict(zip(("client_id", "client_secret"), CLIENT, strict=True))
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK, **credentials, **changes}
    response = requests.post(f"{platform.api_url}/oauth2/token", data=form, auth=auth, timeout=TIMEOUT)
    assert response.headers["Content-Type"].startswith("application/json")
    assert response.headers["Cache-Control"] == "no-store"
    return response.status_code, response.json()


def _error(answer: Whole) -> tuple[int, str]:
    status, body = answer
    assert set(body) == {"error", "error_description"}
    return status, body["error"]


def test_a_code_counts_once_and_for_a_minute(platform: Simulator) -> None:
    code = _code(platform)
    assert _exchange(platform, code)[0] == 200
    assert _error(_exchange(platform, code)) == (400, "invalid_grant")
    with time_machine.travel(0, tick=False) as clock:
        code = _code(platform)
        clock.shift(61)
        assert _error(_exchange(platform, code)) == (400, "invalid_grant")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code": "x"}, (400, "invalid_grant")),
        ({"code_verifier": "x" * 43}, (400, "invalid_grant")),
        ({"grant_type": "password"}, (400, "unsupported_grant_type")),
        ({"client_secret": "wrong"}, (401, "invalid_client")),
    ],
)
def test_an_exchange_that_is_not_good_is_refused(
    platform: Simulator, changes: dict[str, str], error: tuple[int, str]
) -> None:
    good = {"code": _code(platform, **PKCE), "code_verifier": CODE_VERIFIER}
    assert _error(_exchange(platform, **{**good, **changes})) == error


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": None},
        {"redirect_uri": "javascript:x"},
        {"scope": "identify bot"},
        {**PKCE, "code_challenge_method": "plain"},
    ],
)
def test_a_request_that_is_not_good_leads_nowhere(platform: Simulator, changes: dict[str, str | None]) -> None:
    response = requests.get(authorize_url(platform.url, **changes), allow_redirects=False, timeout=TIMEOUT)
    assert (response.status_code, response.headers.get("Location")) == (400, None)


# --- The scrobbler --------------------------------------------------------------------------------------------------


def _token(platform: Simulator) -> str:
    url = f"{platform.url}/scrobbler/auth/?api_key=simulated&cb=https://app.example/back?a=1"
    return sent_back(decide(url, "allow", name="AdaListens"))["token"]


def _call(platform: Simulator, token_: str, /, **changes: str) -> Whole:
    """A signed auth.getSession, changed after it was signed."""
    call = {"api_key": "simulated", "method": "auth.getSession", "token": token_}
    text = "".join(f"{name}{value}" for name, value in sorted(call.items())) + "simulated"
    signed = {**call, "api_sig": hashlib.md5(text.encode()).hexdigest(), "format": "json", **changes}  # noqa: S324 - the protocol's
    response = requests.post(f"{platform.url}/scrobbler/2.0/", data=signed, timeout=TIMEOUT)
    return response.status_code, response.json()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"token": "x"}, 13),
        ({"api_sig": "0" * 32}, 13),
        ({"api_key": "x"}, 10),
        ({"method": "auth.getToken"}, 3),
    ],
)
def test_a_call_that_is_not_good_is_refused(platform: Simulator, changes: dict[str, str], code: int) -> None:
    token = _token(platform)
    assert _call(platform, token, **changes)[1]["error"] == code
    assert _call(platform, token)[0] == 200
