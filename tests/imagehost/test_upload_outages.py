"""Uploads while the database or the limit store goes away, and many at once: nothing is stored or booked in vain."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, connection, transaction
from django.utils import timezone
from pytest_django import Settings

from accounts import users
from accounts.models import User
from imagehost.models import File, State
from imagehost.storing import quotas, sweeping
from imagehost.storing.sweeping import Swept
from infrastructure import limits
from tests.factories.imagehost import FileFactory
from tests.imagehost import objects, uploading
from tests.imagehost.objects import FaultyStorage
from tests.imagehost.uploading import FORMS, png, upload
from tests.lookup.statements import Statement
from tests.support.redis_commands import UNREACHABLE
from tests.support.threads import together

pytestmark = pytest.mark.django_db(transaction=True)
READY = "UPDATE imagehost_file"
UNAVAILABLE = {"error": "Files cannot be stored at the moment. Please try again.", "code": "UNAVAILABLE"}
FAILED = {"error": "The file could not be stored. Please try again.", "code": "UPLOAD_FAILED"}


def away(
    name: str, *, is_done: bool = False, stays: float = 0, error: type[Exception] = OperationalError
) -> AbstractContextManager[None]:
    """The first statement of that name fails, and the `stays` after it too. `is_done`: after it was done."""
    failed = 0

    def execute(run: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        """Any: the form that Django calls."""
        nonlocal failed
        if 0 < failed <= stays:
            failed += 1
            raise error("gone")
        if failed or Statement(sql, params).name != name:
            return run(sql, params, many, context)
        failed = 1
        if is_done:
            run(sql, params, many, context)
        raise error("gone")

    return connection.execute_wrapper(execute)


def assert_nothing_is_left(owner: User, bucket_directory: Path) -> None:
    assert uploading.nothing_is_left(bucket_directory)
    assert quotas.used(owner.pk) == 0


@pytest.mark.embedded
@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
@pytest.mark.parametrize(
    "name",
    ["SELECT accounts_user", "SELECT imagehost_folderrule", "UPDATE imagehost_usage", "INSERT imagehost_file"],
)
def test_a_database_that_goes_away_before_the_write_is_503(
    name: str, error: type[Exception], bucket_directory: Path
) -> None:
    owner = uploading.uploader()
    with away(name, error=error):
        answer = upload(png())
    assert (answer.whole, answer.headers["Retry-After"]) == ((503, UNAVAILABLE), "1")
    assert_nothing_is_left(owner, bucket_directory)
    assert upload(png()).status == 200


@pytest.mark.parametrize("form", FORMS[::3])
def test_a_database_that_cannot_tell_the_key_and_a_limit_store_that_is_away_are_503(
    form: str, settings: Settings, request: pytest.FixtureRequest, bucket_directory: Path
) -> None:
    owner = uploading.uploader()
    with away("SELECT accounts_apikey", stays=math.inf):
        assert upload(png(), form=form).whole == (503, UNAVAILABLE)
    settings.CACHES, settings.LIMIT_STORE = UNREACHABLE, "infrastructure.limits.in_redis.RedisLimits"
    limits._store.cache_clear()
    request.addfinalizer(limits._store.cache_clear)
    assert upload(png(), form=form).whole == (503, UNAVAILABLE)
    assert_nothing_is_left(owner, bucket_directory)


@pytest.mark.embedded
@pytest.mark.parametrize("stays", [0, 3])
@pytest.mark.parametrize("is_done", [False, True])
def test_a_database_that_goes_away_after_the_write_takes_the_upload_back(
    bucket: FaultyStorage, bucket_directory: Path, *, is_done: bool, stays: int
) -> None:
    """Also where the row became READY and the answer was lost, and where a restart broke further connections."""
    owner = uploading.uploader()
    with away(READY, is_done=is_done, stays=stays):
        assert upload(png()).whole == (500, FAILED)
    assert_nothing_is_left(owner, bucket_directory)


@pytest.mark.embedded
def test_an_upload_that_cannot_be_taken_back_is_swept_up(bucket: FaultyStorage, bucket_directory: Path) -> None:
    owner = uploading.uploader()
    with away(READY, stays=math.inf):
        assert upload(png()).whole == (500, FAILED)
    assert (File.objects.get().state, len(objects.all_keys())) == (State.PENDING, 1)
    later = timezone.now() + timedelta(hours=2)
    assert sweeping.sweep(now=later, until=later + timedelta(hours=1)) == Swept(uploads=1)
    assert_nothing_is_left(owner, bucket_directory)


def test_a_connection_that_ends_after_the_write_is_made_anew(
    bucket: FaultyStorage, bucket_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = bucket.keep

    def keep_and_lose_the_connection(*args: Any, **kwargs: Any) -> None:
        keep(*args, **kwargs)
        with psycopg.connect(_url(), autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [connection.connection.info.backend_pid])

    owner = uploading.uploader()
    monkeypatch.setattr(bucket, "keep", keep_and_lose_the_connection)
    assert upload(png()).whole == (500, FAILED)
    assert_nothing_is_left(owner, bucket_directory)


def _url() -> str:
    """Of the database of this test."""
    server = connection.settings_dict
    return f"postgres://{server['USER']}@{server['HOST']}:{server['PORT']}/{server['NAME']}"


GIGABYTE = 1024**3
MANY = 12


@pytest.fixture
def _unlimited(settings: Settings) -> None:
    settings.RATE_LIMITS_ENABLED = False


UNLIMITED = pytest.mark.usefixtures("_unlimited")


def _upload_together(count: int, content: bytes) -> list[tuple[int, str]]:
    """In all forms; the outcomes, sorted."""

    def act(number: int) -> tuple[int, str]:
        form = FORMS[number % len(FORMS)]
        return uploading.post(uploading.form_of(content, form=form), uploading.headers_of(form), is_alone=False).outcome

    return sorted(together(count, act))


@UNLIMITED
@pytest.mark.embedded
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


@UNLIMITED
@pytest.mark.embedded
def test_the_first_uploads_of_a_user_may_come_at_once() -> None:
    owner = uploading.uploader()
    assert _upload_together(6, png()) == [(200, "")] * 6
    assert quotas.used(owner.pk) == 6 * len(png())


@UNLIMITED
@pytest.mark.embedded
def test_uploads_that_fail_at_once_book_nothing(bucket_directory: Path, settings: Settings) -> None:
    owner = uploading.uploader()
    bucket_directory.write_text("a file stands where the folder should be")
    assert _upload_together(6, png()) == [(500, "UPLOAD_FAILED")] * 6
    assert quotas.used(owner.pk) == 0
    assert not File.objects.booked().exists()
    assert list(Path(settings.IMAGEHOST_INCOMING).glob("*")) == []


@UNLIMITED
@pytest.mark.embedded
def test_an_account_goes_away_while_its_uploads_come(bucket_directory: Path) -> None:
    """Each upload comes wholly before the deletion, and goes with the account, or wholly after it, and is refused."""
    owner = uploading.uploader()
    FileFactory(owner=owner)

    def act(number: int) -> tuple[int, str]:
        if number == 0:
            users.delete(user=owner, by=None)
            return 0, ""
        return uploading.post(uploading.form_of(png()), uploading.headers_of("current"), is_alone=False).outcome

    outcomes = set(together(6, act)[1:])
    assert outcomes <= {(200, ""), (401, "UNAUTHORIZED"), (500, "UPLOAD_FAILED")}
    assert not File.objects.exclude(state=State.DELETED).exists()
    sweeping.sweep(now=timezone.now(), until=timezone.now() + timedelta(minutes=1))
    assert not File.objects.exists()
    assert [path for path in bucket_directory.rglob("*") if path.is_file()] == []
