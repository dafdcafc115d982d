"""Both stores of visits, and how to let time pass for them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import time_machine
from django.conf import settings
from django.test import Client
from django.utils import timezone

from lookup import visits
from lookup.models import Profile, UserDocument
from lookup.visits import VisitStore, database_store
from lookup.visits.daily_counts import Click, View
from lookup.visits.visitors import DIRECT, Visitor

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
STORES = ["database_store.DatabaseVisits", *(["redis_store.RedisVisits"] if settings.REDIS_URL else [])]
ADDRESS = "192.0.2.1"


def view_of(user_id: str, host: str = DIRECT) -> View:
    """A view of the user's main profile now."""
    profile_id = Profile.objects.filter(user=user_id, is_main=True).values_list("pk", flat=True).first() or ""
    return View(user_id, profile_id, database_store.day_of(timezone.now()), host)


@dataclass
class Visiting:
    """A store, and a clock that tests move."""

    store: VisitStore
    clock: time_machine.Traveller

    def count(self, user_id: str, address: str = ADDRESS, agent: str = BROWSER, host: str = DIRECT) -> bool:
        """A view of the user's main profile."""
        return self.store.count_view(Visitor(address, agent), view_of(user_id, host), timezone.now())

    def click(self, link_id: str) -> None:
        self.store.count_click(Click(link_id, database_store.day_of(timezone.now())))

    def wait(self, **length: float) -> None:
        """For this process, and for Redis, which has a clock of its own: shorten what is left of each key's life."""
        passed = timedelta(**length)
        self.clock.shift(passed)
        if settings.REDIS_URL:
            for key in redis().scan_iter():
                if (left := redis().pttl(key)) >= 0:
                    redis().pexpire(key, left - math.ceil(passed / timedelta(milliseconds=1)))

    def views(self, user_id: str) -> int:
        """What the tables say after the job."""
        visits.fold(timezone.now())
        return UserDocument.objects.get(pk=user_id).views


@contextmanager
def visiting(name: str, moment: datetime = NOON) -> Iterator[Visiting]:
    """The store as the one of this process, from `moment` on."""
    before = settings.VISIT_STORE
    settings.VISIT_STORE = f"lookup.visits.{name}"
    visits._store.cache_clear()
    try:
        with time_machine.travel(moment, tick=False) as clock:
            yield Visiting(visits._store(), clock)
    finally:
        settings.VISIT_STORE = before
        visits._store.cache_clear()


def redis() -> Any:
    """The raw client, to which its library gives no type."""
    from django_redis import get_redis_connection

    return get_redis_connection("default")


def visit(path: str, *, method: str = "GET", address: str = ADDRESS, agent: str = BROWSER, **headers: str) -> Any:
    """A request without any cookie; the response, to which Django gives no public type. A header: `Sec_Purpose=""`."""
    sent = {"User-Agent": agent, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return Client(REMOTE_ADDR=address).generic(method, path, headers=sent)
