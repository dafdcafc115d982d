"""The current form of the lookup with all includes, as it is read: by the serializers that show it and the columns.

Keys come in the order of the document. `config`, what is stored of a section, is added to each section.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import CharField, Model
from rest_framework import serializers

from accounts.models import User
from accounts.models.names import NAME_PATTERN, NAME_RULE, RESERVED_KEYS
from lookup import registry, sections, settings_schema
from lookup.models import BadgeTier, Comment, CustomBadge, GalleryItem, MusicItem, Profile, Section
from lookup.models.validators import TAGS
from lookup.serializers import current, fields
from lookup.sql import MAX_COMMENTS
from lookup.transfer.validators import (
    FLAG,
    ID,
    MAX_URL_LENGTH,
    ORDER,
    Anything,
    BadgeImage,
    Day,
    Integer,
    Moment,
    Null,
    OrNull,
    Pattern,
    Picture,
    Real,
    Upload,
    column,
    problems_of,
)
from lookup.values import EXACT, Color, ListOf, Object, Problems, Shape, Text

# Of the lines that this release exports. Raise it with a key that earlier releases lack, whose object gets a default.
VERSION = 1
MAX_ROWS = 1000  # of one kind on one profile

Form = type[serializers.Serializer[Any]]  # Any: rows of each model

# Lists whose rows are one model each and hold nothing but its columns, in the order of the document.
PLAIN_LISTS = (registry.WIDGETS, registry.AUDIOS, registry.BACKGROUNDS, registry.LINKS, registry.PROJECTS)


def row(form: Form, model: type[Model], **special: Shape) -> Object:
    """Reads what `form` shows of a row of `model`. `special`: keys that the columns do not describe."""
    return Object({name: special.get(name) or _shape_of(field, model) for name, field in form().fields.items()})


def rows(shape: Shape) -> ListOf:
    return ListOf(shape, MAX_ROWS)


def columns_of(form: Form, model: type[Model]) -> dict[str, str]:
    """The keys of `form` by the column of `model` that holds their values, ids aside."""
    known = {name for field in model._meta.concrete_fields for name in (field.name, field.attname)}
    return {field.source: name for name, field in form().fields.items() if field.source in known - {"id"}}


def _shape_of(field: serializers.Field[Any, Any, Any, Any], model: type[Model]) -> Shape:
    source = str(field.source)
    if isinstance(field, fields.TextOrNull):  # the tables hold "" where the form says null
        return OrNull(column(model, source, min_length=1), absent="")
    shape = _required(field, model, source)
    return OrNull(shape) if field.allow_null else shape


def _required(field: serializers.Field[Any, Any, Any, Any], model: type[Model], source: str) -> Shape:
    match field:
        case fields.AssetSerializer():
            return Upload()
        case serializers.BooleanField():
            return FLAG
        case serializers.ListField():
            return TAGS
        case fields.Timestamp():
            return Moment()
        case fields.Day():
            return Day()
        case fields.Number():
            return Real()
        case serializers.ChoiceField():
            return Text(column(model, source).max_length, choices=tuple(field.choices))
    if source == "id":
        return ID if isinstance(model._meta.pk, CharField) else Integer(1, EXACT)
    if isinstance(field, serializers.IntegerField):
        return ORDER if source == "order" else Integer(-(2**31))
    return column(model, source)


@dataclass(frozen=True, slots=True)
class AnySection:
    """A section of any type."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        type_ = value.get("type") if isinstance(value, dict) else None
        if not isinstance(type_, str) or type_ not in _SECTIONS:
            problems.append((f"{path}.type", f"Must be one of: {', '.join(_SECTIONS)}."))
            return value
        before = len(problems)
        found = _section(type_).read(value, path, problems)
        if len(problems) == before:
            try:
                found["config"] = sections.validated(type_, _config(type_, found))
            except ValidationError as error:
                said = {_SHOWN_AS.get(at, at): texts for at, texts in error.message_dict.items()}
                problems.extend(problems_of(ValidationError(said), path))
        return found


_SHOWN_AS = {catalogue.config_key: catalogue.listed for catalogue in registry.CATALOGUES.values()}


@functools.cache
def _section(type_: str) -> Object:
    """The keys of the type. Exports of earlier releases may lack what its configuration holds."""
    config = _as_shown(type_)
    return Object({**dict.fromkeys(config, Anything()), **_SECTIONS[type_].fields}, config)


@functools.cache
def _as_shown(type_: str) -> dict[str, Any]:
    """The defaults of keys that lookups show as they are stored."""
    fields = sections.DEFINITIONS[type_].config
    return {name: value for name, value in sections.default(type_).items() if not fields[name].listed}


