"""Live presence, for staff: when members were last online, and whether the feed is alive."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.timesince import timesince

from accounts.admin.staff_actions import ReadOnlyAdmin, columns
from presence.answer import members
from presence.fields import Json
from presence.models import LastOnline
from presence.store import store
from presence.store.store import StoreUnavailable

_WORD_START = re.compile("(?<=[a-z0-9])(?=[A-Z])")
_LATEST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()


@dataclass(frozen=True, slots=True)
class FeedState:
    """The content of the page. `level`: of Django's messages. `rows`: the feed's statistics, caption and text."""

    level: str
    headline: str
    explanation: str
    rows: list[tuple[str, str]]


def feed_state(now: datetime) -> FeedState:
    """Return the state of the feed. 2 reads of the presence store."""
    opened = store.opened()
    try:
        alive_at, stats = opened.alive_at(), opened.stats()
    except StoreUnavailable as failure:
        return FeedState("error", "The presence store does not answer", str(failure), [])
    rows = [(_caption(key), _text(key, value, now)) for key, value in (stats or {}).items()]
    if not settings.CHAT.guild_id:
        return FeedState("warning", "There is no live presence", "CHAT_GUILD_ID names no chat server.", rows)
    if alive_at is None:
        said = "No feed has filled the store. Is run_presence_gateway running, and may its bot see the chat server?"
        return FeedState("warning", "There is no live presence", said, rows)
    rows = [("Last flush", _moment(alive_at, now)), *rows]
    if not members.is_fresh(alive_at, now):
        said = "Presence lookups answer 503, and profiles are shown without presence, until the feed is back."
        return FeedState("error", "The feed is stale", said, rows)
    return FeedState("success", "The feed is live", "Presence is read from what it writes.", rows)


def _caption(key: str) -> str:
    if key == "at":
        return "Told"
    return _WORD_START.sub(" ", key).replace("_", " ").capitalize()


def _text(key: str, value: Any, now: datetime) -> str:
    """Return `value` (Any: JSON) as text: `at`, and what ends in `_at`, is in UNIX seconds."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, int | float) and (key == "at" or key.endswith("_at")):
        return _moment(value, now)
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".")
    if isinstance(value, int):
        return str(value) if key == "generation" else f"{value:,}"
    if isinstance(value, dict):
        return ", ".join(f"{_caption(name)}: {_text(name, one, now)}" for name, one in value.items()) or "none"
    return str(value) or "none"


def _moment(seconds: float, now: datetime) -> str:
    if not 0 < seconds < _LATEST:
        return str(seconds)
    at = datetime.fromtimestamp(seconds, UTC)
    ago = max((now - at).total_seconds(), 0)  # another host's clock may be ahead of ours
    words = f"{ago:.1f} seconds" if ago < 60 else timesince(at, now)
    return f"{at:%Y-%m-%d %H:%M:%S} UTC ({words} ago)"


@admin.register(LastOnline)
class LastOnlineAdmin(ReadOnlyAdmin):
    list_display = ("chat_id", "at")
    list_filter = ("at",)
    search_fields = ("=chat_id",)
    ordering = ("-at", "pk")
    fields = readonly_fields = columns(LastOnline)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.live_view)
        return [path("live/", view, name="presence_live"), *super().get_urls()]

    def live_view(self, request: HttpRequest) -> HttpResponse:
        """Show the present state of the feed."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        context: Json = {
            **self.admin_site.each_context(request),
            "title": "Live presence",
            "opts": self.opts,
            "state": feed_state(timezone.now()),
        }
        response = TemplateResponse(request, "admin/presence/live.html", context)
        add_never_cache_headers(response)
        return response
