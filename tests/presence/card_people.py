"""Users with a linked chat account, and what the store says of it; for the tests of the card."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from django.utils import timezone

from accounts.models import User
from presence.store.store import PresenceStore, Record
from tests.factories.accounts import LinkedAccountFactory, UserFactory
from tests.lookup.profile_pages import change, page, text
from tests.presence import store_contents

CARD = "//header//div[@data-presence-card]/div"
CHAT_CDN = "https://cdn.chat.example"
CHAT_ID = 268473310986240001
HASH = "0123456789abcdef0123456789abcdef"
Json = dict[str, Any]  # Any: a JSON value

MEMBER: Json = {
    "nick": "Ada of the harbour",
    "premium_since": "2024-01-01T00:00:00+00:00",
    "user": {
        "id": str(CHAT_ID),
        "username": "ada.chats",
        "global_name": "Ada L.",
        "avatar": HASH,
        "public_flags": 1 << 9,
        "avatar_decoration_data": {"asset": f"a_{HASH}", "sku_id": "1"},
        "primary_guild": {
            "identity_guild_id": "268473310000000000",
            "identity_enabled": True,
            "tag": "PINE",
            "badge": HASH,
        },
    },
}
CUSTOM: Json = {"type": 4, "name": "Custom Status", "state": "Kettle is on", "emoji": {"name": "🫖"}}
MUSIC: Json = {
    "id": "spotify:1",
    "type": 2,
    "name": "Spotify",
    "details": "Slow Train North",
    "state": "Velvet Ferry",
    "assets": {"large_image": "spotify:abc", "large_text": "Night Timetable"},
}
GAME: Json = {
    "type": 0,
    "name": "Lighthouse",
    "details": "On the cliff",
    "application_id": "268473310000000009",
    "assets": {"large_image": "268473310000000010"},
}
ONLINE: Json = {"client_status": {"desktop": "online"}, "activities": [CUSTOM, MUSIC]}


def have_chat_server(settings: Any) -> None:
    """`settings`: pytest-django's fixture, which has no type. Without a chat server there is no live presence."""
    settings.CHAT = replace(settings.CHAT, guild_id="268473310000000000")
    settings.CHAT_CDN_URL = CHAT_CDN


def linked(username: str = "ada", chat_id: int = CHAT_ID, **wanted: Any) -> User:
    """A user whose profile has these `presenceSettings`."""
    user = UserFactory(username=username)
    LinkedAccountFactory(user=user, external_id=str(chat_id))
    change(user, settings={"presenceSettings": wanted})
    return user


def say(
    store: PresenceStore,
    *,
    chat_id: int = CHAT_ID,
    member: Json | None = None,
    presence: Json | None = None,
    last_online: datetime | None = None,
    alive_at: datetime | None = None,
) -> None:
    """Write what the feed would: this record, and a stamp at `alive_at`, by default now."""
    now = timezone.now()
    gone_at = int(last_online.timestamp()) if last_online else None
    record = Record(MEMBER if member is None else member, presence, 1, now.timestamp(), gone_at)
    store_contents.write(store, {chat_id: record.to_text()}, ())
    store_contents.set_complete(store, 1)
    assert store_contents.stamp(store, (alive_at or now).timestamp(), generation=1)


def card(path: str = "/ada") -> Any:
    """The card of the page (lxml's types do not know HTML); None where there is none."""
    found = page(path).xpath(CARD)
    return found[0] if found else None


def words(path: str = "/ada") -> str | None:
    """What stands on the card."""
    found = card(path)
    return None if found is None else text(found)
