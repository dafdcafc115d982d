"""The card of live presence on a profile page: what its owner lets it show, ready for the template.

Pictures come from our own assets, from the chat platform only on profiles that mirror its picture, whose page lets
that one origin in. Everything else is text.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings
from django.utils.timesince import timesince

from lookup.errors import ProfilePrivate
from lookup.page import url_policy
from presence.answer import members
from presence.answer.presentation import CUSTOM_STATUS, LISTENING, PLAYING, STREAMING, WATCHING, Activity, Presence
from presence.errors import ChatIdInvalid, ChatNotFound, NotMember, PresenceUnavailable
from presence.fields import Json
from presence.store import store
from presence.store.store import StoreUnavailable

WORDS = {"online": "Online", "idle": "Idle", "dnd": "Do not disturb", "streaming": "Streaming", "offline": "Offline"}
UNKNOWN = "Presence is not known at the moment"
# By the platform's number of a kind of activity: the words before its name, and the icon in place of its artwork.
VERBS = {
    PLAYING: ("Playing", "game"),
    STREAMING: ("Streaming on", "stream"),
    LISTENING: ("Listening to", "music"),
    WATCHING: ("Watching", "film"),
    5: ("Competing in", "contest"),
}
MAX_TEXT = 160
_UNWRITABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")  # no HTML holds these
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Badge:
    name: str
    image: str


@dataclass(frozen=True, slots=True)
class Status:
    """`key`: as the presence response has it. `last_seen`: how long ago, in words; empty unless offline since known."""

    key: str
    word: str
    image: str
    last_seen: str


@dataclass(frozen=True, slots=True)
class Says:
    """The custom status: an emoji, as text or as a picture, and words; some of the three are empty."""

    emoji: str
    picture: str
    text: str


@dataclass(frozen=True, slots=True)
class Doing:
    """The activity worth showing. `kind`: the icon where there is no `image`; empty: the owner wants neither. `since`:
    where the platform says it, and the owner shows details."""

    kind: str
    verb: str
    name: str
    title: str
    line: str
    tip: str
    image: str
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """Empty texts and lists, and None: there is none, or the owner hides it."""

    name: str
    left: str
    right: str
    status: Status | None
    says: Says | None
    doing: Doing | None
    clan: str
    badges: list[Badge]
    picture: str
    decoration: str

    @property
    def initial(self) -> str:
        return self.name[:1].upper()


def is_wanted(chat_id: str | None, chosen: Json) -> bool:
    """Return whether a profile with these settings may ever have a card. `chat_id`: None without a linked account."""
    return bool(chat_id and settings.CHAT.guild_id and chosen["presenceSettings"]["enabled"])


def of_user(chat_id: str | None, chosen: Json, *, is_mirrored: bool, now: datetime) -> Card | None:
    """Return the card of an account; None where nothing is known or the owner wants none. Never raises.

    `chosen`, `is_mirrored`: as for `find`.
    """
    try:
        return find(chat_id, chosen, is_mirrored=is_mirrored, now=now)
    except PresenceUnavailable:
        return None


def find(chat_id: str | None, chosen: Json, *, is_mirrored: bool, now: datetime) -> Card | None:
    """Return the card of an account; None for one that shows no presence. Raises PresenceUnavailable: it is not known.

    `chosen`: the profile's settings objects. `is_mirrored`: the page lets in pictures of the chat platform. One round
    trip to the store, none to the platform.
    """
    if chat_id is None or not is_wanted(chat_id, chosen):
        return None
    try:
        number = members.check(chat_id)
        presence = members.shown(number, store.opened().snapshot(number), now)
    except StoreUnavailable as error:
        logger.warning("Profiles are shown without presence, the store does not answer: %s", error)
        raise PresenceUnavailable from error
    except (ChatIdInvalid, NotMember, ChatNotFound, ProfilePrivate):
        return None
    return _card(presence, chosen["presenceSettings"], is_mirrored=is_mirrored, now=now)


def unknown(name: str) -> Card:
    """Return the card of an account whose presence is not known at the moment. `name`: of the profile."""
    return Card(
        name=name,
        left="",
        right="",
        status=Status("unknown", UNKNOWN, "", ""),
        says=None,
        doing=None,
        clan="",
        badges=[],
        picture="",
        decoration="",
    )


def _card(presence: Presence, wanted: Json, *, is_mirrored: bool, now: datetime) -> Card:
    def chat_picture(url: str | None) -> str:
        is_of_chat = is_mirrored and bool(url) and str(url).startswith(f"{settings.CHAT_CDN_URL}/")
        return url_policy.outside(str(url)) if is_of_chat else ""

    def artwork(url: str | None) -> str:
        return chat_picture(url) if wanted["image"] else ""

    activity = presence.activity
    doing = _doing(activity, wanted, artwork(activity.image), now) if activity else None
    picture = artwork(presence.server_avatar or presence.avatar)
    badges = [Badge(_plain(badge.name), url_policy.own(badge.url)) for badge in presence.badges.values()]
    return Card(
        name=_plain(presence.server_nick) or _plain(presence.global_name) or _plain(presence.username) or presence.id,
        left=wanted["left"],
        right=wanted["right"],
        status=_status(presence, now) if wanted["status"] else None,
        says=_says(presence, chat_picture) if wanted["status"] else None,
        doing=doing,
        clan=_plain(presence.clan.tag) if presence.clan and wanted["clan"] else "",
        badges=badges if wanted["badges"] else [],
        picture=picture,
        decoration=chat_picture(presence.decoration) if picture and wanted["decoration"] else "",
    )


def _status(presence: Presence, now: datetime) -> Status:
    key = presence.status.status
    last_seen = ""
    if key == "offline" and (at := _instant(presence.last_online or 0, now)):
        last_seen = "just now" if (now - at).total_seconds() < 60 else f"{timesince(at, now, depth=1)} ago"
    return Status(key, WORDS[key], url_policy.own(presence.status.url), last_seen)


def _says(presence: Presence, chat_picture: Callable[[str | None], str]) -> Says | None:
    """Return the first custom status that says something; an emoji of a chat server has no character."""
    for activity in presence.activities:
        if activity.type == CUSTOM_STATUS:
            emoji = "" if _ADDRESS.match(activity.emoji or "") else _plain(activity.emoji)
            said = Says(emoji, "" if emoji else chat_picture(activity.emoji), _plain(activity.state))
            if any((said.emoji, said.picture, said.text)):
                return said
    return None


def _doing(activity: Activity, wanted: Json, image: str, now: datetime) -> Doing | None:
    """Return what the member does; None for a custom status, which has its own place, and for unknown types."""
    if activity.type not in VERBS:
        return None
    verb, kind = VERBS[activity.type]
    name = _plain(activity.name)
    texts = (activity.details, activity.state, activity.tooltip) if wanted["details"] else (None, None, None)
    title, line, tip = map(_plain, texts)
    since = _instant((activity.started_at or 0) / 1000, now) if wanted["details"] else None
    return Doing(
        kind=kind if wanted["image"] else "",
        verb=verb if name else verb.split()[0],
        name=name,
        title=title,
        line=line,
        tip=tip,
        image=image,
        since=since,
    )


def _instant(seconds: float, now: datetime) -> datetime | None:
    """Return a time of the platform; None for one that is unknown or has not come yet."""
    return datetime.fromtimestamp(seconds, UTC) if 0 < seconds <= now.timestamp() else None


def _plain(text: str | None) -> str:
    """Return a text of the platform on one line, without what HTML cannot hold, and not too long for a card."""
    line = " ".join(_UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text or "").split())
    return line if len(line) <= MAX_TEXT else f"{line[: MAX_TEXT - 1].rstrip()}…"
