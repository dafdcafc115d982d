"""`sweep_uploads`: nothing that a crash or an outage left stays for long, and nothing that lives is touched."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.core.management import CommandError, call_command
from pytest_django import Settings

from accounts.models import JobRun
from imagehost.errors import UploadFailed
from imagehost.models import File, PreviewState, State, Usage
from imagehost.storing import files, quotas, storage, sweeping
from imagehost.storing.storage import StorageFailed
from imagehost.storing.sweeping import Swept
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory
from tests.imagehost import objects
from tests.imagehost.objects import NOON, FaultyStorage, SweptStorage
from tests.imagehost.plans import plan_of
from tests.lookup import statements
from tests.support.threads import together

# The objects of a file go after the commit of its deletion.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("clock")]

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


def sweep(until: datetime = NOON + HOUR) -> Swept:
    return sweeping.sweep(now=NOON, until=until)


def pending(age: timedelta, **values: object) -> File:
    return FileFactory(state=State.PENDING, uploaded_at=NOON - age, **values)


def deleted(**values: object) -> File:
    """One whose objects are still there."""
    file = FileFactory(state=State.DELETED, uploaded_at=NOON - MINUTE, deleted_at=NOON, **values)
    objects.put(file)
    objects.put_key(file.preview_key)
    return file


class TestUploads:
    @pytest.mark.parametrize("is_written", [False, True])
    def test_one_that_never_ended_is_taken_back(self, is_written: bool, caplog: pytest.LogCaptureFixture) -> None:
        file = pending(HOUR + SECOND, size=700)
        FileFactory(owner=file.owner, size=300)
        if is_written:
            objects.put(file)
        assert sweep() == Swept(uploads=1)
        assert not File.objects.filter(pk=file.pk).exists()
        assert (quotas.used(file.owner_id or ""), objects.all_keys()) == (300, [])
        assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
            ("WARNING", f"The upload {file.pk} never ended and was taken back.")
        ]

    def test_one_that_may_still_end_and_what_is_stored_are_left_alone(self) -> None:
        for file in (pending(HOUR), FileFactory(uploaded_at=NOON - 1000 * HOUR)):
            state = file.state
            objects.put(file)
            assert sweep() == Swept()
            file.refresh_from_db()
            assert (file.state, quotas.used(file.owner_id or "")) == (state, 1000)
            assert file.key in objects.all_keys()

    def test_bytes_are_given_back_even_where_the_store_is_down(self, bucket: FaultyStorage) -> None:
        lost = [pending(2 * HOUR), pending(2 * HOUR)]
        objects.put(*lost)
        bucket.faults["remove"] = StorageFailed
        assert sweep() == Swept(uploads=2, failed=2)
        assert [quotas.used(file.owner_id or "") for file in lost] == [0, 0]
        assert set(File.objects.values_list("state", flat=True)) == {State.DELETED}
        bucket.faults.clear()
        assert sweep() == Swept(deletions=2)
        assert (File.objects.count(), objects.all_keys()) == (0, [])

    def test_many_are_swept_in_batches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Five of one time, more than a batch, and two later ones; also where the store fails and all rows stay."""
        monkeypatch.setattr(sweeping, "BATCH", 3)
        owner = UserFactory()
        times = [NOON - 2 * HOUR] * 5 + [NOON - 2 * HOUR + SECOND] * 2
        for time in times:
            pending(NOON - time, owner=owner)
        assert [file.uploaded_at for file in sweeping._each(File.objects.all(), NOON + HOUR)] == times
        assert sweep() == Swept(uploads=7)
        assert File.objects.count() == 0


class TestDeletions:
    def test_objects_that_could_not_be_removed_are_removed_after_all(self, bucket: FaultyStorage) -> None:
        file = FileFactory(preview_state=PreviewState.MADE)
        objects.put(file)
        objects.put_key(file.preview_key)
        bucket.faults["remove"] = StorageFailed
        assert files.delete(file=file, by=None)
        assert (objects.all_keys(), quotas.used(file.owner_id or "")) == (sorted([file.key, file.preview_key]), 0)
        bucket.faults.clear()
        assert sweep() == Swept(deletions=1)
        assert (objects.all_keys(), File.objects.count(), quotas.used(file.owner_id or "")) == ([], 0, 0)

    def test_a_deletion_is_no_error_where_too_little_was_booked(self) -> None:
        file = FileFactory(size=500, booked=False)
        Usage.objects.create(owner_id=file.owner_id or "", used_bytes=499)
        assert files.delete(file=file, by=None)
        assert (quotas.used(file.owner_id or ""), File.objects.count()) == (0, 0)

    def test_a_deletion_asks_a_store_that_fails_once(self, bucket: FaultyStorage) -> None:
        """Somebody waits meanwhile: the others are left to the job."""
        owner = UserFactory()
        rows = sorted((FileFactory(owner=owner) for _ in range(3)), key=lambda file: file.pk)
        objects.put(*rows)
        bucket.faults[f"remove {rows[0].key}"] = StorageFailed
        assert files.delete_all(owner=owner, files=rows) == 3
        assert objects.all_keys() == sorted(row.key for row in rows)
        assert sweep() == Swept(deletions=2, failed=1)

    def test_one_that_cannot_be_removed_does_not_stop_the_others(self, bucket: FaultyStorage) -> None:
        stuck, *_ = [deleted() for _ in range(3)]
        bucket.faults[f"remove {stuck.key}"] = StorageFailed
        assert sweep() == Swept(deletions=2, failed=1)
        assert list(File.objects.all()) == [stuck]
        assert objects.all_keys() == sorted([stuck.key, stuck.preview_key])

    def test_nothing_is_begun_after_the_end_of_the_turn(self, clock: time_machine.Traveller) -> None:
        """As with a store that does not answer."""
        pending(2 * HOUR)
        deleted()
        assert sweeping.sweep(now=NOON, until=NOON) == Swept()
        until = NOON + SECOND
        assert sweeping.sweep(now=NOON, until=until, after_each=lambda: clock.shift(SECOND)) == Swept(uploads=1)
        clock.move_to(NOON)
        assert sweep() == Swept(deletions=1)


