"""A comparison that ends before its time is gone on with: no part is done twice, none is left out."""

from __future__ import annotations

import functools
import io
import itertools
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.core.management import call_command
from django.utils import timezone
from pytest_django import Settings

from accounts import jobs
from accounts.jobs import LeaseLost
from accounts.models import JobRun
from imagehost.models import File, PreviewState, Reconciliation, Stage, StrayObject, Usage
from imagehost.storing import quotas, reconciliation
from imagehost.storing.reconciliation import Comparison, Overtaken
from imagehost.storing.storage import Entry
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory
from tests.imagehost import objects
from tests.imagehost.objects import LONG_AGO, NOON, Crash, FaultyStorage, reconcile, stored, stray
from tests.imagehost.plans import plan_of
from tests.lookup import statements

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]

OWNERS = ["0" * 32, "5" * 32, "a" * 32, "f" * 32]


class ListedStorage(FaultyStorage):
    """Notes what it lists."""

    listed: list[tuple[str, str, str]]
    fault: Callable[[str], None]

    def entries(self, prefix: str, *, after: str = "", until: str = "") -> Iterator[Entry]:
        self.listed.append((prefix, after, until))
        yield from super().entries(prefix, after=after, until=until)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconciliation, "PART", 2)
    monkeypatch.setattr(reconciliation, "CHUNK", 2)


@pytest.fixture
def listed(settings: Settings, bucket_directory: Path) -> list[tuple[str, str, str]]:
    bucket = objects.faulty(settings, bucket_directory, ListedStorage)
    assert isinstance(bucket, ListedStorage)
    bucket.listed = []
    return bucket.listed


def four_owners(files: int = 2) -> list[File]:
    return [stored(owner=owner) for owner in [UserFactory(id=pk) for pk in OWNERS] for _ in range(files)]


def crash_at(number: int) -> Callable[[], None]:
    """To call after each batch: the process ends at that call."""
    calls = iter(range(number))

    def count() -> None:
        if next(calls, None) is None:
            raise Crash

    return count


class TestParts:
    def test_each_part_is_listed_once_and_all_of_them_are_the_bucket(self, listed: list[tuple[str, str, str]]) -> None:
        four_owners()
        assert reconcile() == Comparison(objects=8)
        ranges = [("", f"{OWNERS[0]}0")]
        ranges += [(f"{first}0", f"{second}0") for first, second in itertools.pairwise(OWNERS)]
        ranges += [(f"{OWNERS[-1]}0", "")]
        expected = [
            (prefix, prefix + after if after else "", prefix + until if until else "")
            for after, until in ranges
            for prefix in ("files/", "previews/")
        ]
        assert listed == [*expected, ("quarantine/", "", ""), ("previews/quarantine/", "", "")]

    def test_differences_are_found_in_each_part(self, bucket_directory: Path) -> None:
        files = four_owners()
        lost = [FileFactory(owner_id=owner, uploaded_at=LONG_AGO, size=1) for owner in OWNERS]
        for owner in OWNERS:
            objects.put(FileFactory(owner_id=owner, uploaded_at=LONG_AGO, size=5), content=b"half")
        keys = [stray(f"files/{name}/x.png", bucket_directory) for name in [*OWNERS, "!", "55", "zz"]]
        File.objects.filter(pk=files[5].pk).update(preview_state=PreviewState.MADE, preview_width=1, preview_height=1)
        Usage.objects.filter(owner=OWNERS[2]).update(used_bytes=1)
        found = reconcile()
        assert sorted(found.missing) == sorted(file.key for file in lost)
        assert len(found.damaged) == 4
        assert (found.objects, found.removed, found.left, found.remade) == (19, len(keys), 0, 1)
        assert not set(keys) & set(objects.all_keys())
        assert quotas.used(OWNERS[2]) == 2006
        assert not Reconciliation.objects.exists()

    def test_an_owner_with_more_files_than_a_part_is_compared_whole(self) -> None:
        owner = UserFactory()
        kept = [stored(owner=owner) for _ in range(7)]
        lost = FileFactory(owner=owner, uploaded_at=LONG_AGO)
        found = reconcile()
        assert (found.objects, found.missing) == (len(kept), [lost.key])

    def test_quarantined_files_are_compared_too(self, bucket_directory: Path) -> None:
        quarantined = [
            FileFactory(key=f"quarantine/{number}-Aaaaaaa{number}.png", uploaded_at=LONG_AGO, quarantined_at=LONG_AGO)
            for number in range(5)
        ]
        objects.put(*quarantined[1:])
        stray("previews/quarantine/1-Aaaaaaa1.webp", bucket_directory)
        gone = stray("quarantine/nothing.png", bucket_directory)
        found = reconcile()
        assert (found.objects, found.missing, found.removed) == (6, [quarantined[0].key], 2)
        assert gone not in objects.all_keys()

    @pytest.mark.embedded
    def test_the_rows_of_a_part_are_found_by_an_index(self) -> None:
        four_owners()
        selects = [each for each in statements.of(reconcile) if each.name == "SELECT imagehost_file"]
        assert "imagehost_file_gallery" in plan_of(lambda: reconciliation._last_owner_of_part(OWNERS[0]))
        pages = [each for each in selects if "quarantined_at" in each.sql and "preview_attempts" in each.sql]
        for page in pages:
            plan = plan_of(functools.partial(_again, page))
            index = "gallery" if "owner_id" in page.sql.partition("WHERE")[2] else "quarantined"
            assert f"imagehost_file_{index}" in plan, plan


