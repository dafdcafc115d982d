"""Calls of the presence lookup, what the feed would have written, and what is asked of the store meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from accounts.models import Permission
from presence.store.store import PresenceStore, Record
from tests.factories.accounts import ApiKeyFactory
from tests.lookup.answers import Answer
from tests.presence import store_contents
from tests.support import redis_commands

Json = dict[str, Any]  # Any: a JSON value
ADA, BEN = 268473310986240001, 268473310986240002
SECRET, ADDRESS = "the-presence-key-of-the-tests", "203.0.113.7"
IDS_INVALID = (400, {"error": "errors.lookupChatIdsInvalid"})
INVALID = (400, {"error": "errors.lookupChatIdInvalid"})
NOT_MEMBER = (404, {"error": "errors.lookupNotMember", "miss": "notMember"})
NOT_FOUND = (404, {"error": "errors.lookupChatNotFound", "miss": "notFound"})
PRIVATE = (404, {"error": "This profile is private."})
UNAVAILABLE = (503, {"error": "errors.presenceUnavailable"})
NO_SUCH_PATH = (404, {"error": "errors.notFound"})
PLAIN: Json = {"nick": None, "user": {"id": str(ADA), "username": "ada", "global_name": None, "public_flags": 0}}
ONLINE: Json = {"status": "online", "client_status": {"desktop": "online"}, "activities": []}


def key(secret: str = SECRET, **values: Any) -> None:
    """A key that may look up presence, with these columns."""
    ApiKeyFactory(secret=secret, **{"permissions": [Permission.LOOKUP_PRESENCE.value], **values})


def get(chat_id: int | str, secret: str | None = SECRET, address: str = ADDRESS) -> Answer:
    """`chat_id`: as it stands in the path."""
    return get_path(f"/api/lookup/presence/{chat_id}", secret, address)


def get_many(ids: object, secret: str | None = SECRET, address: str = ADDRESS) -> Answer:
    """The lookup of several members. `ids`: as it stands in the query, or a list of ids."""
    text = ",".join(map(str, ids)) if isinstance(ids, list) else str(ids)
    return get_path(f"/api/lookup/presence?ids={text}", secret, address)


def get_path(path: str, secret: str | None = SECRET, address: str = ADDRESS) -> Answer:
    headers = {} if secret is None else {"X-API-Key": secret}
    response = Client(REMOTE_ADDR=address).get(path, headers=headers)
    assert response.headers["Content-Type"] == "application/json", response.content
    assert response.headers["Content-Length"] == str(len(response.content))
    text = response.content.decode()
    return Answer(response.status_code, text, json.loads(text), response.headers)


def alive(store: PresenceStore, at: datetime | None = None) -> None:
    """Stamp the store as up to date at this time, by default now."""
    if store.generation() != 1:
        store_contents.set_complete(store, 1)
    assert store_contents.stamp(store, (at or timezone.now()).timestamp(), generation=1)


def tell(
    store: PresenceStore,
    chat_id: int = ADA,
    *,
    member: Json | None = None,
    presence: Json | None = ONLINE,
    last_online: int | None = None,
    touched: timedelta = timedelta(0),
) -> None:
    """Write a record as the feed does, last touched so long ago, and a stamp."""
    touched_at = (timezone.now() - touched).timestamp()
    record = Record(PLAIN if member is None else member, presence, 1, touched_at, last_online)
    store_contents.write(store, {chat_id: record.to_text()}, ())
    alive(store)


def commands(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> list[str]:
    """What `act` asks of Redis; nothing where the service has none."""
    if not settings.REDIS_URL:
        act()
        return []
    with monkeypatch.context() as patch:
        asked = redis_commands.noted(patch)
        act()
    return asked
