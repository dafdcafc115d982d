"""Answers that are older than the news: what counts, and what is asked again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from presence.fields import Json
from presence.gateway.payloads import SessionLost, SessionResumed, SessionStarted
from presence.gateway.session import SessionState
from tests.presence.session_bench import Bench
from tests.presence.test_roster import ADA, BOB, OFFLINE, ONLINE, member, row

NEW = 268473310000000013


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def ready(bench: Bench) -> Bench:
    bench.fill()
    return bench


class TestLookups:
    """Ada is online, Bob is offline."""

    def test_an_answer_counts(self, ready: Bench) -> None:
        ready.answer(ready.ask(ADA), member(ADA))
        assert (ready.known(), ready.roster.changes.asked) == ({ADA: "offline", BOB: "offline"}, set())

    def test_who_is_not_found_is_gone(self, ready: Bench) -> None:
        ready.answer(ready.ask(ADA), not_found=[str(ADA)])
        assert (ready.known(), ready.roster.changes.asked) == ({BOB: "offline"}, set())

    @pytest.mark.parametrize("late", [{"members": [member(BOB)]}, {"not_found": [str(BOB)]}], ids=["row", "not-found"])
    def test_a_presence_since_the_question_stays_and_is_asked_for_again(self, ready: Bench, late: Json) -> None:
        nonce = ready.ask(BOB)
        ready.tell("PRESENCE_UPDATE", row(BOB, ONLINE))
        ready.answer(nonce, **late)
        assert (ready.known(), ready.look(4)[0][1]) == ({ADA: "online", BOB: "online"}, [BOB])

    def test_an_update_since_the_question_stays_and_the_answer_adds_to_it(self, ready: Bench) -> None:
        nonce = ready.ask(BOB)
        ready.tell("GUILD_MEMBER_UPDATE", {"user": {"id": str(BOB)}, "nick": "Bob"})
        ready.answer(nonce, member(BOB, nick="old", joined_at="then"))
        text = ready.roster.members[BOB].member
        assert ('"nick":"Bob"' in text, '"joined_at":"then"' in text, ready.roster.changes.asked) == (True, True, {BOB})

    def test_no_answer_of_several_brings_back_who_left(self, ready: Bench) -> None:
        first = ready.ask(BOB)
        ((second, _),) = ready.look(20)
        ready.tell("GUILD_MEMBER_REMOVE", {"user": {"id": str(BOB)}})
        ready.answer(first, not_found=[str(BOB)])
        ready.answer(second, member(BOB))
        assert ready.known() == {ADA: "online"}

    def test_who_joined_since_the_question_stays(self, ready: Bench) -> None:
        nonce = ready.ask(NEW)
        ready.tell("GUILD_MEMBER_ADD", member(NEW))
        ready.answer(nonce, not_found=[str(NEW)])
        assert (ready.known()[NEW], ready.roster.changes.asked) == (None, {NEW})

    def test_of_two_answers_the_later_question_counts(self, ready: Bench) -> None:
        first = ready.ask(BOB)
        ((second, _),) = ready.look(20)  # the first one's answer seems lost
        ready.answer(second, member(BOB), presences=[row(BOB, ONLINE)])
        ready.answer(first, member(BOB))
        assert ready.known()[BOB] == "online"

    @pytest.mark.parametrize("nonce", [None, 5, "ids", "ids0", "ids99999", "ids٣", "other"])
    def test_an_answer_to_no_question_tells_only_what_is_not_known(self, ready: Bench, nonce: Any) -> None:
        ready.tell("GUILD_MEMBER_ADD", member(NEW))
        ready.answer(nonce, member(ADA), member(NEW), not_found=[str(BOB)])
        assert ready.known() == {ADA: "online", BOB: "offline", NEW: "offline"}
        assert ready.roster.changes.asked == {NEW}  # it joined

    @pytest.mark.parametrize("nonce", ["full1.1", "full1.2", "full2.1", "fullx"])
    def test_a_chunk_of_a_finished_reconcile_is_ignored(self, ready: Bench, nonce: str) -> None:
        ready.answer(nonce, member(ADA), member(NEW), not_found=[str(BOB)])
        assert (ready.known(), ready.roster.changes.asked) == ({ADA: "online", BOB: "offline"}, set())

    def test_the_answer_after_a_bad_live_presence_settles(self, ready: Bench) -> None:
        bad = row(NEW, {"status": "online", "activities": None})
        ready.tell("GUILD_MEMBER_ADD", member(NEW))
        ready.tell("PRESENCE_UPDATE", bad)
        ready.answer(ready.look(2)[0][0], member(NEW), presences=[bad])
        assert (ready.known()[NEW], ready.look(60)) == ("online", [])


class TestReconciles:
    def test_a_presence_is_kept_until_the_member_is_listed(self, bench: Bench) -> None:
        nonce = bench.start()
        bench.tell("PRESENCE_UPDATE", row(ADA, ONLINE))
        assert bench.known() == {}
        bench.answer(nonce, member(ADA), presences=[row(ADA, OFFLINE)])
        assert (bench.known(), bench.roster.changes.offline_at, bench.look(60)) == ({ADA: "online"}, {}, [])

    def test_going_offline_before_being_listed_is_noted(self, bench: Bench) -> None:
        nonce = bench.start()
        with time_machine.travel(datetime.fromtimestamp(5000, UTC), tick=False):
            bench.tell("PRESENCE_UPDATE", row(ADA, ONLINE))
            bench.tell("PRESENCE_UPDATE", row(ADA, OFFLINE))
        bench.answer(nonce, member(ADA), presences=[row(ADA, ONLINE)])
        assert (bench.known(), bench.roster.members[ADA].last_online) == ({ADA: "offline"}, 5000)

    def test_a_presence_of_somebody_who_is_not_listed_is_looked_up(self, bench: Bench) -> None:
        nonce = bench.start()
        bench.tell("PRESENCE_UPDATE", row(NEW, ONLINE))
        bench.answer(nonce, member(ADA))
        assert (bench.known(), bench.look(60)[0][1]) == ({ADA: "offline"}, [NEW])

    def test_who_leaves_before_being_listed_has_left(self, bench: Bench) -> None:
        nonce = bench.start()
        bench.tell("PRESENCE_UPDATE", row(ADA, ONLINE))
        bench.tell("GUILD_MEMBER_REMOVE", {"user": {"id": str(ADA)}})
        bench.answer(nonce, member(ADA), member(BOB))
        assert (bench.known(), bench.look(60)) == ({BOB: "offline"}, [])

    def test_an_answer_meanwhile_is_newer_than_the_chunks(self, bench: Bench) -> None:
        nonce = bench.start()
        for chat_id in (ADA, BOB):
            bench.refetch.enqueue([chat_id])
        ((lookup, _),) = bench.look(2)
        bench.answer(lookup, member(ADA), presences=[row(ADA, ONLINE)], not_found=[str(BOB)])
        bench.answer(nonce, member(ADA), member(BOB))
        assert bench.known() == {ADA: "online"}

    def test_an_answer_from_before_is_older_than_the_chunks(self, ready: Bench) -> None:
        lookup = ready.ask(BOB)
        ready.answer(ready.start(), member(ADA))
        ready.answer(lookup, member(BOB), member(ADA), presences=[row(ADA, ONLINE)])
        assert ready.known() == {ADA: "offline"}

    def test_a_chunk_of_a_question_that_was_given_up_only_shows_life(self, bench: Bench) -> None:
        first = bench.start()
        ((second, _),) = bench.look(40)
        bench.answer(first, member(ADA))
        assert (bench.known(), bench.session.is_ready) == ({}, False)
        bench.answer(second, member(BOB))
        assert (bench.known(), bench.session.is_ready) == ({BOB: "offline"}, True)


def test_a_new_session_has_no_members_until_the_chat_server_is_announced_and_listed(ready: Bench) -> None:
    """What the session before had listed, or was listing, counts no more."""
    ready.session.tell(SessionLost("drop"))
    states = [ready.session.state]
    ready.session.tell(SessionStarted(None))
    states.append(ready.session.state)
    nonce = ready.start()
    states.append(ready.session.state)
    ready.answer(nonce, member(ADA), index=0, count=2)
    ready.session.tell(SessionStarted(None))
    ready.answer(nonce, member(BOB), index=1, count=2)
    states.append(ready.session.state)
    assert states == [SessionState.CLOSED, SessionState.ABSENT, SessionState.GATHERING, SessionState.ABSENT]


class TestGaps:
    def offline_at(self, bench: Bench) -> dict[int, int]:
        """After a new session in which Ada and Bob are offline, at 9000."""
        with time_machine.travel(datetime.fromtimestamp(9000, UTC), tick=False):
            bench.answer(bench.start(), member(ADA), member(BOB))
        return bench.roster.changes.offline_at

    def at(self, moment: int, bench: Bench, event: SessionLost | SessionResumed) -> None:
        with time_machine.travel(datetime.fromtimestamp(moment, UTC), tick=False):
            bench.session.tell(event)

    @pytest.mark.parametrize(
        ("losses", "expected"), [([1500], 1500), ([1500, 1600], 1500), ([1500, -1550, 1600], 1600)]
    )
    def test_it_begins_with_the_first_loss_since_all_was_known(self, losses: list[int], expected: int) -> None:
        bench = Bench()
        with time_machine.travel(datetime.fromtimestamp(1000, UTC), tick=False):
            bench.fill()
        for moment in losses:
            self.at(abs(moment), bench, SessionLost("drop") if moment > 0 else SessionResumed())
        assert self.offline_at(bench) == {ADA: expected}

    def test_a_resume_before_all_was_known_again_does_not_end_it(self, bench: Bench) -> None:
        with time_machine.travel(datetime.fromtimestamp(1000, UTC), tick=False):
            bench.fill()
        self.at(1500, bench, SessionLost("drop"))
        with time_machine.travel(datetime.fromtimestamp(1550, UTC), tick=False):
            bench.start()  # lists no member before it is lost
        for moment, event in ((1600, SessionLost("drop")), (1700, SessionResumed()), (1800, SessionLost("drop"))):
            self.at(moment, bench, event)
        assert self.offline_at(bench) == {ADA: 1500}

    def test_who_was_seen_by_a_reconcile_that_never_ended_was_online_then(self, bench: Bench) -> None:
        with time_machine.travel(datetime.fromtimestamp(1000, UTC), tick=False):
            nonce = bench.start()
        with time_machine.travel(datetime.fromtimestamp(1400, UTC), tick=False):
            bench.answer(nonce, member(ADA), presences=[row(ADA, ONLINE)], count=2)
        self.at(1500, bench, SessionLost("drop"))
        assert self.offline_at(bench) == {ADA: 1400}
