"""What is read out of the answers of a profile source, whatever dialect it speaks, and how it is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts import outside
from presence import profiles
from presence.profiles import ProfileUnavailable, SourcePaused
from tests.presence import reading
from tests.presence.lookups import ADA, BEN
from tests.presence.reading import Clock, Reply, Server


@pytest.fixture(autouse=True)
def clock() -> Iterator[Clock]:
    with reading.standing_still() as clock:
        yield clock


@pytest.fixture
def server(settings: Settings) -> Iterator[Server]:
    """A profile source that answers as the test says."""
    with reading.server() as server:
        settings.CHAT = replace(settings.CHAT, profile_url=f"{server.url}/of/{{id}}?of={{id}}", profile_header="")
        yield server


def _profile(server: Server, body: Any, status: int = 200, chat_id: int = ADA) -> None:
    """Any: a JSON value."""
    server.replies[f"/of/{chat_id}?of={chat_id}"] = Reply(status, (json.dumps(body).encode(),))


def _read(chat_id: int = ADA) -> tuple[str | None, tuple[str, ...]]:
    source = profiles.source()
    assert source is not None
    profile = source.read(chat_id)
    assert (profile.read_at, profile.is_failure) == (timezone.now().timestamp(), False)
    return profile.biography, profile.badges


class TestTheSource:
    @pytest.mark.parametrize("header", ["Authorization: Bearer k:1", "authorization:Bearer k:1 "])
    def test_the_id_stands_in_the_address_and_the_header_travels(
        self, server: Server, settings: Settings, header: str
    ) -> None:
        settings.CHAT = replace(settings.CHAT, profile_header=header)
        _profile(server, {"biography": "Analyst."})
        assert _read() == ("Analyst.", ())
        path, headers = server.asked[0]
        assert (path, headers.get("Authorization") or headers.get("authorization")) == (
            f"/of/{ADA}?of={ADA}",
            "Bearer k:1",
        )

    def test_without_a_header_none_travels(self, server: Server) -> None:
        _profile(server, {})
        assert _read() == (None, ())
        assert sorted(server.asked[0][1]) == ["Accept", "Accept-Encoding", "Connection", "Host", "User-Agent"]

    UNUSABLE = {
        "nobody": Reply(404),
        "refused": Reply(401),
        "down": Reply(503),
        "a redirect": Reply(302, headers={"Location": "/of/elsewhere"}),
        "a list": Reply(200, (b"[]",)),
        "more than 256 KiB": Reply(200, (b'{"bio":"', b"x" * 256 * 1024, b'"}')),
        "cut": Reply(200, (b'{"bio":',), {"Content-Length": "100"}),
    }

    @pytest.mark.parametrize("case", UNUSABLE)
    def test_what_says_nothing_of_anybody_is_told(self, server: Server, case: str) -> None:
        server.replies[f"/of/{ADA}?of={ADA}"] = self.UNUSABLE[case]
        with pytest.raises(ProfileUnavailable):
            _read()
        assert len(server.asked) == 1

    def test_256_kib_are_read(self, server: Server) -> None:
        frame = len(json.dumps({"x": ""}))
        _profile(server, {"x": "y" * (256 * 1024 - frame)})
        assert _read() == (None, ())

    @pytest.mark.parametrize("body", [(None,), (b'{"bio"', None)])
    def test_a_source_that_hangs_is_given_up(
        self, server: Server, monkeypatch: pytest.MonkeyPatch, body: tuple[bytes | None, ...]
    ) -> None:
        monkeypatch.setattr(outside, "SECONDS", 0.2)
        server.replies[f"/of/{ADA}?of={ADA}"] = Reply(200, body)
        with pytest.raises(ProfileUnavailable):
            _read()

    @pytest.mark.parametrize("header", ["X: a\r\nY: b", ": x", "Ü: é\u2028"])
    def test_a_header_that_is_none_harms_nobody(self, server: Server, settings: Settings, header: str) -> None:
        settings.CHAT = replace(settings.CHAT, profile_header=header)
        _profile(server, {})
        try:
            assert _read() == (None, ())
        except ProfileUnavailable:
            assert server.asked == []

    def test_after_five_failures_in_a_row_it_is_left_alone_for_five_seconds(self, server: Server, clock: Clock) -> None:
        _profile(server, {}, 503)
        for _ in range(5):
            with pytest.raises(ProfileUnavailable):
                _read()
        _profile(server, {})
        with pytest.raises(SourcePaused):
            _read()
        assert len(server.asked) == 5
        clock.wait(5)
        assert _read() == (None, ())

    def test_accounts_that_it_does_not_know_are_no_failures(self, server: Server) -> None:
        for _ in range(9):
            with pytest.raises(ProfileUnavailable):
                _read(BEN)
        _profile(server, {})
        assert _read() == (None, ())


BIOGRAPHIES: list[tuple[Any, str | None]] = [
    ({}, None),
    ({"biography": "a"}, "a"),
    ({"bio": "a"}, "a"),
    ({"about": "a"}, "a"),
    ({"about": "c", "bio": "b", "biography": "a"}, "a"),
    ({"user_profile": {"bio": "a"}}, "a"),
    ({"user": {"bio": "a"}}, "a"),
    ({"user": {"bio": "b"}, "user_profile": {"bio": ""}}, "b"),
    ({"biography": "", "user": {"bio": "a"}}, "a"),
    ({"biography": None, "bio": 7, "about": ["x"]}, None),
    ({"biography": " \n"}, None),
    ({"user": "a", "user_profile": ["bio"]}, None),
    ({"biography": " a\u0000\n<b>🎧"}, " a\u0000\n<b>🎧"),
    ({"biography": "x" * 5000}, "x" * 4000),
]


@pytest.mark.parametrize(("body", "biography"), BIOGRAPHIES)
def test_where_a_biography_stands(body: Any, biography: str | None) -> None:
    assert profiles.parsed(body) == (biography, ())


TIER: Any = {"id": "guild_booster_lvl", "tier": 3}
BADGES: list[tuple[Any, tuple[str, ...]]] = [
    ([], ()),
    (["premium", "staff"], ("premium", "staff")),
    ([{"id": "premium_tenure_3_month_v2", "description": "x", "icon": "y"}], ("premium_tenure_3_month_v2",)),
    ([TIER, "orb_profile_badge"], ("guild_booster_lvl3", "orb_profile_badge")),
    ([{"id": "guild_booster_lvl9"}], ("guild_booster_lvl9",)),
    ([{"id": "guild_booster", "level": "2"}], ("guild_booster_lvl2",)),
    ([{"id": "premium_tenure", "tier": 12}], ("premium_tenure_12_month_v2",)),
    ([{"id": "bug_hunter_level", "tier": 2}, {"id": "hypesquad_house", "tier": 1}], (
        "bug_hunter_level_2",
        "hypesquad_house_1",
    )),
    ([{"id": "premium", "tier": 3}], ("premium",)),
    ([{"id": "premium_tenure_3_month_v2", "tier": 3}], ("premium_tenure_3_month_v2",)),
    ([7, {"id": 8}, {"id": "9"}], ("7", "8", "9")),
    ({"premium": {}, "staff": True, "partner": False, "quest_completed": None}, ("premium", "staff")),
    ({"guild_booster_lvl": 4, "hypesquad_house": {"tier": 2}}, ("guild_booster_lvl4", "hypesquad_house_2")),
    ({"0": {"id": "premium"}, "1": {"id": "staff"}}, ("premium", "staff")),
    (["premium", "premium", {"id": "premium"}], ("premium",)),
    ([None, True, 1.5, [], {}, {"id": None}, {"id": ["x"]}, "", "x" * 101, 10**30, "staff"], ("staff",)),
    ([{"id": "guild_booster_lvl", "tier": tier} for tier in (None, True, -1, 2.5, "٣", "9" * 5000, 10**9)], (
        "guild_booster_lvl",
    )),
    ([f"badge{number}" for number in range(150)], tuple(f"badge{number}" for number in range(100))),
    ("premium", ()),
    (None, ()),
    (5, ()),
]  # fmt: skip


@pytest.mark.parametrize(("listed", "ids"), BADGES)
@pytest.mark.parametrize("part", ["", "user_profile", "user"])
def test_how_badges_are_listed(listed: Any, ids: tuple[str, ...], part: str) -> None:
    body = {"badges": listed}
    assert profiles.parsed({part: body} if part else body) == (None, ids)
