"""What is written and when: never without the lease, never past a store that lost something, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.core.cache import caches

from presence.models import LastOnline
from presence.store.store import Banner, LeaseLost, StoreUnavailable
from presence.worker import last_seen
from tests.presence import store_contents, workers
from tests.presence.leading_flusher import ADA, BOB, CYD, LeadingFlusher

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def leader() -> Iterator[LeadingFlusher]:
    leader = LeadingFlusher()
    yield leader
    leader.do(lambda: leader.background.close(5))


WHOLE = {ADA: "online", BOB: "online", CYD: "online"}


@pytest.mark.embedded
def test_everybody_is_written_then_declared_then_stamped(leader: LeadingFlusher) -> None:
    leader.begin()
    seen: list[tuple[int, bool]] = []
    while leader.flush():
        seen.append((len(store_contents.records(leader.store, [ADA, BOB, CYD])), leader.store.generation() > 0))
    assert seen == [(2, False), (3, True)]
    assert leader.shown() == WHOLE
    assert leader.store.alive_at() is not None


def test_who_left_and_came_back_is_no_miss(leader: LeadingFlusher) -> None:
    """The presence is not known yet, so there is no record either."""
    leader.begin()
    leader.settle()
    leader.leave(BOB)
    leader.apply("GUILD_MEMBER_ADD", BOB, username="bob")
    leader.leave(CYD)
    leader.settle()
    assert [leader.store.snapshot(chat_id).miss for chat_id in (BOB, CYD)] == ["", "notMember"]
    leader.apply("PRESENCE_UPDATE", BOB, status="online")
    leader.settle()
    assert leader.shown() == {ADA: "online", BOB: "online", CYD: "absent"}


class TestWithoutTheLease:
    def test_nothing_is_written(self, leader: LeadingFlusher) -> None:
        leader.begin()
        leader.lease.release()
        with pytest.raises(LeaseLost):
            leader.flush()
        assert store_contents.records(leader.store, [ADA, BOB, CYD]) == {}

    def test_no_dump_is_declared(self, leader: LeadingFlusher) -> None:
        """It was lost while the last of it was written."""
        leader.begin()
        leader.flush()
        leader.store.after = leader.lease.release
        with pytest.raises(LeaseLost):
            leader.flush()
        assert len(store_contents.records(leader.store, [ADA, BOB, CYD])) == 3
        assert leader.store.generation() == 0

    def test_nothing_is_stamped(self, leader: LeadingFlusher) -> None:
        """As before."""
        leader.begin()
        leader.settle()
        stamped = leader.store.alive_at()
        leader.leave(ADA)
        leader.store.after = leader.lease.release
        with pytest.raises(LeaseLost):
            leader.flush()
        assert store_contents.records(leader.store, [ADA]) == {}
        assert leader.store.alive_at() == stamped


class TestAFailedWrite:
    def fail(self) -> None:
        raise StoreUnavailable("It is away.")

    def test_a_dump_loses_no_member(self, leader: LeadingFlusher) -> None:
        leader.begin()
        for _ in range(2):
            leader.store.before = self.fail
            with pytest.raises(StoreUnavailable):
                leader.flush()
            leader.store.before = None
            leader.flush()
        leader.settle()
        assert leader.shown() == WHOLE

    def test_whose_member_changed_has_no_old_banner(self, leader: LeadingFlusher) -> None:
        leader.begin()
        leader.settle()
        leader.store.keep_banner(ADA, Banner("a" * 32, 0))
        leader.apply("GUILD_MEMBER_UPDATE", ADA, username="lovelace")
        leader.store.before = self.fail
        with pytest.raises(StoreUnavailable):
            leader.flush()
        assert leader.store.snapshot(ADA).banner is not None
        leader.store.before = None
        leader.settle()
        assert leader.store.snapshot(ADA).banner is None

    def test_who_left_meanwhile_is_gone_and_is_known_to_be_no_member(self, leader: LeadingFlusher) -> None:
        leader.begin()
        leader.settle()
        leader.leave(BOB)
        leader.store.before = self.fail
        with pytest.raises(StoreUnavailable):
            leader.flush()
        leader.store.before = None
        leader.settle()
        assert leader.shown() == {**WHOLE, BOB: "absent"}
        assert [leader.store.snapshot(chat_id).miss for chat_id in (ADA, BOB)] == ["", "notMember"]

    def test_one_that_came_through_all_the_same_is_no_reason_to_begin_anew(self, leader: LeadingFlusher) -> None:
        leader.begin()
        leader.settle()
        generation = leader.flusher.generation
        for came_through in (True, False):
            leader.store.after, leader.store.before = (self.fail, None) if came_through else (None, self.fail)
            leader.leave(BOB if came_through else ADA)
            with pytest.raises(StoreUnavailable):
                leader.flush()
            leader.store.after = leader.store.before = None
            leader.settle()
        assert leader.flusher.generation == generation
        assert leader.shown() == {ADA: "absent", BOB: "absent", CYD: "online"}

    def test_who_left_is_forgotten_once_the_database_answers(self, leader: LeadingFlusher) -> None:
        last_seen.keep({ADA: 1000, BOB: 1000})
        leader.leave(BOB)
        with (
            store_contents.table_missing(LastOnline._meta.db_table),
            pytest.raises(Exception, match="presence_lastonline"),
        ):
            leader.do(leader.last_seen.keep)
        assert last_seen.all_of() == {ADA: 1000, BOB: 1000}
        leader.do(leader.last_seen.keep)
        assert last_seen.all_of() == {ADA: 1000}


class TestAStoreThatLostSomething:
    @pytest.mark.parametrize("flushes", [1, 2, 3])
    def test_emptied_after_so_many_flushes(self, leader: LeadingFlusher, flushes: int) -> None:
        """During the dump, before its first stamp, and after it."""
        leader.begin()
        for _ in range(flushes):
            leader.flush()
        workers.empty()
        began = leader.flusher.generation
        leader.settle()
        assert leader.flusher.completed == leader.store.generation() > began
        assert leader.shown() == WHOLE

    def test_emptied_before_the_dump_is_declared(self, leader: LeadingFlusher) -> None:
        leader.begin()
        leader.flush()
        leader.store.after = workers.empty
        leader.flush()
        assert (leader.store.generation(), leader.store.alive_at(), leader.flusher.generation) == (0, None, 0)
        leader.store.after = None
        leader.settle()
        assert leader.shown() == WHOLE

    @pytest.mark.parametrize("is_seen_by_a_write", [True, False])
    def test_a_write_that_an_older_snapshot_lacks(self, leader: LeadingFlusher, is_seen_by_a_write: bool) -> None:
        """All stamps are older than the snapshot, and the term goes on."""
        cache, token = caches["presence"], leader.lease.token
        leader.begin()
        leader.settle()
        before = cache.get_many([f"m:{ADA}", "mark"])
        stamped = leader.store.alive_at()
        leader.leave(ADA)
        leader.store.after = lambda: leader.store.release_lease(token)
        with pytest.raises(LeaseLost):  # before the stamp
            leader.flush()
        leader.store.after = None
        assert leader.store.take_lease(token)
        cache.set_many(before)
        if is_seen_by_a_write:
            leader.leave(BOB)
        assert leader.flush() is True
        assert leader.store.alive_at() == stamped
        assert leader.flusher.generation == 0
        leader.begin()
        leader.settle()
        assert leader.shown() == {ADA: "absent", BOB: "absent" if is_seen_by_a_write else "online", CYD: "online"}
        assert (leader.store.snapshot(BOB).miss == "notMember") is is_seen_by_a_write

    def test_nothing_of_an_earlier_term_arrives_late(self, leader: LeadingFlusher) -> None:
        """Its worker stood still since its look at the lease."""
        leader.begin()
        leader.settle()
        stamped, text = leader.store.alive_at(), leader.roster.text(ADA, leader.flusher.completed)
        leader.lease.release()
        leader.lead()
        leader.begin()
        leader.settle()
        leader.store.keep_banner(BOB, Banner("a" * 32, 0))
        late: list[Callable[[str], object]] = [
            lambda token: leader.store.write({ADA: text or ""}, [BOB], token=token, mark="late"),
            lambda token: leader.store.stamp(1.0, generation=leader.flusher.completed, token=token),
            lambda token: leader.store.set_complete(leader.flusher.completed + 1, token=token),
            lambda token: leader.store.drop_banners([BOB], token=token),
            lambda token: leader.store.keep_departures([CYD], token=token),
        ]
        before = leader.store.snapshots([ADA, BOB, CYD])
        for act in late:
            with pytest.raises(LeaseLost):
                act("an earlier term")
        assert leader.store.snapshots([ADA, BOB, CYD]) == before
        assert leader.flush() is False
        assert (leader.shown(), (leader.store.alive_at() or 0) >= (stamped or 0)) == (WHOLE, True)


class TestTheOneBefore:
    """What an earlier writer knew, when this one begins."""

    @pytest.mark.parametrize(("is_known", "expected"), [(True, 5000), (False, None)])
    def test_who_was_online_then_and_is_offline_now_went_at_its_last_stamp(
        self, leader: LeadingFlusher, is_known: bool, expected: int | None
    ) -> None:
        """Where this one does not know the presence yet, it does not say that the member is offline."""
        leader.begin()
        leader.settle()
        assert leader.store.stamp(5000.9, generation=leader.flusher.completed, token=leader.lease.token)
        roster = leader.roster
        leader.apply("GUILD_MEMBER_REMOVE", ADA)
        leader.apply("GUILD_MEMBER_ADD", ADA, username="somebody")
        if is_known:
            leader.apply("PRESENCE_UPDATE", ADA, status="offline")
        roster.forget_changes()
        leader.do(lambda: leader.last_seen.load_previous(leader.store.state()))
        leader.do(lambda: leader.last_seen.inherit([ADA]))
        assert (roster.members[ADA].last_online, roster.changes.offline_at.get(ADA)) == (expected, expected)
