"""`make_previews`: every new upload gets its thumbnail or poster, and none of them stops the others."""

from __future__ import annotations

import io
from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
import time_machine
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from PIL import Image
from pytest_django import Settings

from imagehost import media
from imagehost.examining.probing import ProberFailed
from imagehost.media import MediaType
from imagehost.models import File, PreviewState, PreviewTurn
from imagehost.storing import files, previews, storage
from imagehost.storing.previews import Work
from imagehost.storing.storage import StorageFailed
from tests.factories.imagehost import FileFactory
from tests.imagehost import objects
from tests.imagehost.objects import NOON, FaultyStorage
from tests.imagehost.plans import plan_of
from tests.lookup import statements
from tests.support.threads import together

pytestmark = pytest.mark.usefixtures("clock")
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


def stored(
    content: bytes | None = None, *, type_: MediaType = media.PNG, at: datetime = NOON, **values: object
) -> File:
    """An upload with its object."""
    content = content or objects.picture()
    file = FileFactory(media=type_, size=len(content), uploaded_at=at, preview_due_at=at, **values)
    objects.put(file, content=content)
    return file


def make(turn: timedelta = HOUR) -> Work:
    return previews.make(until=NOON + turn)


def state_of(file: File) -> tuple[str, int | None, int | None, int]:
    file.refresh_from_db()
    return file.preview_state, file.preview_width, file.preview_height, file.preview_attempts


WAITING, FAILED = (PreviewState.WAITING, None, None), (PreviewState.FAILED, None, None)


@pytest.mark.django_db
class TestWhatIsMade:
    def test_an_image_gets_a_small_webp(self) -> None:
        file = stored(objects.picture(1280, 640))
        assert make() == Work(made=1)
        assert state_of(file) == (PreviewState.MADE, 640, 320, 1)
        with storage.bucket().fetched(file.preview_key) as path, Image.open(path, formats=["WEBP"]) as preview:
            assert (preview.size, preview.getpixel((9, 9))) == ((640, 320), (0, 128, 128))

    def test_what_has_one_or_is_not_stored_is_left_alone(self) -> None:
        FileFactory(preview_state=PreviewState.MADE)
        FileFactory(preview_state=PreviewState.FAILED)
        FileFactory(state="PENDING")
        FileFactory(state="DELETED")
        assert make() == Work()
        assert objects.all_keys() == []

    def test_the_oldest_come_first_and_none_is_begun_after_the_end_of_the_turn(self) -> None:
        new, old = stored(), stored(at=NOON - MINUTE)
        assert make(turn=timedelta(0)) == Work(made=1)
        assert (state_of(old)[0], state_of(new)[0]) == (PreviewState.MADE, PreviewState.WAITING)
        assert make(turn=timedelta(0)) == Work(made=1)
        assert state_of(new)[0] == PreviewState.MADE


@pytest.mark.django_db
class TestFailures:
    @pytest.mark.parametrize("content", [objects.picture(640, 480)[:30], b"no picture at all"])
    def test_what_does_not_decode_gets_none_and_is_not_tried_again(self, content: bytes) -> None:
        broken, sound = stored(content), stored()
        assert make() == Work(made=1, given_up=1)
        assert (state_of(broken), state_of(sound)[0]) == ((*FAILED, 1), PreviewState.MADE)
        assert make() == Work()

    def test_a_file_whose_object_lies_elsewhere_is_tried_again(self, caplog: pytest.LogCaptureFixture) -> None:
        """By a worker of another host, perhaps, which has it on its disk."""
        file, sound = FileFactory(preview_due_at=NOON - MINUTE), stored()
        assert make() == Work(made=1, postponed=1)
        assert (state_of(file), state_of(sound)[0]) == ((*WAITING, 1), PreviewState.MADE)
        assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
            ("WARNING", f"The preview of {file.key} failed at try 1.")
        ]

    @pytest.mark.parametrize(("method", "fault"), [("fetched", StorageFailed), ("keep_bytes", ProberFailed)])
    def test_our_own_trouble_is_tried_again_later_and_at_last_given_up(
        self, bucket: FaultyStorage, clock: time_machine.Traveller, method: str, fault: type[Exception]
    ) -> None:
        """The pauses count from the last try: those of an old file are as long."""
        file = stored(at=NOON - 24 * HOUR)
        key = file.key if method == "fetched" else file.preview_key
        bucket.faults[f"{method} {key}"] = fault
        for attempts, pause in enumerate((MINUTE, 10 * MINUTE, HOUR, 6 * HOUR)):
            assert previews.make(until=NOON + 24 * HOUR) == Work(postponed=1)
            assert state_of(file) == (*WAITING, attempts + 1)
            clock.shift(pause - SECOND)
            assert previews.make(until=NOON + 24 * HOUR) == Work()
            clock.shift(SECOND)
        assert previews.make(until=NOON + 24 * HOUR) == Work(given_up=1)
        assert state_of(file) == (*FAILED, 5)


def claim() -> File:
    file = previews._claim(Work())
    assert file is not None
    return file


