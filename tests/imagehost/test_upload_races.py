"""Many uploads at the same moment."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from accounts import users
from imagehost.models import File, State
from imagehost.receiving import sweeping
from imagehost.storing import quotas
from tests.factories.imagehost import FileFactory
from tests.imagehost import uploading
from tests.imagehost.uploading import FORMS, png
from tests.support.threads import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_unlimited"), pytest.mark.embedded]
GIGABYTE = 1024**3
MANY = 12


@pytest.fixture
def _unlimited(settings: Settings) -> None:
    settings.RATE_LIMITS_ENABLED = False


def _upload_together(count: int, content: bytes) -> list[tuple[int, str]]:
    """In all forms; the outcomes, sorted."""

    def act(number: int) -> tuple[int, str]:
        form = FORMS[number % len(FORMS)]
        return uploading.sent(uploading.form_of(content, form=form), uploading.headers_of(form)).outcome

    return sorted(together(count, act))


@pytest.mark.parametrize("room", [0, 5])
def test_many_uploads_at_once_never_pass_the_total(room: int, settings: Settings, bucket_directory: Path) -> None:
    """There is room for `room` of them, and for all but one byte of another."""
    owner = uploading.uploader()
    size = len(png())
    before = GIGABYTE - room * size - (size - 1)
    FileFactory(owner=owner, size=before)
    outcomes = _upload_together(MANY, png())
    assert outcomes == [(200, "")] * room + [(400, "QUOTA_EXCEEDED")] * (MANY - room)
    assert quotas.used(owner.pk) == before + room * size <= GIGABYTE
    with transaction.atomic():
        assert quotas.recount(owner_id=owner.pk) == 0
    assert File.objects.filter(state=State.READY).count() == room + 1
    assert len([path for path in bucket_directory.rglob("*") if path.is_file()]) == room
    assert list(Path(settings.IMAGEHOST_INCOMING).glob("*")) == []


def test_the_first_uploads_of_a_user_may_come_at_once() -> None:
    owner = uploading.uploader()
    assert _upload_together(6, png()) == [(200, "")] * 6
    assert quotas.used(owner.pk) == 6 * len(png())


def test_uploads_that_fail_at_once_book_nothing(bucket_directory: Path, settings: Settings) -> None:
    owner = uploading.uploader()
    bucket_directory.write_text("a file stands where the folder should be")
    assert _upload_together(6, png()) == [(500, "UPLOAD_FAILED")] * 6
    assert quotas.used(owner.pk) == 0
    assert not File.objects.booked().exists()
    assert list(Path(settings.IMAGEHOST_INCOMING).glob("*")) == []


def test_an_account_goes_away_while_its_uploads_come(bucket_directory: Path) -> None:
    """Each upload comes wholly before the deletion, and goes with the account, or wholly after it, and is refused."""
    owner = uploading.uploader()
    FileFactory(owner=owner)

    def act(number: int) -> tuple[int, str]:
        if number == 0:
            users.delete(user=owner, by=None)
            return 0, ""
        return uploading.sent(uploading.form_of(png()), uploading.headers_of("current")).outcome

    outcomes = set(together(6, act)[1:])
    assert outcomes <= {(200, ""), (401, "UNAUTHORIZED"), (500, "UPLOAD_FAILED")}
    assert not File.objects.exclude(state=State.DELETED).exists()
    sweeping.sweep(now=timezone.now(), until=timezone.now() + timedelta(minutes=1))
    assert not File.objects.exists()
    assert [path for path in bucket_directory.rglob("*") if path.is_file()] == []
