"""What a member is doing: the platform's activities as docs/spec/lookup.md names them, and the one worth showing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.conf import settings

from presence import assets, fields
from presence.fields import Json

PLAYING, STREAMING, LISTENING, WATCHING, CUSTOM_STATUS = 0, 1, 2, 3, 4
_PLAYER_ID = "spotify:1"
_EMOJI_LENGTH = 64  # the longest standard one has some 30 code units


@dataclass(frozen=True, slots=True)
class Activity:
    """`details` is the title line, `tooltip` the hover text of the artwork. `is_music_player` is not part of the
    answer."""

    name: str
    type: int
    state: str | None
    details: str | None
    tooltip: str | None
    emoji: str | None
    image: str | None
    is_music_player: bool = False


def of(presence: Json | None) -> list[Activity]:
    """All of them, in the platform's order."""
    return [_activity(raw) for raw in fields.mappings(fields.mapping(presence).get("activities"))]


def chosen(activities: Sequence[Activity]) -> Activity | None:
    """The one worth showing: the music player, what is played, streamed or watched, other music, the custom status."""
    ranks: tuple[Callable[[Activity], bool], ...] = (
        lambda one: one.is_music_player,
        lambda one: one.type in (PLAYING, STREAMING, WATCHING),
        lambda one: one.type == LISTENING,
        lambda one: one.type == CUSTOM_STATUS,
    )
    return next((one for is_wanted in ranks for one in activities if is_wanted(one)), None)


def _activity(raw: Json) -> Activity:
    """An unreadable type counts as the platform's first one."""
    kind = fields.whole(raw.get("type")) or PLAYING
    is_custom = kind == CUSTOM_STATUS
    pictures = fields.mapping(raw.get("assets"))
    application_id = raw.get("application_id")
    return Activity(
        name="" if is_custom else fields.text(raw.get("name")) or "",
        type=kind,
        state=fields.text(raw.get("state")),
        details=None if is_custom else fields.text(raw.get("details")),
        tooltip=fields.text(pictures.get("large_text")) or fields.text(pictures.get("small_text")),
        emoji=_emoji(fields.mapping(raw.get("emoji"))),
        image=assets.activity_image(pictures.get("large_image"), application_id)
        or assets.activity_image(pictures.get("small_image"), application_id),
        is_music_player=kind == LISTENING and _is_music_player(raw),
    )


def _emoji(raw: Json) -> str | None:
    """The URL of a custom one; a standard one is its own character."""
    if raw.get("id") is not None:
        return assets.emoji(raw["id"], is_animated=raw.get("animated") is True)
    character = fields.text(raw.get("name"))
    return character if character and len(character) <= _EMOJI_LENGTH else None


def _is_music_player(raw: Json) -> bool:
    if raw.get("id") == _PLAYER_ID or fields.text(raw.get("sync_id")):
        return True
    return fields.text(raw.get("name")) in settings.CHAT.music_players