def _again(statement: statements.Statement) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement.sql, statement.values)


class TestInterrupted:
    @pytest.mark.parametrize("number", range(12))
    def test_wherever_it_crashes_the_next_run_finds_the_same(self, bucket_directory: Path, number: int) -> None:
        four_owners()
        lost = FileFactory(owner_id=OWNERS[1], uploaded_at=LONG_AGO)
        keys = [stray(f"files/{owner}/x.png", bucket_directory) for owner in OWNERS]
        try:
            reconciliation.reconcile(now=NOON, after_batch=crash_at(number))
        except Crash:
            assert Reconciliation.objects.exists()
        found = reconcile()
        assert (found.missing, found.objects) == ([lost.key], 12)
        assert (found.removed, found.left) == (4, 0)
        assert not set(keys) & set(objects.all_keys())
        assert not StrayObject.objects.exists()

    def test_what_is_done_is_not_done_again(self, listed: list[tuple[str, str, str]]) -> None:
        four_owners()

        def lost_in_the_third_part() -> None:
            if Reconciliation.objects.get().parts == 2:
                raise LeaseLost

        with pytest.raises(LeaseLost):
            reconciliation.reconcile(now=NOON, after_batch=lost_in_the_third_part)
        row = Reconciliation.objects.get()
        assert (row.stage, row.done_until, row.parts) == (Stage.OWNERS, OWNERS[1], 2)
        del listed[:]
        assert reconcile() == Comparison(objects=8)
        assert listed[0] == ("files/", f"files/{OWNERS[1]}0", f"files/{OWNERS[2]}0")

    def test_a_run_ends_in_time_and_the_next_goes_on(self) -> None:
        four_owners()
        runs = [reconcile(until=NOON)]
        while not runs[-1].is_finished:
            runs.append(reconcile(until=NOON))
        assert [run.objects for run in runs] == [2, 4, 6, 8, 8, 8, 8]  # then an empty part, quarantine, removal

    def test_two_runs_at_once_do_not_both_count_a_part(self) -> None:
        four_owners()
        others: list[Comparison] = []

        def run_elsewhere() -> None:
            if not others:
                others.append(Comparison())
                others[0] = reconcile(until=NOON)

        with pytest.raises(Overtaken):
            reconciliation.reconcile(now=NOON, after_batch=run_elsewhere)
        assert others[0].objects == 2
        assert reconcile() == Comparison(objects=8)

    def test_one_that_is_a_week_old_is_begun_again(self, clock: time_machine.Traveller) -> None:
        four_owners()
        reconcile(until=NOON)
        Reconciliation.objects.update(started_at=NOON - reconciliation.LONGEST)
        StrayObject.objects.create(key="files/of/then.png")
        assert reconcile(until=NOON).objects == 2
        assert not StrayObject.objects.exists()

    def test_after_a_restore_a_comparison_that_looks_for_less_is_begun_again(self) -> None:
        """What the first parts left out is looked for too."""
        four_owners()
        lost = FileFactory(owner_id=OWNERS[0], uploaded_at=NOON - timedelta(hours=1))
        reconcile(until=NOON)
        assert reconcile(until=NOON, is_after_restore=True).missing == [lost.key]
        assert reconcile().missing == [lost.key]  # the run of the night goes on as it was begun