def _config(type_: str, section: dict[str, Any]) -> dict[str, Any]:
    config = {name: section[name] for name in _as_shown(type_)}
    if catalogue := registry.CATALOGUES.get(type_):
        names = catalogue.key_names
        keys = [{name: entry[name] for name in names} for entry in section[catalogue.listed]]
        config[catalogue.config_key] = keys if len(names) > 1 else [key[names[0]] for key in keys]
    return config


@dataclass(frozen=True, slots=True)
class _Music:
    """Tracks and albums have `artist`, tracks alone have `album`."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        kind = value.get("kind") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in _MUSIC:
            problems.append((f"{path}.kind", f"Must be one of: {', '.join(_MUSIC)}."))
            return value
        return {"artist": "", "album": "", **_MUSIC[kind].read(value, path, problems)}


_TRACK = row(
    current.MusicItemSerializer,
    MusicItem,
    kind=Anything(),
    musicId=column(MusicItem, "music_id", min_length=1),
).fields
_MUSIC = {
    kind.value: Object(
        {name: shape for name, shape in _TRACK.items() if name not in current.MusicItemSerializer.ABSENT.get(kind, ())}
    )
    for kind in MusicItem.Kind
}
_GALLERY_ITEM = row(current.GalleryItemSerializer, GalleryItem)
# What sections show beside their configuration.
_SHOWN: dict[str, Shape] = {
    **row(current.SectionSerializer, Section, type=Anything()).fields,
    "enabled": FLAG,
    "items": rows(_GALLERY_ITEM),
    **{one.listed: rows(row(one.form, one.model)) for one in registry.CATALOGUES.values()},
    "music": rows(_Music()),
}
_SECTIONS = {
    type_: Object({name: _SHOWN[name] for name, _ in serializer().fields.items() if name in _SHOWN})
    for type_, serializer in registry.SECTION_SERIALIZERS.items()
}
_UID = Integer(0, EXACT - 1)
_COUNT = Integer()
_TIER = Integer(0, 2**15 - 1)
_CHAT_ID = Pattern(re.compile(r"[0-9]{1,20}"), "Must be the digits of a chat-platform id.")
_BADGE_ID = Pattern(re.compile(r"[A-Za-z0-9_-]{1,32}"), "Must be an id of the badge catalog: A-Z, a-z, 0-9, _ and -.")


@dataclass(frozen=True, slots=True)
class _Name:
    """Of a user or an alias."""

    pattern = re.compile(NAME_PATTERN)

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, str) or not self.pattern.fullmatch(value):
            problems.append((path, f"Must have {NAME_RULE}."))
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


_USER = Object(
    {
        "id": ID,
        "uid": _UID,
        "username": _Name(),
        "name": OrNull(column(User, "display_name", min_length=1), absent=""),
        "avatarUrl": OrNull(Text(MAX_URL_LENGTH, min_length=1)),
        "chatId": OrNull(_CHAT_ID),
        "scrobblerUsername": OrNull(Text(64, min_length=1)),
        "premium": FLAG,
        "verified": FLAG,
        "imagehost": FLAG,
        "inactive": FLAG,
        "createdAt": Moment(),
    }
)
_PROFILE = row(current.ProfileSerializer, Profile, avatar=OrNull(Upload(may_be_mirrored=True)), settings=_Settings())
_BADGE_TIER = row(current.TierSerializer, BadgeTier, tier=_TIER, color=Color(), imageUrl=BadgeImage())
_BADGE = row(
    current.BadgeSerializer,
    CustomBadge,
    type=Text(8, choices=("STANDARD", "CUSTOM")),
    badgeId=OrNull(_BADGE_ID),
    selectedTier=OrNull(_TIER),
    unlockedTiers=ListOf(_TIER, MAX_ROWS),
    imageUrl=OrNull(BadgeImage()),
    tiers=ListOf(_BADGE_TIER, MAX_ROWS),
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
        **{content.name: rows(row(content.form, content.model)) for content in PLAIN_LISTS if content.form is not None},
        "views": Integer(0, EXACT),
        "aliases": rows(_ALIAS),
        "gallery": rows(_GALLERY_ITEM),
        "sections": rows(AnySection()),
        "feedback": Object({"likes": _COUNT, "dislikes": _COUNT}),
        "comments": Object({"count": _COUNT, "items": ListOf(_COMMENT, MAX_COMMENTS)}),
    },
    {"version": 1},
)
