"""Two members as the platform sends them, and their answers written by hand: one with everything, one with nothing.

The answers stand under `addresses`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_django import Settings

Json = dict[str, Any]  # Any: a JSON value
ADA = 80351110224678912
CDN = "https://cdn.example"
ART = "https://assets.example"
GUILD = "268473310000000077"
HASH = "8342729096ea3675442027381ff50dfe"
MOVING = "a_1269e74af4df7417b13759eae50c83dc"
APP = "383226320970055681"

GAME = {
    "id": "c0ffee",
    "name": "Chess",
    "type": 0,
    "application_id": APP,
    "state": "In a match",
    "details": "Blitz",
    "assets": {"large_image": "383226320970055682", "large_text": "Board"},
    "created_at": 1767225600000,
}
MUSIC = {
    "id": "spotify:1",
    "name": "Spotify",
    "type": 2,
    "state": "Ada; Grace",
    "details": "A Track",
    "sync_id": "0VjIjW4GlUZAMYd2vXMi3b",
    "assets": {"large_image": "spotify:ab67616d0000b273c5649add07ed3720be9d5526", "large_text": "An Album"},
}
CUSTOM = {
    "id": "custom",
    "name": "Custom Status",
    "type": 4,
    "state": "Reading",
    "emoji": {"id": "41771983429993937", "name": "book", "animated": True},
}
EVERYTHING: Json = {
    "chat_id": ADA,
    "member": {
        "user": {
            "id": str(ADA),
            "username": "ada",
            "discriminator": "0",
            "global_name": "Ada Lovelace",
            "avatar": MOVING,
            "banner": None,
            "public_flags": 1 << 22 | 1 << 18 | 1 << 17 | 1 << 14 | 1 << 9 | 1 << 8 | 1 << 7 | 1 << 6 | 0b1111,
            "avatar_decoration_data": {"asset": "a_" + "1" * 32, "sku_id": "1"},
            "collectibles": {"nameplate": {"asset": "nameplates/one/"}},
            "primary_guild": {
                "identity_guild_id": "41771983423143937",
                "identity_enabled": True,
                "tag": "LOVE",
                "badge": "7d1734ae5a615e82bc7a4033b98fade8",
            },
        },
        "nick": "Countess",
        "avatar": HASH,
        "banner": MOVING,
        "premium_since": "2021-03-04T05:06:07.000000+00:00",
        "avatar_decoration_data": {"asset": "a_" + "2" * 32, "sku_id": "2"},
        "collectibles": {"nameplate": {"asset": "nameplates/two/"}},
        "roles": [],
        "joined_at": "2020-01-02T03:04:05.000000+00:00",
    },
    "presence": {
        "user": {"id": str(ADA)},
        "status": "dnd",
        "client_status": {"desktop": "dnd", "mobile": "online"},
        "activities": [CUSTOM, GAME, MUSIC],
    },
    "last_online": 1767225600,
    "banner": HASH,
    "biography": "Analyst.\nMetaphysician. 🌱",
    "profile_badges": [
        "premium_tenure_24_month_v2",
        "guild_booster_lvl6",
        "legacy_username",
        "quest_completed",
        "orb_profile_badge",
        "last_meadow",
        "gifting",
    ],
}
BADGES = {
    "premium": "Premium",
    "staff": "Staff",
    "partner": "Partner",
    "moderator": "Moderator",
    "events": "Event Host",
    "bravery": "Bravery",
    "brilliance": "Brilliance",
    "balance": "Balance",
    "bughunter1": "Bug Hunter",
    "bughunter2": "Bug Hunter, Level 2",
    "developer": "Developer",
    "earlysupporter": "Early Supporter",
    "boosted": "Server Booster",
    "legacy": "Legacy Username",
    "quest": "Quest Completed",
    "leaf": "Leaf",
    "orb": "Orb",
    "gifting": "Gifting",
}
SHOWN_CUSTOM: Json = {
    "name": "",
    "type": 4,
    "state": "Reading",
    "details": None,
    "tooltip": None,
    "emoji": "https://cdn.example/emojis/41771983429993937.gif",
    "image": None,
}
SHOWN_GAME = {
    "name": "Chess",
    "type": 0,
    "state": "In a match",
    "details": "Blitz",
    "tooltip": "Board",
    "emoji": None,
    "image": "https://cdn.example/app-assets/383226320970055681/383226320970055682.png",
}
SHOWN_MUSIC: Json = {
    "name": "Spotify",
    "type": 2,
    "state": "Ada; Grace",
    "details": "A Track",
    "tooltip": "An Album",
    "emoji": None,
    "image": "https://i.scdn.co/image/ab67616d0000b273c5649add07ed3720be9d5526",
}
SHOWN_EVERYTHING: Json = {
    "id": "80351110224678912",
    "username": "ada",
    "globalName": "Ada Lovelace",
    "serverNick": "Countess",
    "avatar": "https://cdn.example/avatars/80351110224678912/a_1269e74af4df7417b13759eae50c83dc.gif",
    "serverAvatar": "https://cdn.example/guilds/268473310000000077/users/80351110224678912/avatars/"
    "8342729096ea3675442027381ff50dfe.png",
    "serverBanner": "https://cdn.example/guilds/268473310000000077/users/80351110224678912/banners/"
    "a_1269e74af4df7417b13759eae50c83dc.gif",
    "banner": "https://cdn.example/banners/80351110224678912/8342729096ea3675442027381ff50dfe.png",
    "decoration": "https://cdn.example/avatar-decoration-presets/a_22222222222222222222222222222222.png",
    "nameplate": "https://cdn.example/assets/collectibles/nameplates/two/asset.webm",
    "biography": "Analyst.\nMetaphysician. 🌱",
    "activity": SHOWN_MUSIC,
    "activities": [SHOWN_CUSTOM, SHOWN_GAME, SHOWN_MUSIC],
    "badges": {
        key: {"name": name, "url": f"https://assets.example/badges/chat/{key}.svg"} for key, name in BADGES.items()
    },
    "status": {"status": "dnd", "url": "https://assets.example/status/dnd.png"},
    "last_online": 1767225600,
    "clan": {
        "tag": "LOVE",
        "badge": "https://cdn.example/guild-tag-badges/41771983423143937/7d1734ae5a615e82bc7a4033b98fade8.png",
    },
}
NOTHING: Json = {
    "chat_id": ADA,
    "member": {
        "user": {
            "id": str(ADA),
            "username": "ada",
            "discriminator": "0",
            "global_name": None,
            "avatar": None,
            "public_flags": 0,
            "avatar_decoration_data": None,
            "collectibles": None,
            "primary_guild": None,
        },
        "nick": None,
        "avatar": None,
        "banner": None,
        "premium_since": None,
        "roles": [],
        "joined_at": "2020-01-02T03:04:05.000000+00:00",
    },
    "presence": None,
    "last_online": None,
    "banner": None,
    "biography": None,
    "profile_badges": [],
}
SHOWN_NOTHING: Json = {
    "id": "80351110224678912",
    "username": "ada",
    "globalName": "ada",
    "serverNick": None,
    "avatar": "https://cdn.example/embed/avatars/5.png",
    "serverAvatar": None,
    "serverBanner": None,
    "banner": None,
    "decoration": None,
    "nameplate": None,
    "biography": None,
    "activity": None,
    "activities": [],
    "badges": {},
    "status": {"status": "offline", "url": "https://assets.example/status/offline.png"},
    "last_online": None,
    "clan": None,
}


def addresses(settings: Settings) -> None:
    """The hosts of the answers."""
    settings.CHAT_CDN_URL = CDN
    settings.ASSET_URL = ART
    settings.CHAT = replace(settings.CHAT, guild_id=GUILD)
