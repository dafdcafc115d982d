"""`reconcile_files`: usage, rows and objects agree afterwards, no stored file is lost, and the rest is reported."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from pytest_django import Settings

from accounts.models import JobRun
from imagehost.models import File, PreviewState, State, Usage
from imagehost.storing import files, previews, quotas, reconciliation
from imagehost.storing.previews import Work
from imagehost.storing.reconciliation import Comparison
from imagehost.storing.storage import Entry, StorageFailed
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory
from tests.imagehost import objects
from tests.imagehost.objects import LONG_AGO, NOON, FaultyStorage, reconcile, stored, stray
from tests.imagehost.plans import plan_of
from tests.lookup import statements
from tests.support.threads import together

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]

SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that what there is takes several of them."""
    monkeypatch.setattr(reconciliation, "CHUNK", 2)


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.levelname, record.getMessage()) for record in caplog.records]


class TestUsage:
    @pytest.mark.parametrize("booked", [0, 1001])
    def test_what_is_booked_wrongly_is_counted_anew(self, booked: int, caplog: pytest.LogCaptureFixture) -> None:
        file, other = stored(size=600), stored()
        objects.put(FileFactory(owner=file.owner, size=400, state=State.PENDING, uploaded_at=NOON))
        FileFactory(owner=file.owner, size=70, state=State.DELETED)
        Usage.objects.filter(pk=file.owner_id).update(used_bytes=booked)
        assert reconcile() == Comparison(objects=3, recounted=1)
        assert (quotas.used(file.owner_id or ""), quotas.used(other.owner_id or "")) == (1000, 1000)
        assert logged(caplog) == [
            ("ERROR", f"The usage of {file.owner_id} was wrong by {booked - 1000} bytes and is counted anew.")
        ]
        assert reconcile() == Comparison(objects=3)

    def test_a_user_without_files_uses_nothing_and_a_usage_that_is_gone_comes_back(self) -> None:
        usage, file = Usage.objects.create(owner=UserFactory(), used_bytes=5), stored(booked=False)
        assert reconcile() == Comparison(objects=1, recounted=2)
        assert (quotas.used(usage.pk), quotas.used(file.owner_id or "")) == (0, 1000)

    def test_only_users_that_differ_are_locked(self) -> None:
        for _ in range(3):
            stored()
        wrong = stored(booked=False)
        asked = statements.of(reconcile)
        usages = [statement for statement in asked if statement.name.endswith("imagehost_usage")]
        changed = [statement for statement in usages if statement.name.startswith(("UPDATE", "INSERT"))]
        locks = [statement for statement in asked if statement.sql.endswith("FOR UPDATE")]
        if connection.vendor == "postgresql":
            assert [(lock.name, lock.values[0]) for lock in locks] == [("SELECT imagehost_usage", wrong.owner_id)]
        assert [statement.name for statement in changed] == ["INSERT imagehost_usage", "UPDATE imagehost_usage"]
        assert all(wrong.owner_id in statement.values for statement in changed)


