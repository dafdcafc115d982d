"""What a night's comparison looks at."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from imagehost import reconciliation
from imagehost.models import File
from imagehost.reconciliation import Found
from tests.factories.imagehost import FileFactory
from tests.imagehost import objects

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LONG_AGO = NOON - timedelta(days=30)


def reconcile(*, until: datetime | None = None, is_after_restore: bool = False, may_remove_many: bool = False) -> Found:
    return reconciliation.reconcile(
        now=NOON, until=until, is_after_restore=is_after_restore, may_remove_many=may_remove_many
    )


def stored(**values: object) -> File:
    """A file of a month ago with its object."""
    file = FileFactory(uploaded_at=LONG_AGO, **values)
    objects.put(file)
    return file


def stray(key: str, directory: Path, age: timedelta = timedelta(days=2)) -> str:
    """An object without a file."""
    objects.put_key(key)
    objects.age(directory / key, NOON - age)
    return key