class TestObjectsWithoutFiles:
    def test_nothing_is_removed_before_all_parts_are_compared(self, bucket_directory: Path) -> None:
        four_owners()
        key = stray(f"files/{OWNERS[0]}/x.png", bucket_directory)
        assert reconcile(until=NOON) == Comparison(objects=3, left=1, is_finished=False)
        assert key in objects.all_keys()

    def test_a_bucket_of_another_database_is_left_alone_over_all_runs(
        self, bucket_directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each run sees few of them; all together are too many."""
        monkeypatch.setattr(reconciliation, "FEW", 3)
        four_owners(files=1)
        strays = [stray(f"files/{owner}/x.png", bucket_directory) for owner in OWNERS]
        found = reconcile(until=NOON)
        while not found.is_finished:
            found = reconcile(until=NOON)
        assert found == Comparison(objects=8, left=4, is_suspicious=True)
        assert set(strays) < set(objects.all_keys())

    def test_strays_of_one_part_are_few_beside_the_whole_bucket(
        self, bucket_directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first part alone would look like another database's bucket."""
        monkeypatch.setattr(reconciliation, "FEW", 0)
        four_owners()
        for number in range(2):
            stray(f"files/{OWNERS[0]}/{number}.png", bucket_directory)
        assert reconcile(until=NOON).left == 2
        assert reconcile() == Comparison(objects=10, removed=2)

    def test_one_that_has_a_file_again_by_the_end_stays(self, bucket_directory: Path) -> None:
        """A backup of the database was restored between two runs."""
        four_owners()
        key = stray(f"files/{OWNERS[0]}/Aaaaaaa1.png", bucket_directory)
        reconcile(until=NOON)
        FileFactory(owner_id=OWNERS[0], key=key, size=7, uploaded_at=LONG_AGO)
        assert reconcile() == Comparison(objects=9, recounted=0)
        assert key in objects.all_keys()

    def test_not_more_than_some_are_removed_by_one_comparison(
        self, bucket_directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reconciliation, "STRAYS_KEPT", 4)
        for number in range(6):
            stray(f"files/somebody/{number}.png", bucket_directory)
        assert reconcile() == Comparison(objects=6, removed=4, left=2)
        assert reconcile() == Comparison(objects=2, removed=2)


class TestCommand:
    def run(self, **options: object) -> str:
        output = io.StringIO()
        call_command("reconcile_files", stdout=output, **options)
        return output.getvalue().strip()

    @pytest.mark.parametrize("how", ["--minutes", "run_jobs"])
    def test_its_turn_ends_without_a_success_and_the_next_is_soon(
        self, how: str, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from config.jobs import RETRY, scheduled

        four_owners()
        jobs.plant(["reconcile_files"])
        compare = reconciliation._Run.compare_next_part

        def slowly(run: reconciliation._Run) -> None:
            compare(run)
            clock.shift(timedelta(minutes=3))

        monkeypatch.setattr(reconciliation._Run, "compare_next_part", slowly)
        row = JobRun.objects.get(pk="reconcile_files")
        reported = self.run(**({"minutes": 5} if how == "--minutes" else {"seen": row}))
        assert reported == "Compared 4 objects so far; the next run goes on."
        row.refresh_from_db()
        assert (row.message, row.last_error, row.succeeded_at, row.lease_ends_at) == (reported, "", None, None)
        job = next(job for job in scheduled() if job.name == "reconcile_files")
        assert job.due_at(timezone.now()) == NOON + RETRY
        assert job.due_at(timezone.now()) <= timezone.now()
        assert self.run().startswith("Compared 8 objects, ")
        row.refresh_from_db()
        assert row.succeeded_at is not None