class TestLeftovers:
    def test_what_came_in_and_was_left_goes_after_an_hour_though_the_store_is_down(self, bucket: FaultyStorage) -> None:
        objects.put_key("files/somebody/F0000001.png")  # makes the folder of half-written objects
        directories = [storage.incoming_directory(), *storage.bucket().part_directories()]
        for directory in directories:
            for name, age in (("old", HOUR + SECOND), ("young", HOUR - SECOND)):
                (directory / name).write_bytes(b"Half of it")
                objects.age(directory / name, NOON - age)
        assert len(directories) == 2
        deleted()
        bucket.faults["remove"] = StorageFailed
        assert sweep() == Swept(failed=1, leftovers=2)
        assert [path.name for directory in directories for path in directory.iterdir()] == ["young", "young"]


@pytest.mark.embedded
class TestRaces:
    @pytest.mark.parametrize(
        ("moment", "is_down"), [("sweep before", False), ("sweep behind", False), ("sweep behind", True)]
    )
    def test_an_upload_that_ends_when_it_is_swept_up_leaves_nothing(
        self, settings: Settings, bucket_directory: Path, moment: str, is_down: bool
    ) -> None:
        """Where the store fails its row stays until its object is removed; its bytes are given back already."""
        bucket = objects.faulty(settings, bucket_directory, SweptStorage)
        owner = UserFactory()
        bucket.faults |= {moment: Exception, **({"remove": StorageFailed} if is_down else {})}
        with pytest.raises(UploadFailed):
            objects.upload(owner, objects.picture(), NOON)
        assert quotas.used(owner.pk) == 0
        if is_down:
            assert File.objects.get().state == State.DELETED
            bucket.faults.clear()
            assert sweep() == Swept(deletions=1)
        assert (File.objects.count(), objects.all_keys()) == (0, [])

    def test_each_upload_is_either_stored_or_taken_back(self) -> None:
        """The end of an upload is one conditional UPDATE, the sweep's beginning another."""
        owner = UserFactory()
        rows = [pending(2 * HOUR, owner=owner, size=10) for _ in range(12)]
        objects.put(*rows)

        def act(number: int) -> int:
            if number < 2:
                return sweep().uploads
            mine = [row.pk for row in rows[number - 2 :: 6]]
            return sum(File.objects.filter(pk=pk, state=State.PENDING).update(state=State.READY) for pk in mine)

        ended = together(8, act)
        stored = File.objects.ready()
        assert (sum(ended), sum(ended[2:])) == (len(rows), stored.count())
        assert quotas.used(owner.pk) == 10 * stored.count()
        assert objects.all_keys() == sorted(stored.values_list("key", flat=True))
        assert File.objects.count() == stored.count()


@pytest.mark.embedded
class TestCosts:
    def test_nothing_to_do_is_four_queries(self) -> None:
        FileFactory()
        assert statements.names(sweep) == ["SELECT imagehost_file"] * 4

    def test_an_upload_is_five_and_a_deletion_two(self) -> None:
        count = 3
        for _ in range(count):
            pending(2 * HOUR)
        removal = ["DELETE imagehost_fileday", "DELETE imagehost_file"]
        upload = ["SELECT imagehost_file", "UPDATE imagehost_file", "UPDATE imagehost_usage", *removal]
        assert _without_transactions(sweep) == [
            *["SELECT imagehost_file"] * 2, *upload * count, *["SELECT imagehost_file"] * 2
        ]  # fmt: skip
        for _ in range(count):
            deleted()
        removals = removal * count
        assert _without_transactions(sweep) == ["SELECT imagehost_file"] * 3 + removals + ["SELECT imagehost_file"]

    @pytest.mark.parametrize("state", [State.PENDING, State.DELETED])
    def test_what_is_unfinished_or_moves_is_found_by_its_index(self, state: State) -> None:
        assert "imagehost_file_unfinished" in plan_of(lambda: list(sweeping._each(sweeping._unfinished(state), NOON)))
        assert "imagehost_file_moving" in plan_of(lambda: list(sweeping._each(File.objects.moving().ready(), NOON)))


class TestCommand:
    def test_it_says_what_it_did_and_fails_when_it_has_done_the_rest(self, bucket: FaultyStorage) -> None:
        output = io.StringIO()
        pending(2 * HOUR)
        deleted()
        call_command("sweep_uploads", stdout=output)
        assert output.getvalue() == (
            "Took back 1 uploads, deleted 0 expired files, finished 1 deletions and 0 moves, removed 0 leftovers.\n"
        )
        stuck = deleted()
        deleted()
        bucket.faults[f"remove {stuck.key}"] = StorageFailed
        reported = (
            "Took back 0 uploads, deleted 0 expired files, finished 1 deletions and 0 moves, removed 0 leftovers. "
            "The store failed for 1 deleted, quarantined or restored files."
        )
        with pytest.raises(CommandError) as raised:
            call_command("sweep_uploads")
        assert str(raised.value) == reported
        assert JobRun.objects.get(pk="sweep_uploads").last_error == f"CommandError: {reported}"


def _without_transactions(act: Callable[[], object]) -> list[str]:
    """SQLite begins its transactions by statements of their own."""
    return [name for name in statements.names(act) if " " in name]
