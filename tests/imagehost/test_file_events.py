"""What the webhooks of a person hear of their files."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine

from accounts.models import User, WebhookDelivery
from imagehost import moderation
from imagehost.models import File, State
from imagehost.storing import files, quotas, sweeping
from imagehost.storing.storage import StorageFailed
from lookup.models import Report
from tests.factories.accounts import UserFactory, WebhookEndpointFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost import objects
from tests.imagehost.objects import NOON, FaultyStorage
from tests.imagehost.things import MODERATOR, made, member
from tests.lookup import statements
from tests.support.outbox import posted

# Objects are removed and moved after the commit.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("clock")]
HOUR = timedelta(hours=1)


@pytest.fixture
def ada() -> User:
    return UserFactory(username="Ada")


def _sweep(until: Any = NOON + HOUR) -> sweeping.Swept:
    return sweeping.sweep(now=NOON, until=until)


def _expired(owner: User, **values: Any) -> File:
    return FileFactory(owner=owner, expires_at=NOON - HOUR, **values)


def _facts(file: File) -> dict[str, Any]:
    folder = file.folder_id
    return {"id": str(file.pk), "folder": folder, "name": file.original_name, "url": file.url}


def test_a_file_that_staff_take_down_is_told_to_its_owner_once(ada: User) -> None:
    staff = member(*MODERATOR)
    endpoint, other = WebhookEndpointFactory(user=ada), WebhookEndpointFactory(user=staff)
    file = made("FILE", ada)
    assert isinstance(file, File)
    for _ in range(2):
        moderation.take_down(row=file, by=staff, reason="It sells lamps.", kind=Report.Reason.SPAM)
    assert posted(endpoint) == [("file.quarantined", ada.pk, {**_facts(file), "reason": "spam"})]
    assert posted(other) == []


@pytest.mark.parametrize("kind", ["ALBUM", "FOLDER"])
def test_an_album_or_a_folder_is_no_file(ada: User, kind: str) -> None:
    endpoint = WebhookEndpointFactory(user=ada)
    moderation.take_down(row=made(kind, ada), by=member(*MODERATOR), reason="It sells lamps.")
    assert posted(endpoint) == []


def test_files_that_expire_are_told_with_where_they_were(ada: User) -> None:
    endpoint, other = WebhookEndpointFactory(user=ada), WebhookEndpointFactory(user=UserFactory())
    paused = WebhookEndpointFactory(user=ada, disabled_at=NOON, disabled_by="OWNER")
    first = _expired(ada, folder=FolderFactory(owner=ada), original_name="lamp.png", uploaded_at=NOON - 3 * HOUR)
    second = _expired(ada, uploaded_at=NOON - 2 * HOUR)
    kept = FileFactory(owner=ada, expires_at=NOON + HOUR)
    assert files.delete(file=FileFactory(owner=ada), by=ada)
    assert _sweep().expired == 2
    assert sorted(posted(endpoint), key=str) == sorted(
        (("file.expired", ada.pk, _facts(file)) for file in (first, second)), key=str
    )
    assert (posted(other), posted(paused)) == ([], [])
    assert list(File.objects.all()) == [kept]
    assert _sweep().expired == 0


def test_what_the_store_keeps_is_told_once(ada: User, bucket: FaultyStorage) -> None:
    endpoint = WebhookEndpointFactory(user=ada)
    objects.put(_expired(ada))
    bucket.faults["remove"] = StorageFailed
    for _ in range(2):
        _sweep()
    assert len(posted(endpoint)) == 1


def test_none_expires_after_the_end_of_the_job(ada: User, clock: time_machine.Traveller) -> None:
    endpoint = WebhookEndpointFactory(user=ada)
    file = _expired(ada)
    assert _sweep(until=NOON).expired == 0
    file.refresh_from_db()
    assert (file.state, posted(endpoint)) == (State.READY, [])


def test_many_files_are_one_search_and_one_insert_for_a_batch(ada: User, bucket: FaultyStorage) -> None:
    people = [ada, UserFactory(), UserFactory()]
    for owner in people:
        WebhookEndpointFactory(user=owner)
    many = [_expired(people[number % 3], size=100) for number in range(30)]
    asked = statements.names(lambda: files.expire(files=many, since=NOON))
    assert asked.count("SELECT accounts_webhookendpoint") == 1
    assert asked.count("INSERT accounts_webhookdelivery") == 1
    assert asked.count("UPDATE imagehost_usage") == 3
    assert len(asked) <= 10
    assert WebhookDelivery.objects.count() == 30
    assert [quotas.used(owner.pk) for owner in people] == [0, 0, 0]
    assert files.expire(files=many, since=NOON) == []
    assert WebhookDelivery.objects.count() == 30
