"""The job that clears the presence store: what expired goes, what counts stays."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.core.management import call_command
from django.utils import timezone
from pytest_django import Settings

from config import caches
from presence import store
from presence.models import StoreEntry

pytestmark = [pytest.mark.embedded, pytest.mark.django_db]


def test_what_expired_goes_and_what_counts_stays(settings: Settings) -> None:
    settings.CACHES = caches.options("")
    store.opened().keep_miss(268473310986240001, "notMember")  # for 30 s
    store.opened().keep_miss(268473310986240002, "notFound")
    with time_machine.travel(timezone.now() + timedelta(minutes=1)):
        assert call_command("sweep_presence") == "Removed 1 expired entries."
    assert StoreEntry.objects.count() == 1


def test_where_the_cache_clears_itself_there_is_nothing_to_do(settings: Settings) -> None:
    settings.CACHES = {**settings.CACHES, "presence": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    assert call_command("sweep_presence") == "Removed 0 expired entries."