@pytest.mark.usefixtures("small_chunks")
class TestObjectsWithoutFiles:
    @pytest.mark.parametrize("key", ["files/somebody/Ünïcode.png", "previews/somebody/Aaaaaaa1.webp"])
    def test_they_are_removed_when_they_are_a_day_old(
        self, bucket_directory: Path, key: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        kept = sorted(stored().key for _ in range(5))
        stray(key, bucket_directory, DAY + SECOND)
        assert reconcile() == Comparison(objects=6, removed=1)
        assert objects.all_keys() == kept
        assert logged(caplog) == [("WARNING", f"Removed the object {key}, which has no file.")]

    @pytest.mark.parametrize("state", State.values)
    def test_whatever_has_a_row_is_not_theirs_to_judge(self, bucket_directory: Path, state: str) -> None:
        """The sweep ends what is PENDING or DELETED."""
        rows = [FileFactory(state=state, uploaded_at=LONG_AGO) for _ in range(5)]
        objects.put(*rows)
        for file in rows:
            objects.put_key(file.preview_key)
            objects.put_key(file.card_key)
        objects.age_all(bucket_directory, LONG_AGO)
        assert reconcile() == Comparison(objects=15)
        assert len(objects.all_keys()) == 15

    def test_a_preview_in_another_spelling_is_not_the_files(self, bucket_directory: Path) -> None:
        file = stored(name="Aaaaaaa1")
        other = stray(file.preview_key.replace("Aaaaaaa1", "aAAAAAA1"), bucket_directory)
        foreign = stray("previews/somebody-else/Aaaaaaa1.webp", bucket_directory)
        assert reconcile() == Comparison(objects=3, removed=2)
        assert not {other, foreign} & set(objects.all_keys())

    def test_younger_ones_and_other_parts_of_the_bucket_are_left_alone(self, bucket_directory: Path) -> None:
        stray("backups/database.gz", bucket_directory)
        key = stray("files/somebody/Aaaaaaa1.png", bucket_directory, DAY)
        assert reconcile() == Comparison(objects=1)
        assert objects.all_keys() == [key]
        assert (bucket_directory / "backups/database.gz").exists()

    def test_a_store_that_is_down_is_not_asked_for_ever(
        self, bucket: FaultyStorage, bucket_directory: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Five failures in a row end it; one that works between them starts the count again."""
        keys = [stray(f"files/somebody/{number}.png", bucket_directory) for number in range(9)]
        failing = [*keys[:2], *keys[3:]]
        bucket.faults = dict.fromkeys([f"remove {key}" for key in failing], StorageFailed)
        assert reconcile() == Comparison(objects=9, removed=1, left=8)
        assert objects.all_keys() == failing
        assert [message for level, message in logged(caplog) if level == "ERROR"] == [
            f"The object {key} has no file, but could not be removed." for key in failing[:7]
        ]

    def test_a_bucket_of_another_database_is_left_alone(
        self, bucket_directory: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A few objects without a file are removed, and a quarter of all; beyond both they are left."""
        monkeypatch.setattr(reconciliation, "FEW", 2)
        strays = [stray(f"files/somebody/{number}.png", bucket_directory) for number in range(2)]
        assert reconcile() == Comparison(objects=2, removed=2)
        strays = [stray(f"files/somebody/{number}.png", bucket_directory) for number in range(3)]
        for _ in range(8):
            stored()
        caplog.clear()
        assert reconcile() == Comparison(objects=11, left=3, is_suspicious=True)
        assert set(strays) < set(objects.all_keys())
        assert logged(caplog) == [
            ("ERROR", "3 of 11 objects have no file and were left alone: is it the right bucket?")
        ]
        assert reconcile(may_remove_many=True) == Comparison(objects=11, removed=3)
        stray("files/somebody/0.png", bucket_directory)
        for number in range(1, 3):
            stray(f"files/somebody/{number}.png", bucket_directory)
        stored()
        assert reconcile() == Comparison(objects=12, removed=3)


class LateStorage(FaultyStorage):
    """A store whose lists are of yesterday, as those of Swift may be."""

    def entries(self, prefix: str, *, after: str = "", until: str = "") -> Iterator[Entry]:
        return iter(())


@pytest.mark.usefixtures("small_chunks")
class TestFilesWithoutObjects:
    def test_they_are_named_and_kept(self, caplog: pytest.LogCaptureFixture) -> None:
        lost = [FileFactory(uploaded_at=LONG_AGO), FileFactory(uploaded_at=NOON - DAY - SECOND)]
        for _ in range(5):
            stored()
        found = reconcile()
        assert (found.objects, sorted(found.missing), found.damaged) == (5, sorted(file.key for file in lost), [])
        assert sorted(logged(caplog)) == sorted(
            ("ERROR", f"The file {file.pk} has no object: {file.key}.") for file in lost
        )
        assert {file.state for file in File.objects.all()} == {State.READY}
        assert [quotas.used(file.owner_id or "") for file in lost] == [1000, 1000]

    def test_younger_ones_unfinished_ones_and_deleted_ones_are_not(self) -> None:
        FileFactory(uploaded_at=NOON - DAY)
        FileFactory(uploaded_at=LONG_AGO, state=State.PENDING)
        FileFactory(uploaded_at=LONG_AGO, state=State.DELETED)
        assert reconcile() == Comparison()

    def test_after_a_restore_those_of_the_last_day_are_named_too_and_objects_without_a_file_stay(
        self, bucket_directory: Path
    ) -> None:
        lost = FileFactory(uploaded_at=NOON - HOUR)
        FileFactory(uploaded_at=NOON)  # its upload goes on
        key = stray("files/somebody/Aaaaaaa1.png", bucket_directory)
        assert reconcile(is_after_restore=True) == Comparison(objects=1, spared=1, missing=[lost.key])
        assert objects.all_keys() == [key]
        found = reconcile(is_after_restore=True, may_remove_many=True)
        assert found == Comparison(objects=1, removed=1, missing=[lost.key])

    @pytest.mark.django_db(transaction=True)
    def test_one_that_is_deleted_after_the_store_was_listed_is_not(self) -> None:
        file = FileFactory(uploaded_at=LONG_AGO)

        def delete() -> None:
            if File.objects.filter(pk=file.pk).exists():
                files.delete(file=file, by=None)

        objects.put_key("files/somebody/Aaaaaaa1.png")  # a batch to act after
        assert reconciliation.reconcile(now=NOON, after_batch=delete) == Comparison(objects=1)

    def test_an_object_of_another_size_is_damaged(self, caplog: pytest.LogCaptureFixture) -> None:
        file, _ = stored(), stored()
        objects.put(file, content=b"Half of it")
        assert reconcile() == Comparison(objects=2, damaged=[file.key])
        assert logged(caplog) == [("ERROR", f"The object {file.key} has 10 bytes, not 1000.")]

    def test_one_that_only_the_list_leaves_out_is_not_missing(self, settings: Settings, bucket_directory: Path) -> None:
        stored()
        objects.faulty(settings, bucket_directory, LateStorage)
        assert reconcile() == Comparison()

    def test_only_the_first_ones_are_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reconciliation, "MOST_NAMED", 3)
        for _ in range(5):
            FileFactory(uploaded_at=LONG_AGO)
            objects.put(FileFactory(uploaded_at=LONG_AGO), content=b"Half of it")
        found = reconcile()
        assert (len(found.missing), len(found.damaged)) == (3, 3)


class TestPreviews:
    def test_one_that_is_gone_is_made_again(self) -> None:
        content = objects.picture()
        lost = stored(size=len(content), preview_state=PreviewState.MADE, preview_attempts=2)
        objects.put(lost, content=content)
        kept = stored(preview_state=PreviewState.MADE)
        objects.put_key(kept.preview_key)
        assert reconcile() == Comparison(objects=3, remade=1)
        lost.refresh_from_db()
        kept.refresh_from_db()
        assert (lost.preview_state, lost.preview_width, lost.preview_attempts) == (PreviewState.WAITING, None, 0)
        assert kept.preview_state == PreviewState.MADE
        assert previews.make(until=NOON + HOUR) == Work(made=1)
        assert reconcile() == Comparison(objects=4)

    @pytest.mark.parametrize(
        ("attempts", "tried_each_night", "tried_after_a_restore"),
        [
            pytest.param(1, 0, 1, id="the file does not decode"),
            pytest.param(5, 1, 1, id="the store or another host's disk"),
            pytest.param(6, 0, 0, id="the file ended its workers"),
        ],
    )
    def test_one_that_failed_is_tried_once_more_where_that_may_help(
        self, attempts: int, tried_each_night: int, tried_after_a_restore: int
    ) -> None:
        content = objects.picture()
        file = stored(size=len(content), preview_state=PreviewState.FAILED, preview_attempts=attempts)
        objects.put(file, content=content)
        assert reconcile() == Comparison(objects=1, remade=tried_each_night)
        File.objects.update(preview_state=PreviewState.FAILED, preview_attempts=attempts)
        assert reconcile(is_after_restore=True) == Comparison(objects=1, remade=tried_after_a_restore)
        assert previews.make(until=NOON + HOUR) == Work(made=tried_after_a_restore)

    def test_one_more_try_is_one_and_where_there_was_none_nothing_is_missing(self) -> None:
        rows = [stored(preview_state=PreviewState.FAILED, preview_attempts=5)]
        rows += [stored(preview_state=state) for state in (PreviewState.WAITING, PreviewState.FAILED)]
        lost = FileFactory(uploaded_at=LONG_AGO, preview_state=PreviewState.MADE)
        assert reconcile() == Comparison(objects=3, remade=1, missing=[lost.key])
        for file in rows:
            file.refresh_from_db()
        assert [file.preview_state for file in rows] == [*[PreviewState.WAITING] * 2, PreviewState.FAILED]
        assert rows[0].preview_attempts == 4


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
class TestRaces:
    def test_what_is_uploaded_and_deleted_meanwhile_is_counted_to_the_byte(self, bucket_directory: Path) -> None:
        """Four people upload, delete and are counted at once; every usage is wrong at the beginning."""
        owners = UserFactory.create_batch(4)
        kept = [stored(owner=owner) for owner in owners]
        doomed = [stored(owner=owner) for owner in owners]
        objects.age_all(bucket_directory, LONG_AGO)
        Usage.objects.update(used_bytes=7_000_000)

        def act(number: int) -> int:
            if number == len(owners):
                return len(reconcile().missing)
            for _ in range(2):
                objects.upload(owners[number], objects.picture(), NOON)
            files.delete(file=doomed[number], by=owners[number])
            return 0

        assert sum(together(5, act)) == 0
        sizes = {owner.pk: [file.size for file in File.objects.filter(owner=owner)] for owner in owners}
        assert {owner.pk: quotas.used(owner.pk) for owner in owners} == {pk: sum(sizes[pk]) for pk in sizes}
        assert {len(found) for found in sizes.values()} == {3}
        assert objects.all_keys() == sorted(File.objects.values_list("key", flat=True))
        assert {file.key for file in kept} < set(objects.all_keys())


@pytest.mark.embedded
class TestCosts:
    def test_queries_do_not_grow_with_the_files(self) -> None:
        for _ in range(5):
            objects.put_key(stored(preview_state=PreviewState.MADE).preview_key)
        assert [name for name in statements.names(reconcile) if " " in name] == [
            "SELECT imagehost_reconciliation",
            "SELECT imagehost_strayobject",
            "DELETE imagehost_reconciliation",
            "INSERT imagehost_reconciliation",
            "SELECT imagehost_file",  # the last owner of the part
            "SELECT imagehost_file",  # users without usage
            "SELECT imagehost_usage",  # users whose usage differs
            "SELECT imagehost_file",  # of a chunk of objects
            "SELECT imagehost_file",  # of a chunk of previews
            "SELECT imagehost_file",  # a chunk of rows
            "UPDATE imagehost_reconciliation",
            "SELECT imagehost_file",  # a chunk of rows in quarantine
            "UPDATE imagehost_reconciliation",
            "SELECT imagehost_strayobject",  # to remove
            "SELECT imagehost_strayobject",
            "DELETE imagehost_reconciliation",
        ]

    def test_names_of_previews_are_found_by_their_index(self) -> None:
        previews = ["previews/somebody/Aaaaaaa1.webp"] * 2
        assert "imagehost_file_unique_name" in plan_of(lambda: reconciliation._previews(previews))


class TestCommand:
    def run(self, *arguments: str) -> str:
        output = io.StringIO()
        call_command("reconcile_files", *arguments, stdout=output)
        return output.getvalue()

    def test_what_people_have_to_decide_is_reported_and_is_no_failure(self) -> None:
        lost = FileFactory(uploaded_at=LONG_AGO)
        half = stored()
        objects.put(half, content=b"Half of it")
        reported = (
            f"MISSING: 1 objects ({lost.key}) of stored files. DAMAGED: 1 objects ({half.key}) of stored files. "
            "Compared 1 objects, removed 0, corrected the usage of 0 users, 0 previews are to be made again."
        )
        assert self.run() == f"{reported}\n"
        run = JobRun.objects.get(pk="reconcile_files")
        assert (run.message, run.last_error, run.succeeded_at) == (reported, "", NOON)

    def test_after_a_restore_the_last_day_and_objects_without_a_file_are_reported(self, bucket_directory: Path) -> None:
        lost = FileFactory(uploaded_at=NOON - HOUR)
        stray("files/somebody/a.png", bucket_directory)
        assert self.run("--all").startswith(
            f"MISSING: 1 objects ({lost.key}) of stored files. "
            "1 objects have no file, perhaps uploads after the backup: copy what "
        )
        assert self.run().startswith("Compared 1 objects, removed 1, ")

    def test_five_are_named_and_many_objects_without_files_are_removed_on_demand(
        self, bucket_directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reconciliation, "FEW", 2)
        for _ in range(7):
            FileFactory(uploaded_at=LONG_AGO)
        for number in range(3):
            stray(f"files/somebody/{number}.png", bucket_directory)
        reported = self.run()
        assert reported.startswith("MISSING: 7 objects (files/")
        assert " and 2 more) of stored files. " in reported
        assert "3 of 3 objects have no file: if this is the right bucket, say --remove-many. " in reported
        assert "Compared 3 objects, removed 3, " in self.run("--remove-many")
        assert objects.all_keys() == []

    def test_one_that_stays_is_reported(self, bucket: FaultyStorage, bucket_directory: Path) -> None:
        bucket.faults[f"remove {stray('files/somebody/a.png', bucket_directory)}"] = StorageFailed
        assert self.run().startswith("1 objects without a file could not be removed. Compared 1 objects, removed 0, ")
