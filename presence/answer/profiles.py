"""The source of biographies and further badges: none, or a server that speaks JSON over HTTP.

The chat platform gives them to no bot. A lawful source can be named in the settings.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Protocol

from django.conf import settings

from infrastructure import http_client
from infrastructure.http_client import NoAnswer
from infrastructure.once import once
from presence.answer.rest import Circuit
from presence.store.store import Profile

MAX_BIOGRAPHY = 4000  # characters
MAX_BADGES = 100
MAX_BADGE_ID = 100  # characters
_PARTS = ("user_profile", "user")  # where else the values may stand
_BIOGRAPHIES = ("biography", "bio", "about")
# Badges in several tiers, by the id that comes with a tier of its own.
_TIERED = {
    "guild_booster_lvl": "guild_booster_lvl{tier}",
    "guild_booster": "guild_booster_lvl{tier}",
    "premium_tenure": "premium_tenure_{tier}_month_v2",
    "bug_hunter_level": "bug_hunter_level_{tier}",
    "hypesquad_house": "hypesquad_house_{tier}",
}
_TIER = re.compile("[0-9]{1,3}")


class ProfileUnavailable(Exception):
    """The source has nothing of this account, or nothing that can be read."""


class SourcePaused(Exception):
    """The source fails and gets no requests for a while."""


class ProfileSource(Protocol):
    """Reads a biography, and the ids of badges as the platform's own clients show them."""

    def read(self, chat_id: int) -> Profile:
        """Read a profile, which may take seconds. Raises ProfileUnavailable, SourcePaused."""

    def is_paused(self) -> bool:
        """Return whether `read` would only raise SourcePaused."""


class HttpSource:
    """`url` with the id in place of `{id}`; `header`: `Name: value`, sent along, or nothing."""

    def __init__(self, url: str, header: str) -> None:
        self._url = url
        name, _, value = header.partition(":")
        self._headers = {"Accept": "application/json", "User-Agent": f"Presence (+{settings.BASE_URL})"}
        if name.strip():
            self._headers[name.strip()] = value.strip()
        self._circuit = Circuit()

    def is_paused(self) -> bool:
        return bool(self._circuit.seconds_left())

    def read(self, chat_id: int) -> Profile:
        if self._circuit.enter():
            raise SourcePaused
        try:
            answer = http_client.read("GET", self._url.replace("{id}", str(chat_id)), headers=self._headers)
        except NoAnswer as error:
            self._circuit.fail()
            raise ProfileUnavailable(str(error)) from error
        if answer.status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
            self._circuit.succeed()
            raise ProfileUnavailable("The source does not know the account.")
        if answer.status != HTTPStatus.OK or not isinstance(answer.body, dict):
            self._circuit.fail()
            raise ProfileUnavailable(f"The source answered {answer.status}, or no object.")
        self._circuit.succeed()
        biography, badges = parsed(answer.body)
        return Profile(biography=biography, badges=badges, read_at=time.time(), is_failure=False)


def source() -> ProfileSource | None:
    """Return the source of the settings; None where there is none, and nothing is ever read."""
    chat = settings.CHAT
    return _http_source(chat.profile_url, chat.profile_header) if chat.profile_url else None


@once
def _http_source(url: str, header: str) -> HttpSource:
    return HttpSource(url, header)


def parsed(body: Mapping[str, Any]) -> tuple[str | None, tuple[str, ...]]:
    """Return biography and badge ids of a JSON object (hence Any); values of another type count as absent."""
    parts = [body, *(part for name in _PARTS if isinstance(part := body.get(name), dict))]
    texts = (part.get(name) for part in parts for name in _BIOGRAPHIES)
    biography = next((text[:MAX_BIOGRAPHY] for text in texts if isinstance(text, str) and text.strip()), None)
    listed = next((found for part in parts if isinstance(found := part.get("badges"), list | dict)), [])
    ids = dict.fromkeys(found for found in _ids(listed) if 0 < len(found) <= MAX_BADGE_ID)
    return biography, tuple(ids)[:MAX_BADGES]


def _ids(listed: list[Any] | dict[str, Any]) -> Iterator[str]:
    """Yield the badges of an array, or of an object by id, where `false` and null are badges that are not held."""
    pairs: Iterator[tuple[str, Any]]
    if isinstance(listed, list):
        pairs = (("", badge) for badge in listed)
    else:
        pairs = ((name, badge) for name, badge in listed.items() if badge is not None and badge is not False)
    for name, badge in pairs:
        plain, tier = _id_and_tier(name, badge)
        yield _TIERED[plain].format(tier=tier) if tier is not None and plain in _TIERED else plain


def _id_and_tier(name: str, badge: Any) -> tuple[str, int | None]:
    """Return id and tier of a badge. `name`: the key that `badge` stands under, empty in an array."""
    if isinstance(badge, dict):
        return _text(badge.get("id")) or name, _tier(badge.get("tier", badge.get("level")))
    return (name, _tier(badge)) if name else (_text(badge), None)


def _tier(value: object) -> int | None:
    said = _text(value)
    return int(said) if _TIER.fullmatch(said) else None


def _text(value: object) -> str:
    """Return a string or a whole number as text; empty for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63 else ""