def claim_of(file: File) -> File:
    claimed = claim()
    assert claimed == file
    return claimed


@pytest.mark.embedded
@pytest.mark.django_db
class TestClaims:
    def test_a_claimed_file_is_left_to_its_worker_for_five_minutes(self, clock: time_machine.Traveller) -> None:
        file = stored()
        claim()
        clock.shift(5 * MINUTE - SECOND)
        assert make() == Work()
        clock.shift(SECOND)
        assert make() == Work(made=1)
        assert state_of(file) == (PreviewState.MADE, 8, 8, 2)

    @pytest.mark.parametrize("attempts", range(1, 6))
    def test_a_worker_whose_claim_another_one_has_changes_nothing(
        self, clock: time_machine.Traveller, attempts: int
    ) -> None:
        """Neither its failure nor its preview counts, and the other one's preview stays."""
        file = stored()
        File.objects.update(preview_attempts=attempts - 1)
        late = claim()
        clock.shift(5 * MINUTE)
        File.objects.update(preview_attempts=attempts - 1)
        other = claim()
        work = Work()
        previews._postpone(late, work)
        previews._make(late, work)
        previews.give_back(late)
        assert (work, previews._give_up(late), state_of(file)) == (Work(), 0, (*WAITING, attempts))
        previews._make(other, work)
        assert (work, state_of(file)) == (Work(made=1), (PreviewState.MADE, 8, 8, attempts))
        previews._make(late, work)
        assert objects.all_keys() == sorted([file.key, file.preview_key])

    def test_a_claim_that_is_given_back_also_by_an_interrupted_job_is_no_try(self, bucket: FaultyStorage) -> None:
        file = stored()
        previews.give_back(claim())
        assert state_of(file) == (*WAITING, 0)
        bucket.faults["fetched"] = KeyboardInterrupt
        with pytest.raises(KeyboardInterrupt):
            make()
        assert state_of(file) == (*WAITING, 0)
        bucket.faults.clear()
        assert make() == Work(made=1)

    def test_a_file_that_ends_its_worker_each_time_is_given_up_after_five(
        self, clock: time_machine.Traveller, caplog: pytest.LogCaptureFixture
    ) -> None:
        file = stored()
        for _ in range(5):
            claim()
            clock.shift(5 * MINUTE)
        stored()
        assert make() == Work(made=1, given_up=1)
        assert state_of(file) == (*FAILED, 6)
        assert caplog.messages == [f"{file.key} gets no preview: its workers ended 5 times."]


@pytest.mark.embedded
@pytest.mark.django_db
class TestTurns:
    """One file of an owner at a time, and for a bounded time of the processor."""

    def test_a_second_file_of_an_owner_waits_for_the_first(self) -> None:
        first = stored(at=NOON - MINUTE)
        second, other = stored(owner=first.owner), stored()
        claimed = claim()
        assert (claimed, claim()) == (first, other)
        assert previews._claim(Work()) is None
        previews._make(claimed, Work())
        assert claim() == second

    def test_a_page_leaves_the_turn_to_the_worker_that_has_it(self) -> None:
        other = stored(owner=claim_of(stored()).owner)
        assert not previews._claim_one(other)
        assert state_of(other) == (*WAITING, 0)

    def test_owners_take_turns_however_many_files_one_has(self) -> None:
        first = stored(at=NOON - MINUTE)
        several = [stored(at=NOON - MINUTE, owner=first.owner) for _ in range(3)]
        other = stored()
        assert [make(turn=timedelta(0)) for _ in range(2)] == [Work(made=1)] * 2
        made = File.objects.filter(preview_state=PreviewState.MADE)
        assert (made.filter(owner=first.owner).count(), state_of(other)[0]) == (1, PreviewState.MADE)
        assert make() == Work(made=len(several))

    def test_an_owner_waits_until_more_than_ten_seconds_a_minute_are_paid_off(
        self, clock: time_machine.Traveller
    ) -> None:
        file = claim_of(stored())
        later = stored(owner=file.owner)
        previews._end_turn(file, spent=15.0)
        assert previews._claim(Work()) is None
        clock.shift(30 * SECOND - SECOND)
        assert previews._claim(Work()) is None
        clock.shift(SECOND)
        assert claim() == later

    def test_an_unexpected_error_ends_the_turn(self, monkeypatch: pytest.MonkeyPatch) -> None:
        other = stored()
        stored(at=NOON - MINUTE, owner=other.owner)
        with monkeypatch.context() as broken:
            broken.setattr(previews, "_finish", Mock(side_effect=DatabaseError))
            with pytest.raises(DatabaseError):
                make()
        assert claim() == other

    def test_what_a_preview_costs_is_noted(self) -> None:
        file = stored(objects.picture(2000, 2000))
        assert make() == Work(made=1)
        turn = PreviewTurn.objects.get()
        assert (turn.owner_id, turn.busy_until) == (file.owner_id, NOON)
        assert NOON < turn.spent_until < NOON + MINUTE

    def test_a_worker_whose_claim_ended_does_not_end_the_turn_of_another(self, clock: time_machine.Traveller) -> None:
        late = claim_of(stored())
        clock.shift(5 * MINUTE)
        other = claim()
        previews._end_turn(late, spent=15.0)
        turn = PreviewTurn.objects.get()
        assert (turn.busy_until, turn.spent_until) == (other.preview_due_at, NOON)


