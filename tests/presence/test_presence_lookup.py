"""GET /api/lookup/presence/{chatId}: whole answers, for a member with everything and for one with nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from presence.simulator.running import Simulator
from presence.store import PresenceStore, Profile
from tests.lookup.answers import compact
from tests.presence import lookups, reading
from tests.presence.lookups import ADA, BEN, ONLINE, SECRET
from tests.presence.reading import Clock

pytestmark = pytest.mark.django_db
CDN, ART = "https://cdn.platform.example", "https://art.service.example"
GUILD = "268473310000000000"
HASHES = {name: f"{number:032x}" for number, name in enumerate(["user", "member", "wide", "frame", "tag"], 0xA0)}

EVERYTHING: Any = {
    "nick": "Countess",
    "avatar": f"a_{HASHES['member']}",
    "banner": HASHES["wide"],
    "premium_since": "2025-01-01T00:00:00.000000+00:00",
    "avatar_decoration_data": {"asset": f"a_{HASHES['frame']}", "sku_id": "1"},
    "collectibles": {"nameplate": {"asset": "nameplates/nameplates_v2/tide/", "palette": "cobalt"}},
    "user": {
        "id": str(ADA),
        "username": "ada",
        "global_name": "Ada Example",
        "avatar": HASHES["user"],
        "discriminator": "0",
        "public_flags": 1 << 22 | 1 << 17 | 1 << 6,
        "primary_guild": {
            "identity_guild_id": GUILD,
            "identity_enabled": True,
            "tag": "ENGN",
            "badge": HASHES["tag"],
        },
    },
}
ACTIVITIES: Any = [
    {
        "type": 4,
        "name": "Custom Status",
        "state": "Back at noon",
        "emoji": {"id": "268473310000000077", "name": "wave", "animated": True},
    },
    {
        "type": 0,
        "name": "Lighthouse",
        "details": "On the cliff",
        "state": "With two others",
        "application_id": "268473310000000009",
        "assets": {"small_image": "268473310000000010", "small_text": "Level 3"},
    },
    {
        "id": "spotify:1",
        "type": 2,
        "name": "Spotify",
        "details": "Slow Train North",
        "state": "Velvet Ferry",
        "sync_id": "4uLU6hMCjMI75M1A2tKUQC",
        "assets": {"large_image": "spotify:ab67616d0000b273", "large_text": "Night Timetable"},
    },
]
PRESENCE: Any = {
    "status": "online",
    "client_status": {"mobile": "dnd", "web": "online", "embedded": "online"},
    "activities": ACTIVITIES,
}
CUSTOM: Any = {
    "name": "",
    "type": 4,
    "state": "Back at noon",
    "details": None,
    "tooltip": None,
    "emoji": f"{CDN}/emojis/268473310000000077.gif",
    "image": None,
}
GAME: Any = {
    "name": "Lighthouse",
    "type": 0,
    "state": "With two others",
    "details": "On the cliff",
    "tooltip": "Level 3",
    "emoji": None,
    "image": f"{CDN}/app-assets/268473310000000009/268473310000000010.png",
}
MUSIC: Any = {
    "name": "Spotify",
    "type": 2,
    "state": "Velvet Ferry",
    "details": "Slow Train North",
    "tooltip": "Night Timetable",
    "emoji": None,
    "image": "https://i.scdn.co/image/ab67616d0000b273",
}
WITH_EVERYTHING: Any = {
    "id": str(ADA),
    "username": "ada",
    "globalName": "Ada Example",
    "serverNick": "Countess",
    "avatar": f"{CDN}/avatars/{ADA}/{HASHES['user']}.png",
    "serverAvatar": f"{CDN}/guilds/{GUILD}/users/{ADA}/avatars/a_{HASHES['member']}.gif",
    "serverBanner": f"{CDN}/guilds/{GUILD}/users/{ADA}/banners/{HASHES['wide']}.png",
    "banner": f"{CDN}/banners/{ADA}/a_{HASHES['wide']}.gif",
    "decoration": f"{CDN}/avatar-decoration-presets/a_{HASHES['frame']}.png",
    "nameplate": f"{CDN}/assets/collectibles/nameplates/nameplates_v2/tide/asset.webm",
    "biography": "Analyst, she said.\n🎧",
    "activity": MUSIC,
    "activities": [CUSTOM, GAME, MUSIC],
    "badges": {
        "premium": {"name": "Premium", "url": f"{ART}/badges/chat/premium.svg"},
        "bravery": {"name": "Bravery", "url": f"{ART}/badges/chat/bravery.svg"},
        "developer": {"name": "Developer", "url": f"{ART}/badges/chat/developer.svg"},
        "boosted": {"name": "Server Booster", "url": f"{ART}/badges/chat/boosted.svg"},
        "legacy": {"name": "Legacy Username", "url": f"{ART}/badges/chat/legacy.svg"},
    },
    "status": {"status": "dnd", "url": f"{ART}/status/dnd.png"},
    "last_online": 1772000000,
    "clan": {"tag": "ENGN", "badge": f"{CDN}/guild-tag-badges/{GUILD}/{HASHES['tag']}.png"},
}
WITH_NOTHING: Any = {
    "id": str(BEN),
    "username": "ben",
    "globalName": "ben",
    "serverNick": None,
    "avatar": f"{CDN}/embed/avatars/{(BEN >> 22) % 6}.png",
    "serverAvatar": None,
    "serverBanner": None,
    "banner": None,
    "decoration": None,
    "nameplate": None,
    "biography": None,
    "activity": None,
    "activities": [],
    "badges": {},
    "status": {"status": "offline", "url": f"{ART}/status/offline.png"},
    "last_online": None,
    "clan": None,
}


@pytest.fixture(autouse=True)
def clock(db: None, settings: Settings, simulator: Simulator) -> Iterator[Clock]:
    """Noon, a key, and two members whom the platform knows."""
    settings.CHAT_CDN_URL, settings.ASSET_URL = CDN, ART
    simulator.add_member(ADA, user={"banner": f"a_{HASHES['wide']}"})
    simulator.add_member(BEN)
    with reading.standing_still() as clock:
        lookups.key()
        yield clock


@pytest.fixture
def ada(store: PresenceStore) -> None:
    """Has everything."""
    badges = ("premium_tenure_12_month_v2", "legacy_username", "unheard_of")
    store.keep_profile(ADA, Profile("Analyst, she said.\n🎧", badges, timezone.now().timestamp(), is_failure=False))
    lookups.tell(store, member=EVERYTHING, presence=PRESENCE, last_online=1772000000)


@pytest.fixture
def ben(store: PresenceStore) -> None:
    """Has nothing."""
    lookups.tell(store, BEN, member={"user": {"id": str(BEN), "username": "ben"}}, presence=None)


def test_a_member_with_everything(ada: None) -> None:
    answer = lookups.get(ADA)
    assert answer.whole == (200, WITH_EVERYTHING)
    assert answer.text == compact(WITH_EVERYTHING)  # in the document's order


def test_a_member_with_nothing(ben: None) -> None:
    answer = lookups.get(BEN)
    assert answer.whole == (200, WITH_NOTHING)
    assert answer.text == compact(WITH_NOTHING)


def test_every_change_is_in_the_next_answer(ben: None, store: PresenceStore) -> None:
    statuses = []
    for desktop in ("idle", "dnd", "online", "offline"):
        presence = {**ONLINE, "client_status": {"desktop": desktop}}
        lookups.tell(store, BEN, member={"user": {"username": desktop}}, presence=presence)
        answer = lookups.get(BEN)
        statuses.append((answer.body["username"], answer.body["status"]["status"]))
    assert statuses == [("idle", "idle"), ("dnd", "dnd"), ("online", "online"), ("offline", "offline")]


def test_who_comes_back_keeps_the_moment_of_going(store: PresenceStore) -> None:
    lookups.tell(store, presence=ONLINE, last_online=1772000000)
    body = lookups.get(ADA).body
    assert (body["status"]["status"], body["last_online"]) == ("online", 1772000000)


@pytest.mark.parametrize("chat_id", [26847331098624000, 268473310986240003, 1268473310986240003])
def test_ids_have_17_to_19_digits(store: PresenceStore, simulator: Simulator, chat_id: int) -> None:
    simulator.add_member(chat_id)
    lookups.tell(store, chat_id)
    answer = lookups.get(chat_id)
    assert (answer.status, answer.body["id"]) == (200, str(chat_id))


def test_the_headers_are_those_of_every_answer(ada: None) -> None:
    assert dict(lookups.get(ADA).headers) == {
        "Content-Type": "application/json",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "private, no-store",
        "Content-Length": str(len(compact(WITH_EVERYTHING).encode())),
    }


def test_head_is_get_without_a_body(ada: None) -> None:
    headers = {"X-API-Key": SECRET}
    head = Client().head(f"/api/lookup/presence/{ADA}", headers=headers)
    assert (head.status_code, head.content) == (200, b"")
    assert dict(head.headers) == dict(lookups.get(ADA).headers)


def test_a_query_changes_nothing(ada: None) -> None:
    assert lookups.get_path(f"/api/lookup/presence/{ADA}?status=online&id={BEN}").whole == (200, WITH_EVERYTHING)


def test_a_member_of_an_earlier_dump_is_none(store: PresenceStore, simulator: Simulator) -> None:
    lookups.tell(store)
    store.set_complete(2)
    assert store.stamp(timezone.now().timestamp(), generation=2)
    simulator.remove_member(ADA)
    assert lookups.get(ADA).whole == lookups.NOT_MEMBER


def test_another_presence_needs_no_second_call_to_the_platform(ada: None, clock: Clock, simulator: Simulator) -> None:
    for _ in range(3):
        lookups.get(ADA)
        clock.wait(timedelta(seconds=10).total_seconds())
    assert simulator.counters.rest == [f"/api/v10/users/{ADA}"]  # the banner
