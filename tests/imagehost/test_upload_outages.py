"""The database or the limit store goes away during an upload: a documented answer, and nothing is stored or booked."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from imagehost.models import File, State
from imagehost.receiving import sweeping
from imagehost.receiving.sweeping import Swept
from imagehost.storing import quotas
from infrastructure import limits
from tests.imagehost import objects, uploading
from tests.imagehost.objects import FaultyStorage
from tests.imagehost.uploading import FORMS, png, upload
from tests.lookup.statements import Statement
from tests.support.redis_commands import UNREACHABLE

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


@pytest.mark.parametrize("form", FORMS)
def test_a_database_that_cannot_tell_the_key_is_503(form: str, bucket_directory: Path) -> None:
    owner = uploading.uploader()
    with away("SELECT accounts_apikey", stays=math.inf):
        assert upload(png(), form=form).whole == (503, UNAVAILABLE)
    assert_nothing_is_left(owner, bucket_directory)


@pytest.mark.parametrize("form", FORMS)
def test_a_limit_store_that_is_away_is_503(
    form: str, settings: Settings, request: pytest.FixtureRequest, bucket_directory: Path
) -> None:
    owner = uploading.uploader()
    settings.CACHES, settings.LIMIT_STORE = UNREACHABLE, "infrastructure.limits.redis_limits.RedisLimits"
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
