"""Two members as the platform sends them, and their answers written by hand: one with everything, one with nothing.

They stand in whole_members.json; the answers lie under `addresses`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
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

_READ: Json = json.loads(Path(__file__).with_suffix(".json").read_text())
EVERYTHING, SHOWN_EVERYTHING = _READ["everything"], _READ["shown_everything"]
NOTHING, SHOWN_NOTHING = _READ["nothing"], _READ["shown_nothing"]
CUSTOM, GAME, MUSIC = EVERYTHING["presence"]["activities"]
SHOWN_CUSTOM, SHOWN_GAME, SHOWN_MUSIC = SHOWN_EVERYTHING["activities"]
BADGES = {key: badge["name"] for key, badge in SHOWN_EVERYTHING["badges"].items()}


def addresses(settings: Settings) -> None:
    """The hosts of the answers."""
    settings.CHAT_CDN_URL = CDN
    settings.ASSET_URL = ART
    settings.CHAT = replace(settings.CHAT, guild_id=GUILD)
