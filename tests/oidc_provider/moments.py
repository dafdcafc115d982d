"""The moment at which the clock of these tests stands still."""

from datetime import UTC, datetime

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
