"""The current form of the lookup with all includes, as shapes. Keys stand in the order of the document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError

from accounts.models import User
from accounts.models.names import NAME_PATTERN, RESERVED_KEYS
from lookup import settings_schema
from lookup.models import Badge, BadgeTier, Comment, Profile
from lookup.models.validators import validate_color, validate_svg
from lookup.registry import AUDIOS, BACKGROUNDS, LINKS, PROJECTS, WIDGETS
from lookup.rows import MAX_COMMENTS
from lookup.transfer import form_shapes
from lookup.transfer.section_form import GALLERY_ITEM, AnySection, rows
from lookup.transfer.shapes import (
    FLAG,
    ID,
    ORDER,
    Column,
    Integer,
    ListOf,
    Moment,
    Null,
    Object,
    OrNull,
    Pattern,
    Problems,
    Real,
    Ruled,
    Shape,
    column,
    problems_of,
    text,
)
from lookup.transfer.uploads import MAX_URL_LENGTH, BadgeImage, Picture, Upload
from lookup.values import EXACT, Color

# Of the lines that this release exports. Raise it with a key that earlier releases lack, whose object gets a default.
VERSION = 1
_UID = Integer(0, EXACT - 1)
_COUNT = Integer()
_TIER = Integer(0, 2**15 - 1)
_ASSET = OrNull(Upload())
_CHAT_ID = Pattern(re.compile(r"[0-9]{1,20}"), "Must be the digits of a chat-platform id.")
_BADGE_ID = Pattern(re.compile(r"[A-Za-z0-9_-]{1,32}"), "Must be an id of the badge catalogue: A-Z, a-z, 0-9, _ and -.")
# What the tables hold as "" where the form says null.
_COLOR = OrNull(Column(9, 1, (validate_color,)), absent="")
_SVG = OrNull(Column(20 * 1024, 1, (validate_svg,)), absent="")


@dataclass(frozen=True, slots=True)
class _Name:
    """Of a user or an alias."""

    pattern = re.compile(NAME_PATTERN)

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, str) or not self.pattern.fullmatch(value):
            problems.append((path, "Must have 1 to 32 letters, digits, dots, hyphens or underscores."))
        elif value.upper() in RESERVED_KEYS:
            problems.append((path, "This name is reserved."))
        return value


@dataclass(frozen=True, slots=True)
class _Settings:
    """Read into what differs from the defaults. One that is left out has its default, so that a file from before a new
    setting can be read."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            problems.append((path, "Must be an object."))
            return value
        try:
            return settings_schema.validated(value)
        except ValidationError as error:
            problems.extend(problems_of(error, path))
        return value


def _columns(model: type[Any], **names: str) -> dict[str, Shape]:
    """Any: a model. The texts of the form by their columns."""
    return {name: column(model, attribute) for name, attribute in names.items()}


_USER = Object(
    {
        "id": ID,
        "uid": _UID,
        "username": _Name(),
        "name": OrNull(column(User, "display_name", min_length=1), absent=""),
        "avatarUrl": OrNull(text(MAX_URL_LENGTH, min_length=1)),
        "chatId": OrNull(_CHAT_ID),
        "scrobblerUsername": OrNull(text(64, min_length=1)),
        "premium": FLAG,
        "verified": FLAG,
        "imagehost": FLAG,
        "inactive": FLAG,
        "createdAt": Moment(),
    }
)
_PROFILE = Object(
    {
        "profileId": ID,
        **_columns(
            Profile,
            name="name",
            displayName="display_name",
            description="description",
            location="location",
            theme="theme",
            font="font",
            fontUsername="font_username",
            soundEffect="sound_effect",
            soundEffectButton="sound_effect_button",
        ),
        "createdAt": Moment(),
        "updatedAt": Moment(),
        "avatar": OrNull(Upload(may_be_mirrored=True)),
        **dict.fromkeys(("banner", "cursor", "cursorPointer", "fontAsset", "fontUsernameAsset"), _ASSET),
        **dict.fromkeys(("soundEffectAsset", "soundEffectButtonAsset", "metadataFavicon", "metadataBanner"), _ASSET),
        "settings": _Settings(),
    }
)
_BADGE_TIER = Object(
    {
        "tier": _TIER,
        "threshold": Real(),
        **_columns(BadgeTier, title="title", description="description"),
        "color": Ruled(Color()),
        "unlocked": FLAG,
        "selected": FLAG,
        "imageUrl": BadgeImage(),
    }
)
_BADGE = Object(
    {
        "id": ID,
        "type": text(8, choices=("STANDARD", "CUSTOM")),
        "badgeId": OrNull(_BADGE_ID),
        "enabled": FLAG,
        "selectedTier": OrNull(_TIER),
        "unlockedTiers": ListOf(_TIER, 1000),
        "color": _COLOR,
        "recolor": FLAG,
        "name": OrNull(column(Badge, "name", min_length=1), absent=""),
        "order": ORDER,
        "image": _ASSET,
        "imageUrl": OrNull(BadgeImage()),
        "iconSvg": _SVG,
        "tiers": ListOf(_BADGE_TIER, 1000),
    }
)
_ALIAS = Object({"name": _Name(), "redirect": FLAG, "profileId": OrNull(ID)})
_AUTHOR = Object(
    {
        "id": ID,
        "username": _Name(),
        "name": column(User, "display_name"),
        "avatarUrl": Picture(),
        "uid": _UID,
    }
)
_COMMENT = Object(
    {
        "id": ID,
        "content": column(Comment, "content", min_length=1),
        "likeCount": _COUNT,
        "replyCount": _COUNT,
        "pinned": FLAG,
        "createdAt": Moment(),
        "author": _AUTHOR,
    }
)
LINE = Object(
    {
        "version": Integer(1, VERSION),
        "error": Null(),
        "user": _USER,
        "profile": _PROFILE,
        "badges": rows(_BADGE),
        **{
            content.name: rows(form_shapes.of(content.form, content.model))
            for content in (WIDGETS, AUDIOS, BACKGROUNDS, LINKS, PROJECTS)
            if content.form is not None
        },
        "views": Integer(0, EXACT),
        "aliases": rows(_ALIAS),
        "gallery": rows(GALLERY_ITEM),
        "sections": rows(AnySection()),
        "feedback": Object({"likes": _COUNT, "dislikes": _COUNT}),
        "comments": Object({"count": _COUNT, "items": ListOf(_COMMENT, MAX_COMMENTS)}),
    },
    {"version": 1},
)
