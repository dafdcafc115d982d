"""A worker that takes over from another one: what it knows of the store, and from when on it says that it is true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import caches

from presence.gateway.payloads import Dispatch
from presence.gateway.roster import Roster
from presence.intervals import Intervals
from presence.store.records import Ending
from presence.store.store import StoreState
from presence.worker import last_seen
from presence.worker.lease import Follower
from tests.presence import store_contents
from tests.presence.leading_flusher import ADA, BOB, CYD, GUILD, LeadingFlusher

WHOLE = {ADA: "online", BOB: "online", CYD: "online"}
FORGET = Intervals().forget


class Beside:
    """A follower of a leader whose newest stamp is `alive_at`."""

    def __init__(self) -> None:
        self.roster = Roster(GUILD)
        self.follower = Follower(self.roster, Intervals())
        self.now = 0.0

    def change(self, chat_id: int) -> None:
        payload = {"guild_id": str(GUILD), "user": {"id": str(chat_id)}}
        self.roster.apply(Dispatch("GUILD_MEMBER_ADD", payload), 2000.0)

    def look(self, alive_at: float | None, *, seconds: float = FORGET, epoch: int = 1) -> None:
        self.now += seconds
        self.follower.look(StoreState(1, alive_at, "m"), epoch=epoch, now=self.now)

    def take_over(self, alive_at: float | None) -> tuple[bool, set[int]]:
        """Whether the store lacks no other changes, and the changes."""
        is_close = self.follower.take_over(StoreState(1, alive_at, "m"))
        return is_close, self.roster.changes.dirty


@pytest.fixture
def beside() -> Beside:
    """After its first reconcile."""
    beside = Beside()
    beside.change(CYD)
    beside.look(1.0)
    return beside


class TestFollowing:
    def test_changes_of_the_last_round_and_since_are_kept(self, beside: Beside) -> None:
        beside.change(ADA)
        beside.look(2.0)
        beside.change(BOB)
        beside.look(3.0, seconds=FORGET / 2)
        assert beside.take_over(3.0) == (True, {ADA, BOB})

    def test_older_ones_the_leader_has_written(self, beside: Beside) -> None:
        beside.change(ADA)
        beside.look(2.0)
        beside.change(BOB)
        beside.look(3.0)
        assert beside.take_over(3.0) == (True, {BOB})

    def test_while_the_leader_does_not_stamp_nothing_is_forgotten(self, beside: Beside) -> None:
        beside.change(ADA)
        beside.look(2.0)
        beside.change(BOB)
        for _ in range(3):
            beside.look(2.0)
        assert beside.take_over(2.0) == (True, {ADA, BOB})

    def test_before_its_first_round_the_store_may_lack_more(self, beside: Beside) -> None:
        beside.look(2.0, seconds=FORGET / 2)
        assert beside.take_over(2.0) == (False, set())

    def test_after_another_reconcile_too(self, beside: Beside) -> None:
        beside.look(2.0)
        beside.change(ADA)
        beside.look(3.0, epoch=2)
        assert beside.take_over(3.0) == (False, set())

    @pytest.mark.parametrize("alive_at", [None, 1.9])
    def test_a_store_that_fell_back_lacks_more(self, beside: Beside, alive_at: float | None) -> None:
        beside.look(2.0)
        assert beside.take_over(alive_at) == (False, set())

    def test_it_is_so_once(self, beside: Beside) -> None:
        beside.look(2.0)
        assert [beside.take_over(2.0)[0] for _ in range(2)] == [True, False]


@pytest.fixture
def leader() -> Iterator[LeadingFlusher]:
    """The store is whole, and its leader has just ended."""
    leader = LeadingFlusher()
    leader.begin()
    leader.settle()
    leader.lease.release()
    leader.lead()
    yield leader
    leader.do(lambda: leader.background.close(5))


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
class TestTakingOver:
    def adopt(self, leader: LeadingFlusher) -> StoreState:
        """Of changes and of the dump one record at once is written."""
        leader.flusher._intervals = Intervals(stamp=0.0, flush_size=1, dump_size=1)
        state = leader.store.state()
        leader.do(lambda: leader.last_seen.load_previous(state))
        leader.flusher.adopt(state)
        leader.begin(is_repeat=True)
        return state

    def test_it_stamps_with_its_first_write_and_goes_on_writing(self, leader: LeadingFlusher) -> None:
        leader.apply("PRESENCE_UPDATE", ADA, status="idle")
        state = self.adopt(leader)
        leader.flush()
        after = leader.store.state()
        assert (after.generation, (after.alive_at or 0) > (state.alive_at or 0)) == (state.generation, True)
        assert leader.shown() == {**WHOLE, ADA: "idle"}
        leader.settle()
        assert leader.store.generation() == leader.flusher.completed > state.generation

    def test_who_left_while_no_worker_ran_is_removed_in_the_end(self, leader: LeadingFlusher) -> None:
        del leader.roster.members[BOB]
        self.adopt(leader)
        leader.flush()
        assert leader.shown() == WHOLE
        leader.settle()
        assert leader.shown() == {**WHOLE, BOB: "absent"}

    def test_changes_are_all_written_before_the_first_stamp(self, leader: LeadingFlusher) -> None:
        for chat_id in (ADA, BOB, CYD):
            leader.apply("PRESENCE_UPDATE", chat_id, status="dnd")
        state = self.adopt(leader)
        shown: list[int] = []
        while leader.store.state().alive_at == state.alive_at:
            leader.flush()
            shown.append(list(leader.shown().values()).count("dnd"))
        assert shown == [1, 2, 3]

    def test_a_store_that_falls_back_before_the_first_write_is_written_anew(self, leader: LeadingFlusher) -> None:
        state = self.adopt(leader)
        caches["presence"].set("mark", "of an older snapshot", None)
        assert leader.flush() is True
        assert (leader.flusher.generation, leader.store.state().alive_at) == (0, state.alive_at)
        leader.settle()
        assert leader.shown() == WHOLE

    def test_a_member_who_went_offline_meanwhile_was_last_online_at_the_last_stamp(
        self, leader: LeadingFlusher
    ) -> None:
        assert leader.store.stamp(5000.9, generation=leader.store.generation(), token=leader.lease.token)
        roster = leader.roster
        leader.apply("GUILD_MEMBER_REMOVE", ADA)
        leader.apply("GUILD_MEMBER_ADD", ADA, username="somebody")
        leader.apply("PRESENCE_UPDATE", ADA, status="offline")
        roster.forget_changes()
        self.adopt(leader)
        leader.settle()
        leader.do(leader.last_seen.keep)
        assert last_seen.all_of() == {ADA: 5000}


TRICKY = {"name": ',"g":9,"t":9.0,"l":9}', "nested": {"g": 8, "t": 1, "l": None}}


@pytest.mark.parametrize("presence", [None, {}, {"activities": [TRICKY]}, TRICKY])
@pytest.mark.parametrize(
    "changes", [{}, {"last_online": 0}, {"last_online": 12, "is_private": True}, {"generation": 7}]
)
def test_the_ending_of_a_text_says_what_the_whole_says(presence: Any, changes: dict[str, Any]) -> None:
    record = store_contents.record(presence=presence, touched_at=1e22, **changes)
    ending = Ending(record.to_text())
    assert (ending.generation, ending.last_online) == (record.generation, record.last_online)
    assert ending.presence() == presence


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"m":{},"p":null,"g":1', ',"g":1,"t":1,"l":1'])
def test_a_damaged_text_ends_like_one_of_no_generation(text: str) -> None:
    ending = Ending(text)
    assert (ending.generation, ending.last_online, ending.presence()) == (0, None, None)


def test_a_text_in_another_order_is_read_whole() -> None:
    ending = Ending('{"g":3,"t":1.5,"l":4,"m":{},"p":{"status":"idle"}}')
    assert (ending.generation, ending.last_online, ending.presence()) == (3, 4, {"status": "idle"})
