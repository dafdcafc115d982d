"""What the tests of presence share: a simulated chat platform on loopback, and the store."""

from __future__ import annotations

import pytest
from django.core.cache import caches

from presence.store.store import PresenceStore
from tests.support.chat_platform import simulator

__all__ = ["simulator"]


@pytest.fixture
def store() -> PresenceStore:
    """The one of the settings: Django's cache on the database, or Redis."""
    return PresenceStore(caches["presence"])
