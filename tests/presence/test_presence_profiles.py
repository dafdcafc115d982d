"""Biographies and the badges that come with them: what is read from where, when, and that it never costs an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts import outside
from presence import profiles, refreshing
from presence.profiles import ProfileUnavailable
from presence.simulator.running import Simulator
from presence.store import PresenceStore, Profile
from tests.presence import lookups, reading
from tests.presence.lookups import ADA, BEN
from tests.presence.reading import Clock, Reply, Server

HOUR, DAY = 3600, 86_400
SHOWN = tuple[int, str | None, list[str]]  # status, biography, badges
ANALYST: SHOWN = (200, "Analyst.", ["premium", "quest"])
NOTHING: SHOWN = (200, None, [])


@pytest.fixture(autouse=True)
def clock() -> Iterator[Clock]:
    with reading.standing_still() as clock:
        yield clock


def _profile(server: Server, body: Any, status: int = 200, chat_id: int = ADA) -> None:
    """Any: a JSON value."""
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

    @pytest.fixture
    def server(self, simulator: Simulator, settings: Settings) -> Iterator[Server]:
        with reading.server() as server:
            settings.CHAT = replace(settings.CHAT, profile_url=f"{server.url}/of/{{id}}?of={{id}}", profile_header="")
            yield server

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

    def test_while_the_source_fails_it_is_asked_once_in_an_hour(
        self, server: Server, clock: Clock, store: PresenceStore
    ) -> None:
        _look()
        _profile(server, {}, 500)
        self._pass(clock, store, DAY)
        for count in (2, 2, 3):
            assert [_look(), _look()] == [ANALYST, ANALYST]
            assert len(server.asked) == count
            self._pass(clock, store, HOUR / 2)

    def test_an_old_value_is_renewed_once_the_source_is_back(
        self, server: Server, clock: Clock, store: PresenceStore
    ) -> None:
        _look()
        _profile(server, {}, 500)
        self._pass(clock, store, DAY)
        _look()
        _profile(server, {"biography": "Countess."})
        self._pass(clock, store, HOUR)
        assert [_look(), _look()] == [ANALYST, (200, "Countess.", [])]

    def test_a_source_that_is_left_alone_condemns_nobody(
        self, server: Server, clock: Clock, store: PresenceStore
    ) -> None:
        server.replies[f"/of/{BEN}?of={BEN}"] = Reply(503)
        source = profiles.source()
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
        monkeypatch.setattr(outside, "SECONDS", 0.5)
        server.replies[f"/of/{ADA}?of={ADA}"] = Reply(200, (None,))
        assert [lookups.get(ADA).status for _ in range(3)] == [200] * 3
        assert store.glance(ADA).profile is None  # still being read
        refreshing.settle()
        kept = store.glance(ADA).profile
        assert kept == Profile(None, (), timezone.now().timestamp(), is_failure=True)
        assert len(server.asked) == 1

    def test_the_simulated_platform_is_a_source(
        self, simulator: Simulator, settings: Settings, store: PresenceStore
    ) -> None:
        settings.CHAT = replace(settings.CHAT, profile_url=f"{simulator.url}/profiles/{{id}}")
        simulator.add_member(
            ADA, profile={"biography": "Analyst.", "badges": [{"id": "premium"}, {"id": "quest_completed"}]}
        )
        assert [_look(), _look()] == [NOTHING, ANALYST]
        simulator.profiles_are_down = True
        store.keep_profile(ADA, Profile(None, (), 0, is_failure=False))
        assert [_look(), _look()] == [NOTHING, NOTHING]
