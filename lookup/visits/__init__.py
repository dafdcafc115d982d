"""Count views of profiles, each visitor once in 24 hours, and clicks on links, without storing who the visitors are.

A visitor is a keyed hash whose salt changes each day (UTC); yesterday's salt is checked too. If the store does not
answer, the visit is not counted and the page is shown.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Protocol
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest
from django.utils import timezone
from django.utils.module_loading import import_string

from infrastructure.once import once
from infrastructure.requests import request_context
from infrastructure.settings_cache import from_settings
from lookup.visits import database_store
from lookup.visits.daily_counts import Click, View
from lookup.visits.database_store import Folded
from lookup.visits.visitors import Visitor, host_of

logger = logging.getLogger(__name__)


class StoreUnavailable(Exception):
    """The store does not answer."""


class VisitStore(Protocol):
    """Counts views and clicks. Raises StoreUnavailable or DatabaseError: it does not answer, and nothing is counted."""

    def count_view(self, visitor: Visitor, view: View, now: datetime) -> bool:
        """Count a view if the visitor is new on the profiles of this user; return whether it is."""

    def count_click(self, click: Click) -> None: ...

    def fold(self, now: datetime) -> Folded:
        """Write the counts to the tables. Idempotent and safe in several processes at once."""


@once
def _store() -> VisitStore:
    store: VisitStore = import_string(settings.VISIT_STORE)()
    return store


def count_view(request: HttpRequest, *, user_id: str, profile_id: str) -> None:
    """Count this request as a view of a profile of the user, if it is one. The owner does not count."""
    visitor = _visitor(request, user_id)
    if visitor is not None:
        now = timezone.now()
        host = host_of(request.headers, (_own_host(), request.get_host().partition(":")[0]))
        try:
            _store().count_view(visitor, View(user_id, profile_id, database_store.day_of(now), host), now)
        except (StoreUnavailable, DatabaseError):
            logger.exception("A view could not be counted.")


def count_click(request: HttpRequest, *, user_id: str, link_id: str) -> None:
    """Count this request as a click on a link of the user's profile, if it is one. The owner does not count."""
    if _visitor(request, user_id) is not None:
        try:
            _store().count_click(Click(link_id, database_store.day_of(timezone.now())))
        except (StoreUnavailable, DatabaseError):
            logger.exception("A click could not be counted.")


def _visitor(request: HttpRequest, user_id: str) -> Visitor | None:
    visitor = Visitor.of(request.method or "", request.headers, request_context.address())
    return None if visitor is None or request.user.pk == user_id else visitor


@from_settings
def _own_host() -> str:
    return urlsplit(settings.BASE_URL).hostname or ""


def fold(now: datetime, *, after_batch: Callable[[], None] = lambda: None) -> Folded:
    """Write the counts to the tables and delete expired visitors and salts. Raises StoreUnavailable: the counts wait
    for the next run. `after_batch` is called after each deleted batch."""
    database_store.forget(now, after_batch=after_batch)
    return _store().fold(now)
