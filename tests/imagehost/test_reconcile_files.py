"""`reconcile_files` beside everything else that happens: exact at the end, cheap, and clear in what it says."""

from __future__ import annotations

import io
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command

from accounts.models import JobRun
from imagehost import files, quotas, reconciliation
from imagehost.models import File, PreviewState, Usage
from imagehost.storage import StorageFailed
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory
from tests.imagehost import objects
from tests.imagehost.differences import LONG_AGO, NOON, reconcile, stored, stray
from tests.imagehost.objects import FaultyStorage
from tests.imagehost.plans import plan_of
from tests.lookup import statements
from tests.support.threads import together

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]


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

    def test_what_people_have_to_decide_is_told_and_is_no_failure(self) -> None:
        lost = FileFactory(uploaded_at=LONG_AGO)
        half = stored()
        objects.put(half, content=b"Half of it")
        told = (
            f"MISSING: 1 objects ({lost.key}) of stored files. DAMAGED: 1 objects ({half.key}) of stored files. "
            "Compared 1 objects, removed 0, corrected the usage of 0 users, 0 previews are to be made again."
        )
        assert self.run() == f"{told}\n"
        run = JobRun.objects.get(pk="reconcile_files")
        assert (run.message, run.last_error, run.succeeded_at) == (told, "", NOON)

    def test_after_a_restore_the_last_day_is_looked_at_too(self) -> None:
        lost = FileFactory(uploaded_at=NOON - timedelta(hours=1))
        assert "MISSING" not in self.run()
        assert self.run("--all").startswith(f"MISSING: 1 objects ({lost.key}) of stored files. ")

    def test_after_a_restore_objects_without_a_file_are_told(self, bucket_directory: Path) -> None:
        stray("files/somebody/a.png", bucket_directory)
        assert self.run("--all").startswith("1 objects have no file, perhaps uploads after the backup: copy what ")
        assert self.run().startswith("Compared 1 objects, removed 1, ")

    def test_five_are_named_and_many_objects_without_files_are_removed_on_demand(
        self, bucket_directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reconciliation, "FEW", 2)
        for _ in range(7):
            FileFactory(uploaded_at=LONG_AGO)
        for number in range(3):
            stray(f"files/somebody/{number}.png", bucket_directory)
        told = self.run()
        assert told.startswith("MISSING: 7 objects (files/")
        assert " and 2 more) of stored files. " in told
        assert "3 of 3 objects have no file: if this is the right bucket, say --remove-many. " in told
        assert "Compared 3 objects, removed 3, " in self.run("--remove-many")
        assert objects.all_keys() == []

    def test_one_that_stays_is_told(self, bucket: FaultyStorage, bucket_directory: Path) -> None:
        bucket.faults[f"remove {stray('files/somebody/a.png', bucket_directory)}"] = StorageFailed
        assert self.run().startswith("1 objects without a file could not be removed. Compared 1 objects, removed 0, ")
