"""Quarantine: nothing of the file is served, its object has another key, and lifting brings it back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import AuditEvent
from imagehost.models import File, PreviewState
from imagehost.storing import files, previews, quarantine, quotas, reconciliation, sweeping
from imagehost.storing.reconciliation import Comparison
from imagehost.storing.storage import StorageFailed
from imagehost.storing.sweeping import Swept
from tests.factories.accounts import StaffFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost import objects
from tests.imagehost.objects import FaultyStorage
from tests.imagehost.public_pages import stored
from tests.lookup import statements

pytestmark = pytest.mark.django_db(transaction=True)  # objects move after the commit

DAY = timedelta(days=1)
TAKEN_DOWN = [451, 451, 404, 404]  # of `statuses`


def impose(file: File) -> File:
    """The row as it is then."""
    quarantine.impose(file=file, by=StaffFactory(), reason="Reported")
    return File.objects.get(pk=file.pk)


def lift(file: File) -> File:
    quarantine.lift(file=file, by=StaffFactory(), reason="Fine")
    return File.objects.get(pk=file.pk)


def sweep() -> Swept:
    now = timezone.now()
    return sweeping.sweep(now=now, until=now + DAY)


def in_public_folder() -> File:
    return stored(content=objects.picture(), preview=b"preview", folder=FolderFactory(is_public=True))


def statuses(file: File) -> list[int]:
    """Of the file, its page and both addresses of its preview."""
    paths = (
        *(f"/media/{file.file_name}", f"/files/{file.name}", f"/files/{file.name}/preview.webp"),
        f"/folders/{file.folder_id}/previews/{file.name}.webp",
    )
    answers = [Client().get(path) for path in paths]
    return [answer.status_code for answer in answers if answer.getvalue() is not None]


@pytest.mark.parametrize("delivery", ["direct", "accel", "redirect"])
def test_nothing_is_served_of_a_quarantined_file_until_it_is_lifted(delivery: str, settings: Settings) -> None:
    settings.FILE_DELIVERY = delivery
    file = in_public_folder()
    assert statuses(file) == [200] * 4
    away = impose(file)
    assert (statuses(file), objects.all_keys()) == (TAKEN_DOWN, [away.key])
    assert (away.key.startswith("quarantine/"), away.preview_state) == (True, PreviewState.WAITING)
    back = lift(away)
    assert statuses(file) == [200, 200, 404, 404]
    assert back.key not in {file.key, away.key}
    assert previews.make(until=timezone.now() + DAY).made == 1
    assert statuses(file) == [200] * 4
    assert objects.all_keys() == [back.key, back.preview_key]


@pytest.mark.parametrize("is_by_link", [False, True])
def test_a_file_that_was_read_before_its_quarantine_leaves_no_object(is_by_link: bool) -> None:
    file = in_public_folder()
    away = impose(file)
    assert objects.all_keys() == [away.key]
    assert files.delete(file=file, by=None if is_by_link else file.owner)
    assert (objects.all_keys(), File.objects.exists()) == ([], False)


def test_quarantine_and_back_are_written_down_once_each() -> None:
    file, staff = FileFactory(size=7), StaffFactory()
    for _ in range(2):
        quarantine.impose(file=file, by=staff, reason="Reported")
    assert not File.objects.delivered().exists()
    assert quotas.used(file.owner_id or "") == 7
    for _ in range(2):
        quarantine.lift(file=file, by=staff, reason="Fine")
    assert File.objects.delivered().exists()
    assert list(AuditEvent.objects.order_by("pk").values_list("verb", "reason")) == [
        ("file:quarantined", "Reported"),
        ("file:restored", "Fine"),
    ]
    # The key is for caches to purge.
    assert AuditEvent.objects.get(verb="file:quarantined").data == {"owner": file.owner_id, "key": file.key}


def test_a_store_that_fails_delays_the_move_and_the_restoration_and_serves_nothing(bucket: FaultyStorage) -> None:
    file = in_public_folder()
    bucket.faults["move"] = StorageFailed
    away = impose(file)
    assert (away.moves_from, statuses(file)) == (file.key, TAKEN_DOWN)
    assert lift(away) == away  # not before it has moved
    with pytest.raises(
        CommandError, match=r"0 moves, removed 0 leftovers\. The store failed for 1 deleted, quarantined"
    ):
        call_command("sweep_uploads")
    bucket.faults.clear()
    assert sweep() == Swept(moves=1)
    away.refresh_from_db()
    assert (away.moves_from, objects.all_keys()) == ("", [away.key])
    assert sweep() == Swept()
    bucket.faults["move"] = StorageFailed
    assert (lift(away).quarantined_at, statuses(file)) == (None, [404] * 4)
    bucket.faults.clear()
    assert sweep() == Swept(moves=1)
    assert statuses(file) == [200, 200, 404, 404]


@pytest.mark.parametrize("fault", ["move", "after move"])
def test_a_deletion_in_the_middle_of_a_move_leaves_no_object(fault: str, bucket: FaultyStorage) -> None:
    bucket.faults[fault] = StorageFailed
    file = impose(in_public_folder())
    bucket.faults.clear()
    assert files.delete(file=file, by=None)
    assert (objects.all_keys(), File.objects.exists()) == ([], False)
    # An object that arrives after that is removed.
    objects.put_key(file.key)
    assert quarantine.finish_move(file)
    assert objects.all_keys() == []


def test_a_second_mover_changes_nothing(bucket: FaultyStorage) -> None:
    bucket.faults["move"] = StorageFailed
    first = impose(in_public_folder())
    bucket.faults.clear()
    for _ in range(2):
        assert quarantine.finish_move(first)
    back = lift(File.objects.get())
    assert quarantine.finish_move(first)
    assert (File.objects.get(), objects.all_keys()) == (back, [back.key])
    assert statuses(back)[:2] == [200, 200]


def test_a_preview_that_was_being_made_goes_with_the_quarantine() -> None:
    file = stored(content=objects.picture())
    before = File.objects.get()
    impose(file)
    work = previews.Work()
    objects.put_key(file.key, objects.picture())  # what the preview's maker has read already
    previews._make(before, work)
    assert (work, file.preview_key in objects.all_keys()) == (previews.Work(), False)


@pytest.mark.parametrize("fault", ["", "move", "after move"])
def test_the_comparison_leaves_quarantined_and_moving_objects_alone(fault: str, bucket: FaultyStorage) -> None:
    bucket.faults[fault] = StorageFailed
    file = stored(content=objects.picture(), uploaded_at=timezone.now() - 3 * DAY)
    impose(file)
    kept = objects.all_keys()
    assert reconciliation.reconcile(now=timezone.now() + 3 * DAY) == Comparison(objects=1)
    assert objects.all_keys() == kept


def test_the_comparison_keeps_the_preview_of_a_lifted_file() -> None:
    back = lift(impose(stored(content=objects.picture())))
    previews.make(until=timezone.now() + DAY)
    assert reconciliation.reconcile(now=timezone.now() + 3 * DAY) == Comparison(objects=2)
    assert objects.all_keys() == [back.key, back.preview_key]


@pytest.mark.embedded
def test_the_end_of_a_move_is_one_update() -> None:
    file = FileFactory(moves_from="files/x/1.png")
    assert statements.names(lambda: quarantine.finish_move(file)) == ["UPDATE imagehost_file"]
