"""The simulated platform's REST routes."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from tests.support.chat_platform import Simulator

MIRA, NOOR = "268473310986250001", "268473310986250002"
STRANGER, UNKNOWN = "268473310986250009", "268473310986250010"
BOT = "268473310000000001"
GUILD = "268473310000000000"
UNKNOWN_GUILD = {"message": "Unknown Guild", "code": 10004}
UNKNOWN_MEMBER = {"message": "Unknown Member", "code": 10007}
UNKNOWN_USER = {"message": "Unknown User", "code": 10013}
UNAUTHORIZED = {"message": "401: Unauthorized", "code": 0}


def get(platform: Simulator, path: str, authorization: str | None = None) -> tuple[int, Any]:
    """Status and body, as the bot unless said otherwise."""
    headers = {"Authorization": f"Bot {platform.bot_token}" if authorization is None else authorization}
    answer = requests.get(f"{platform.api_url}{path}", headers=headers, timeout=10)
    assert answer.headers["Content-Type"] == "application/json"
    return answer.status_code, answer.json()


@pytest.fixture
def platform(simulator: Simulator) -> Simulator:
    simulator.add_member(
        MIRA,
        member={"nick": "M"},
        user={"username": "mira", "global_name": "Mira", "avatar": "a_1f", "banner": "beef"},
        presence={"status": "online"},
        profile={"biography": "Hello", "badges": [{"id": "premium"}, 7]},
    )
    simulator.add_member(NOOR)
    simulator.add_account(STRANGER, username="passing")
    return simulator


def test_the_route_of_the_account_alone_has_the_banner(platform: Simulator) -> None:
    platform.update_member(MIRA, user={"banner": "cafe"})
    assert get(platform, f"/users/{MIRA}")[1]["banner"] == "cafe"
    status, member = get(platform, f"/guilds/{GUILD}/members/{MIRA}")
    assert (status, member["nick"], member["user"]["username"]) == (200, "M", "mira")
    assert ("banner" in member["user"], "presence" in member) == (False, False)


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        (f"/guilds/{GUILD}/members/{STRANGER}", 404, UNKNOWN_MEMBER),
        (f"/guilds/{GUILD}/members/{UNKNOWN}", 404, UNKNOWN_USER),
        (f"/guilds/{STRANGER}/members/{MIRA}", 404, UNKNOWN_GUILD),
        (f"/guilds/{STRANGER}/members", 404, UNKNOWN_GUILD),
        (f"/users/{UNKNOWN}", 404, UNKNOWN_USER),
        (f"/users/{MIRA}/profile", 403, {"message": "Bots cannot use this endpoint", "code": 20001}),
        (f"/guilds/{GUILD}/members?limit=1001", 400, {"message": "Invalid Form Body", "code": 50035}),
        ("/nowhere", 404, {"message": "404: Not Found", "code": 0}),
    ],
)
def test_misses_have_the_platforms_codes(platform: Simulator, path: str, status: int, body: Any) -> None:
    assert get(platform, path) == (status, body)


def test_members_are_listed_by_id_in_pages(platform: Simulator) -> None:
    for after, limit, ids in (("0", 2, [BOT, MIRA]), (MIRA, 2, [NOOR]), (NOOR, 1000, [])):
        status, members = get(platform, f"/guilds/{GUILD}/members?limit={limit}&after={after}")
        assert (status, [member["user"]["id"] for member in members]) == (200, ids)


def test_the_gateway_has_an_address_and_a_limit_of_starts(platform: Simulator) -> None:
    url = f"ws://127.0.0.1:{platform.port}"
    assert get(platform, "/gateway", "") == (200, {"url": url})
    platform.starts_left = 99
    limit = {"total": 1000, "remaining": 99, "reset_after": 14_400_000, "max_concurrency": 1}
    assert get(platform, "/gateway/bot") == (200, {"url": url, "shards": 1, "session_start_limit": limit})


@pytest.mark.parametrize(
    "path", ["/gateway/bot", f"/users/{MIRA}", "/users/@me", "/applications/@me", "/oauth2/applications/@me"]
)
def test_nothing_is_said_without_the_bots_token(platform: Simulator, path: str) -> None:
    for wrong in ("", "Bot another", platform.bot_token, f"Bearer {platform.bot_token}"):
        assert get(platform, path, wrong) == (401, UNAUTHORIZED)
    assert get(platform, path)[0] == 200


def test_the_profile_source_tells_what_it_was_given(platform: Simulator) -> None:
    def profile(chat_id: str) -> tuple[int, Any]:
        answer = requests.get(f"{platform.url}/profiles/{chat_id}", timeout=10)
        return answer.status_code, answer.json()

    assert profile(MIRA) == (200, {"biography": "Hello", "badges": [{"id": "premium"}, 7]})
    assert profile(NOOR) == (200, {"biography": None, "badges": []})
    assert profile(STRANGER) == (404, {"error": "unknown"})
    platform.profiles_are_down = True
    assert profile(MIRA) == (503, {"error": "down"})