class DeletingStorage(FaultyStorage):
    """Somebody deletes the file while its preview is made, before or after it is written."""

    def keep_bytes(self, key: str, content: bytes, *, mime: str) -> None:
        if self.faults.pop("before", None):
            self._delete(key)
        super().keep_bytes(key, content, mime=mime)
        if self.faults.pop("behind", None):
            self._delete(key)

    def _delete(self, key: str) -> None:
        (file,) = [file for file in File.objects.all() if file.preview_key == key]
        assert files.delete(file=file, by=None)


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
class TestConcurrency:
    @pytest.mark.parametrize("moment", ["before", "behind"])
    def test_a_file_that_is_deleted_meanwhile_leaves_no_preview(
        self, settings: Settings, bucket_directory: Path, monkeypatch: pytest.MonkeyPatch, moment: str
    ) -> None:
        bucket = objects.faulty(settings, bucket_directory, DeletingStorage)
        stored()
        bucket.faults[moment] = Exception
        assert make() == Work()
        assert (objects.all_keys(), File.objects.count()) == ([], 0)

    def test_a_preview_that_cannot_be_taken_back_is_logged(
        self, settings: Settings, bucket_directory: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The nightly comparison removes it."""
        bucket = objects.faulty(settings, bucket_directory, DeletingStorage)
        key = stored().preview_key
        bucket.faults |= {"before": Exception, f"remove {key}": StorageFailed}
        assert make() == Work()
        assert (objects.all_keys(), caplog.records[-1].levelname, caplog.records[-1].getMessage()) == (
            [key],
            "ERROR",
            f"{key} has no file and could not be removed; reconcile_files will.",
        )

    def test_a_file_that_is_deleted_before_it_is_read_is_no_error(
        self, bucket: FaultyStorage, caplog: pytest.LogCaptureFixture
    ) -> None:
        stored()
        file, work = claim(), Work()
        files.delete(file=file, by=None)
        previews._make(file, work)
        assert (work, objects.all_keys(), caplog.records) == (Work(), [], [])

    def test_of_several_workers_one_makes_each_preview(self) -> None:
        waiting = [stored() for _ in range(8)]
        work = together(4, lambda _: make())
        assert sum(one.made for one in work) == len(waiting)
        assert [one.given_up + one.postponed for one in work] == [0] * 4
        assert {state_of(file) for file in waiting} == {(PreviewState.MADE, 8, 8, 1)}
        assert objects.all_keys() == sorted(key for file in waiting for key in (file.key, file.preview_key))


@pytest.mark.embedded
@pytest.mark.django_db
class TestCosts:
    def test_nothing_to_do_is_one_query(self) -> None:
        FileFactory(preview_state=PreviewState.MADE)
        assert statements.names(make) == ["SELECT imagehost_file"]

    def test_each_preview_is_two_reads_and_two_updates_and_its_owners_turn(self) -> None:
        first = stored()
        for _ in range(2):
            stored(owner=first.owner)
        make_all = statements.names(make)
        select, update = "SELECT imagehost_file", "UPDATE imagehost_file"
        turn = "imagehost_previewturn"
        names = [name for name in make_all if " imagehost" in name]
        begun, ended = [select, select, f"SELECT {turn}"], [update, update, f"UPDATE {turn}"]
        again = [*begun, f"UPDATE {turn}", *ended]
        assert names == [*begun, f"INSERT {turn}", *ended, *again, *again, select]

    def test_what_is_due_is_found_by_its_index(self) -> None:
        """As many as are due at one time, such as after a migration: none of them is sorted."""
        FileFactory()
        plan = plan_of(previews._due(NOON)[: previews.LOOKAHEAD].first)
        assert "imagehost_file_preview_next" in plan
        assert "Sort" not in plan
        assert "TEMP B-TREE" not in plan


@pytest.mark.django_db
def test_the_command_says_what_it_did(bucket: FaultyStorage) -> None:
    output = io.StringIO()
    call_command("make_previews", stdout=output)
    stored()
    stored(b"no picture")
    bucket.faults[f"fetched {stored().key}"] = StorageFailed
    call_command("make_previews", stdout=output)
    assert output.getvalue().splitlines() == [
        "Made 0 previews.",
        "Made 1 previews. 1 files get none. 1 have to be tried again.",
    ]


if connection.vendor == "postgresql":  # SQLite has one writer

    @pytest.mark.django_db(transaction=True)
    def test_a_file_that_another_worker_is_taking_is_passed_over_at_once() -> None:
        first, second = stored(), stored()
        File.objects.filter(pk=first.pk).update(preview_due_at=NOON - MINUTE)
        with transaction.atomic():
            assert previews._due(NOON).select_for_update(skip_locked=True).first() == first
            assert together(1, lambda _: previews._claim(Work())) == [second]
