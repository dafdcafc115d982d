"""Biographies and the badges that come with them: what is read from where, when, and that it never costs an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from infrastructure import http_client
from presence.answer import refreshing
from presence.answer.refreshing import ProfileUnavailable
from presence.store.store import PresenceStore, Profile
from tests.presence import lookups, reading
from tests.presence.lookups import ADA, BEN
from tests.presence.reading import Clock, Reply, Server
from tests.support.chat_platform import Simulator

HOUR, DAY = 3600, 86_400

SHOWN = tuple[int, str | None, list[str]]  # status, biography, badges

ANALYST: SHOWN = (200, "Analyst.", ["premium", "quest"])

NOTHING: SHOWN = (200, None, [])


@pytest.fixture(autouse=True)
def clock() -> Iterator[Clock]:
    with reading.standing_still() as clock:
        yield clock


def _profile(server: Server, body: Any, status: int = 200, chat_id: int = ADA) -> None:
    server.replies[f"/of/{chat_id}?of={chat_id}"] = Reply(status, (json.dumps(body).encode(),))


def _look() -> SHOWN:
    """The answer, and then everything that it has set going."""
    answer = lookups.get(ADA)
    refreshing.settle()
    return answer.status, answer.body.get("biography"), list(answer.body.get("badges", []))


@pytest.mark.django_db
class TestTheLookup:
    @pytest.fixture(autouse=True)
    def member(self, simulator: Simulator, server: Server, store: PresenceStore) -> None:
        """A member of whom the source tells; after `simulator`, which has no source."""
        simulator.add_member(ADA)
        lookups.key()
        lookups.tell(store)
        _profile(server, {"biography": "Analyst.", "badges": ["quest_completed", "premium", "unheard_of"]})

    def _pass(self, clock: Clock, store: PresenceStore, seconds: float) -> None:
        """The feed goes on meanwhile."""
        clock.wait(seconds)
        lookups.tell(store)

    def test_the_first_answer_has_none_and_the_second_has_it(self, server: Server) -> None:
        assert [_look(), _look(), _look()] == [NOTHING, ANALYST, ANALYST]
        assert len(server.asked) == 1

    def test_without_a_source_there_is_none(self, server: Server, settings: Settings) -> None:
        settings.CHAT = replace(settings.CHAT, profile_url="")
        assert [_look(), _look()] == [NOTHING, NOTHING]
        assert server.asked == []

    def test_it_is_read_anew_after_a_day(self, server: Server, clock: Clock, store: PresenceStore) -> None:
        _look()
        _profile(server, {"biography": "Countess."})
        self._pass(clock, store, DAY - 1)
        assert [_look(), _look()] == [ANALYST, ANALYST]
        self._pass(clock, store, 1)
        assert [_look(), _look()] == [ANALYST, (200, "Countess.", [])]
        assert len(server.asked) == 2

    @pytest.mark.parametrize("status", [404, 401, 500])
    def test_a_failure_is_tried_again_after_an_hour(
        self, server: Server, clock: Clock, store: PresenceStore, status: int
    ) -> None:
        _profile(server, {}, status)
        assert [_look(), _look()] == [NOTHING, NOTHING]
        _profile(server, {"biography": "Analyst.", "badges": {"premium": True, "quest_completed": True}})
        self._pass(clock, store, HOUR - 1)
        assert [_look(), _look()] == [NOTHING, NOTHING]
        assert len(server.asked) == 1
        self._pass(clock, store, 1)
        assert [_look(), _look()] == [NOTHING, ANALYST]
        assert len(server.asked) == 2

    def test_an_old_value_stays_for_a_week_however_often_the_source_fails(
        self, server: Server, clock: Clock, store: PresenceStore
    ) -> None:
        _look()
        _profile(server, {}, 500)
        for _ in range(6):
            self._pass(clock, store, DAY)
            assert [_look(), _look()] == [ANALYST, ANALYST]
        assert len(server.asked) == 7  # once in an hour, and here a day lies between
        self._pass(clock, store, DAY + 1)
        assert _look() == NOTHING

    def test_a_source_is_asked_again_after_its_pause(self, server: Server, clock: Clock, store: PresenceStore) -> None:
        server.replies[f"/of/{BEN}?of={BEN}"] = Reply(503)
        source = refreshing.source()
        assert source is not None
        for _ in range(5):
            with pytest.raises(ProfileUnavailable):
                source.read(BEN)
        assert [_look(), _look()] == [NOTHING, NOTHING]
        self._pass(clock, store, 5)
        assert [_look(), _look()] == [NOTHING, ANALYST]

    def test_a_source_that_hangs_holds_up_no_answer(
        self, server: Server, store: PresenceStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(http_client, "SECONDS", 0.5)
        server.replies[f"/of/{ADA}?of={ADA}"] = Reply(200, (None,))
        assert [lookups.get(ADA).status for _ in range(3)] == [200] * 3
        assert store.snapshot(ADA).profile is None  # still being read
        refreshing.settle()
        kept = store.snapshot(ADA).profile
        assert kept == Profile(None, (), timezone.now().timestamp(), is_failure=True)
        assert len(server.asked) == 1


@pytest.fixture
def server(settings: Settings) -> Iterator[Server]:
    """A profile source that answers as the test says."""
    with reading.server() as server:
        settings.CHAT = replace(settings.CHAT, profile_url=f"{server.url}/of/{{id}}?of={{id}}", profile_header="")
        yield server


def _read(chat_id: int = ADA) -> tuple[str | None, tuple[str, ...]]:
    source = refreshing.source()
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
    def test_what_says_nothing_of_a_user_is_a_failure(self, server: Server, case: str) -> None:
        server.replies[f"/of/{ADA}?of={ADA}"] = self.UNUSABLE[case]
        with pytest.raises(ProfileUnavailable):
            _read()
        assert len(server.asked) == 1

    def test_256_kib_are_read(self, server: Server) -> None:
        frame = len(json.dumps({"x": ""}))
        _profile(server, {"x": "y" * (256 * 1024 - frame)})
        assert _read() == (None, ())

    @pytest.mark.parametrize("header", ["X: a\r\nY: b", ": x", "Ü: é\u2028"])
    def test_a_header_that_is_none_is_left_out_or_refused(
        self, server: Server, settings: Settings, header: str
    ) -> None:
        settings.CHAT = replace(settings.CHAT, profile_header=header)
        _profile(server, {})
        try:
            assert _read() == (None, ())
        except ProfileUnavailable:
            assert server.asked == []

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
    assert refreshing.parsed(body) == (biography, ())


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
    assert refreshing.parsed({part: body} if part else body) == (None, ids)
