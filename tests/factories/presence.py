"""Rows of live presence."""

from datetime import UTC, datetime

import factory

from presence.models import LastOnline
from tests.factories import ModelFactory


class LastOnlineFactory(ModelFactory[LastOnline]):
    class Meta:
        model = LastOnline

    chat_id = factory.Sequence(lambda number: 80351110224678912 + number)
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
