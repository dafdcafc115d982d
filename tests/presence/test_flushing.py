"""What is written and when: never without the lease, never past a store that lost something, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.core.cache import caches

from presence import last_seen
from presence.models import LastOnline
from presence.store import Banner, LeaseLost, StoreUnavailable
from tests.presence import kept, workers
from tests.presence.flushing_desk import ADA, BOB, CYD, Desk

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.do(lambda: desk.background.close(5))


WHOLE = {ADA: "online", BOB: "online", CYD: "online"}


@pytest.mark.embedded
def test_everybody_is_written_then_declared_then_stamped(desk: Desk) -> None:
    desk.begin()
    seen: list[tuple[int, bool]] = []
    while desk.flush():
        seen.append((len(kept.records(desk.store, [ADA, BOB, CYD])), desk.store.generation() > 0))
    assert seen == [(2, False), (3, True)]
    assert desk.shown() == WHOLE
    assert desk.store.alive_at() is not None


def test_who_left_and_came_back_is_no_miss(desk: Desk) -> None:
    """The presence is not known yet, so there is no record either."""
    desk.begin()
    desk.settle()
    desk.leave(BOB)
    desk.tell("GUILD_MEMBER_ADD", BOB, username="bob")
    desk.leave(CYD)
    desk.settle()
    assert [desk.store.snapshot(chat_id).miss for chat_id in (BOB, CYD)] == ["", "notMember"]
    desk.tell("PRESENCE_UPDATE", BOB, status="online")
    desk.settle()
    assert desk.shown() == {ADA: "online", BOB: "online", CYD: "absent"}


class TestWithoutTheLease:
    def test_nothing_is_written(self, desk: Desk) -> None:
        desk.begin()
        desk.lease.release()
        with pytest.raises(LeaseLost):
            desk.flush()
        assert kept.records(desk.store, [ADA, BOB, CYD]) == {}

    def test_no_dump_is_declared(self, desk: Desk) -> None:
        """It was lost while the last of it was written."""
        desk.begin()
        desk.flush()
        desk.store.after = desk.lease.release
        with pytest.raises(LeaseLost):
            desk.flush()
        assert len(kept.records(desk.store, [ADA, BOB, CYD])) == 3
        assert desk.store.generation() == 0

    def test_nothing_is_stamped(self, desk: Desk) -> None:
        """As before."""
        desk.begin()
        desk.settle()
        stamped = desk.store.alive_at()
        desk.leave(ADA)
        desk.store.after = desk.lease.release
        with pytest.raises(LeaseLost):
            desk.flush()
        assert kept.records(desk.store, [ADA]) == {}
        assert desk.store.alive_at() == stamped


class TestAFailedWrite:
    def fail(self) -> None:
        raise StoreUnavailable("It is away.")

    def test_a_dump_loses_nobody(self, desk: Desk) -> None:
        desk.begin()
        for _ in range(2):
            desk.store.before = self.fail
            with pytest.raises(StoreUnavailable):
                desk.flush()
            desk.store.before = None
            desk.flush()
        desk.settle()
        assert desk.shown() == WHOLE

    def test_whose_member_changed_has_no_old_banner(self, desk: Desk) -> None:
        desk.begin()
        desk.settle()
        desk.store.keep_banner(ADA, Banner("a" * 32, 0))
        desk.tell("GUILD_MEMBER_UPDATE", ADA, username="lovelace")
        desk.store.before = self.fail
        with pytest.raises(StoreUnavailable):
            desk.flush()
        assert desk.store.snapshot(ADA).banner is not None
        desk.store.before = None
        desk.settle()
        assert desk.store.snapshot(ADA).banner is None

    def test_who_left_meanwhile_is_gone_and_is_known_to_be_no_member(self, desk: Desk) -> None:
        desk.begin()
        desk.settle()
        desk.leave(BOB)
        desk.store.before = self.fail
        with pytest.raises(StoreUnavailable):
            desk.flush()
        desk.store.before = None
        desk.settle()
        assert desk.shown() == {**WHOLE, BOB: "absent"}
        assert [desk.store.snapshot(chat_id).miss for chat_id in (ADA, BOB)] == ["", "notMember"]

    def test_one_that_came_through_all_the_same_is_no_reason_to_begin_anew(self, desk: Desk) -> None:
        desk.begin()
        desk.settle()
        generation = desk.flusher.generation
        for came_through in (True, False):
            desk.store.after, desk.store.before = (self.fail, None) if came_through else (None, self.fail)
            desk.leave(BOB if came_through else ADA)
            with pytest.raises(StoreUnavailable):
                desk.flush()
            desk.store.after = desk.store.before = None
            desk.settle()
        assert desk.flusher.generation == generation
        assert desk.shown() == {ADA: "absent", BOB: "absent", CYD: "online"}

    def test_who_left_is_forgotten_once_the_database_answers(self, desk: Desk) -> None:
        last_seen.keep({ADA: 1000, BOB: 1000})
        desk.leave(BOB)
        with kept.table_missing(LastOnline._meta.db_table), pytest.raises(Exception, match="presence_lastonline"):
            desk.do(desk.moments.keep)
        assert last_seen.all_of() == {ADA: 1000, BOB: 1000}
        desk.do(desk.moments.keep)
        assert last_seen.all_of() == {ADA: 1000}


class TestAStoreThatLostSomething:
    @pytest.mark.parametrize("flushes", [1, 2, 3])
    def test_emptied_after_so_many_flushes(self, desk: Desk, flushes: int) -> None:
        """During the dump, before its first stamp, and after it."""
        desk.begin()
        for _ in range(flushes):
            desk.flush()
        workers.empty()
        began = desk.flusher.generation
        desk.settle()
        assert desk.flusher.completed == desk.store.generation() > began
        assert desk.shown() == WHOLE

    def test_emptied_before_the_dump_is_declared(self, desk: Desk) -> None:
        desk.begin()
        desk.flush()
        desk.store.after = workers.empty
        desk.flush()
        assert (desk.store.generation(), desk.store.alive_at(), desk.flusher.generation) == (0, None, 0)
        desk.store.after = None
        desk.settle()
        assert desk.shown() == WHOLE

    @pytest.mark.parametrize("is_seen_by_a_write", [True, False])
    def test_a_write_that_an_older_snapshot_lacks(self, desk: Desk, is_seen_by_a_write: bool) -> None:
        """All stamps are older than the snapshot, and the term goes on."""
        cache, token = caches["presence"], desk.lease.token
        desk.begin()
        desk.settle()
        before = cache.get_many([f"m:{ADA}", "mark"])
        stamped = desk.store.alive_at()
        desk.leave(ADA)
        desk.store.after = lambda: desk.store.release_lease(token)
        with pytest.raises(LeaseLost):  # before the stamp
            desk.flush()
        desk.store.after = None
        assert desk.store.take_lease(token)
        cache.set_many(before)
        if is_seen_by_a_write:
            desk.leave(BOB)
        assert desk.flush() is True
        assert desk.store.alive_at() == stamped
        assert desk.flusher.generation == 0
        desk.begin()
        desk.settle()
        assert desk.shown() == {ADA: "absent", BOB: "absent" if is_seen_by_a_write else "online", CYD: "online"}
        assert (desk.store.snapshot(BOB).miss == "notMember") is is_seen_by_a_write

    def test_nothing_of_an_earlier_term_arrives_late(self, desk: Desk) -> None:
        """Its worker stood still since its look at the lease."""
        desk.begin()
        desk.settle()
        stamped, text = desk.store.alive_at(), desk.roster.text(ADA, desk.flusher.completed)
        desk.lease.release()
        desk.lead()
        desk.begin()
        desk.settle()
        desk.store.keep_banner(BOB, Banner("a" * 32, 0))
        late: list[Callable[[str], object]] = [
            lambda token: desk.store.write({ADA: text or ""}, [BOB], token=token, mark="late"),
            lambda token: desk.store.stamp(1.0, generation=desk.flusher.completed, token=token),
            lambda token: desk.store.set_complete(desk.flusher.completed + 1, token=token),
            lambda token: desk.store.drop_banners([BOB], token=token),
            lambda token: desk.store.keep_departures([CYD], token=token),
        ]
        before = desk.store.snapshots([ADA, BOB, CYD])
        for act in late:
            with pytest.raises(LeaseLost):
                act("an earlier term")
        assert desk.store.snapshots([ADA, BOB, CYD]) == before
        assert desk.flush() is False
        assert (desk.shown(), (desk.store.alive_at() or 0) >= (stamped or 0)) == (WHOLE, True)


class TestTheOneBefore:
    """What an earlier writer knew, when this one begins."""

    @pytest.mark.parametrize(("is_known", "expected"), [(True, 5000), (False, None)])
    def test_who_was_online_then_and_is_offline_now_went_at_its_last_stamp(
        self, desk: Desk, is_known: bool, expected: int | None
    ) -> None:
        """Where this one does not know the presence yet, it does not say that the member is offline."""
        desk.begin()
        desk.settle()
        assert desk.store.stamp(5000.9, generation=desk.flusher.completed, token=desk.lease.token)
        roster = desk.roster
        desk.tell("GUILD_MEMBER_REMOVE", ADA)
        desk.tell("GUILD_MEMBER_ADD", ADA, username="somebody")
        if is_known:
            desk.tell("PRESENCE_UPDATE", ADA, status="offline")
        roster.forget_changes()
        desk.do(lambda: desk.moments.load_previous(desk.store.state()))
        desk.do(lambda: desk.moments.inherit([ADA]))
        assert (roster.members[ADA].last_online, roster.changes.offline_at.get(ADA)) == (expected, expected)
