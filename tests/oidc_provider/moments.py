"""The time of the frozen clock of these tests."""

from datetime import UTC, datetime

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
