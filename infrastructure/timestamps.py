"""Convert datetimes to microseconds and milliseconds since the epoch, and to ISO 8601."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND, MILLISECOND = timedelta(microseconds=1), timedelta(milliseconds=1)


def microseconds(at: datetime) -> int:
    """Return the microseconds since 1970."""
    return (at - EPOCH) // MICROSECOND


def milliseconds(at: datetime) -> int:
    """Return the whole milliseconds since 1970: lookups show times that exactly."""
    return (at - EPOCH) // MILLISECOND


def iso(at: datetime) -> str:
    """Return ISO 8601 in UTC with milliseconds, such as `2026-01-31T12:00:00.000Z`."""
    if at.tzinfo is not UTC:
        at = at.astimezone(UTC)
    return at.isoformat(timespec="milliseconds")[:-6] + "Z"
