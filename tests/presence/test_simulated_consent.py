"""The simulated platforms' own part of linking: codes, tokens and signatures that are not good are refused."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
import requests
import time_machine

from presence.simulator.running import Simulator
from tests.factories.oidc_provider import CODE_CHALLENGE, CODE_VERIFIER
from tests.presence import outside_pages
from tests.presence.outside_pages import TIMEOUT, authorize_url, decide, sent_back

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


def _me(platform: Simulator, token: str) -> Whole:
    headers = {"Authorization": f"Bearer {token}"}
    response = requests.get(f"{platform.api_url}/users/@me", headers=headers, timeout=TIMEOUT)
    return response.status_code, response.json()


@pytest.mark.parametrize("auth", [None, CLIENT])
def test_a_code_becomes_a_token_that_says_who_it_is(platform: Simulator, auth: tuple[str, str] | None) -> None:
    status, body = _exchange(platform, _code(platform), auth)
    assert (status, body["token_type"], body["expires_in"], body["scope"]) == (200, "Bearer", 604_800, "identify")
    status, user = _me(platform, body["access_token"])
    assert (status, user["id"], user["username"]) == (200, ID, "ada")
    assert _me(platform, body["refresh_token"])[0] == 401


def test_state_and_code_come_back_and_a_query_of_the_client_stays(platform: Simulator) -> None:
    url = authorize_url(platform.url, redirect_uri=f"{BACK}?a=1")
    assert set(sent_back(decide(url, "allow"))) == {"a", "code", "state"}
    refused = sent_back(decide(url, "refuse"))
    assert (refused["error"], refused["state"], refused["a"]) == ("access_denied", "the-state", "1")


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
        ({"redirect_uri": f"{BACK}/"}, (400, "invalid_grant")),
        ({"code_verifier": "x" * 43}, (400, "invalid_grant")),
        ({"code_verifier": ""}, (400, "invalid_grant")),
        ({"grant_type": "password"}, (400, "unsupported_grant_type")),
        ({"client_secret": "wrong"}, (401, "invalid_client")),
        ({"client_id": "1"}, (401, "invalid_client")),
    ],
)
def test_an_exchange_that_is_not_good_is_refused(
    platform: Simulator, changes: dict[str, str], error: tuple[int, str]
) -> None:
    good = {"code": _code(platform, **PKCE), "code_verifier": CODE_VERIFIER}
    assert _error(_exchange(platform, **{**good, **changes})) == error


def test_a_client_that_fails_burns_no_code(platform: Simulator) -> None:
    code = _code(platform, **PKCE)
    assert _error(_exchange(platform, code, client_secret="ö")) == (401, "invalid_client")
    assert _exchange(platform, code, code_verifier=CODE_VERIFIER)[0] == 200


@pytest.mark.parametrize("header", ["Basic", "Basic !", "Basic w6Q=", "Bearer x", "Basic /w=="])
def test_credentials_that_cannot_be_read_are_wrong(platform: Simulator, header: str) -> None:
    def sign(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = header
        return request

    assert _error(_exchange(platform, "x", sign)) == (401, "invalid_client")


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "1"},
        {"client_id": None},
        {"redirect_uri": None},
        {"redirect_uri": "javascript:x"},
        {"response_type": "token"},
        {"scope": None},
        {"scope": "identify bot"},
        {"code_challenge": CODE_CHALLENGE},
        {**PKCE, "code_challenge_method": "plain"},
        {**PKCE, "code_challenge": "x"},
    ],
)
@pytest.mark.parametrize("ask", [requests.get, requests.post])
def test_a_request_that_is_not_good_leads_nowhere(
    platform: Simulator, changes: dict[str, str | None], ask: Callable[..., requests.Response]
) -> None:
    response = ask(authorize_url(platform.url, **changes), allow_redirects=False, timeout=TIMEOUT)
    assert (response.status_code, response.headers.get("Location")) == (400, None)


def test_nobody_is_not_let_in(platform: Simulator) -> None:
    assert decide(authorize_url(platform.url), "allow", other="5" * 17).status_code == 400
    assert _me(platform, "x")[0] == 401


# --- The scrobbler --------------------------------------------------------------------------------------------------


def _token(platform: Simulator) -> str:
    url = f"{platform.url}/scrobbler/auth/?api_key=simulated&cb=https://app.example/back?a=1"
    return sent_back(decide(url, "allow", name="AdaListens"))["token"]


def _call(platform: Simulator, token_: str, verb: str = "POST", /, **changes: str) -> Whole:
    """A signed auth.getSession, changed after it was signed."""
    call = {"api_key": "simulated", "method": "auth.getSession", "token": token_}
    text = "".join(f"{name}{value}" for name, value in sorted(call.items())) + "simulated"
    signed = {**call, "api_sig": hashlib.md5(text.encode()).hexdigest(), "format": "json", **changes}  # noqa: S324 - the protocol's
    where = {"params": signed} if verb == "GET" else {"data": signed}
    response = requests.request(verb, f"{platform.url}/scrobbler/2.0/", timeout=TIMEOUT, **where)  # type: ignore[arg-type]  # one of two names
    return response.status_code, response.json()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_token_becomes_a_session_once(platform: Simulator, method: str) -> None:
    token = _token(platform)
    status, body = _call(platform, token, method)
    assert (status, body["session"]["name"]) == (200, "AdaListens")
    assert _call(platform, token, method)[1]["error"] == 4


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"token": "x"}, 13),
        ({"api_sig": "0" * 32}, 13),
        ({"api_sig": ""}, 13),
        ({"more": "x"}, 13),
        ({"api_key": "x"}, 10),
        ({"method": "auth.getToken"}, 3),
    ],
)
def test_a_call_that_is_not_good_is_refused(platform: Simulator, changes: dict[str, str], code: int) -> None:
    token = _token(platform)
    assert _call(platform, token, **changes)[1]["error"] == code
    assert _call(platform, token)[0] == 200


def test_a_token_lives_an_hour(platform: Simulator) -> None:
    with time_machine.travel(0, tick=False) as clock:
        token = _token(platform)
        clock.shift(3601)
        assert _call(platform, token)[1]["error"] == 15


@pytest.mark.parametrize("query", ["", "api_key=x&cb=https://a.example", "api_key=simulated", "api_key=simulated&cb=x"])
@pytest.mark.parametrize("ask", [requests.get, requests.post])
def test_a_request_without_key_or_way_back_leads_nowhere(
    platform: Simulator, query: str, ask: Callable[..., requests.Response]
) -> None:
    response = ask(f"{platform.url}/scrobbler/auth/?{query}", allow_redirects=False, timeout=TIMEOUT)
    assert response.status_code == 400


def test_a_name_is_needed(platform: Simulator) -> None:
    url = f"{platform.url}/scrobbler/auth/?api_key=simulated&cb=https://app.example/back"
    assert outside_pages.decide(url, "allow", name=" ").status_code == 400
    assert outside_pages.decide(url, "refuse").headers["Location"] == "https://app.example/back"
