"""The current form of the lookup with all includes, as it is read: by the serializers that show it and the columns.

Keys come in the order of the document. `config`, what is stored of a section, is added to each section.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model
from rest_framework import serializers

from accounts.models import User
from accounts.models.names import NAME_PATTERN, NAME_RULE, RESERVED_KEYS
from lookup.documents import registry
from lookup.documents.resolve import MAX_COMMENTS
from lookup.models import Alias, BadgeTier, Comment, CustomBadge, GalleryItem, MusicItem, Profile, Section
from lookup.serializers import current
from lookup.serializers.fields import MAX_URL_LENGTH, read_asset, read_badge_image, read_picture
from lookup.shapes import sections, settings_schema
from lookup.shapes.strict_fields import (
    EXACT,
    Boolean,
    Color,
    Problems,
    Read,
    Text,
    compiled,
    compiled_fields,
    problems_of,
    read_column,
    read_id,
    read_integer,
    read_list,
    read_object,
    read_or_null,
    read_pattern,
)

MAX_ROWS = 1000  # of one kind on one profile

Form = type[serializers.Serializer[Any]]  # Any: rows of each model


def rows(read: Read) -> Read:
    return read_list(read, MAX_ROWS)


def columns_of(form: Form, model: type[Model]) -> dict[str, str]:
    """The keys of `form` by the column of `model` that holds their values, ids aside."""
    known = {name for field in model._meta.concrete_fields for name in (field.name, field.attname)}
    columns = {str(field.source).rpartition(".")[2]: name for name, field in form().fields.items()}
    return {column: name for column, name in columns.items() if column in known - {"id"}}


def _read_anything(value: Any, path: str, problems: Problems) -> Any:
    """Read a value that is validated elsewhere."""
    return value


def _read_null(value: Any, path: str, problems: Problems) -> Any:
    if value is not None:
        problems.append((path, "Must be null."))
    return value


def _read_section(value: Any, path: str, problems: Problems) -> Any:
    """Read a section of any type."""
    type_ = value.get("type") if isinstance(value, dict) else None
    if not isinstance(type_, str) or type_ not in _SECTIONS:
        problems.append((f"{path}.type", f"Must be one of: {', '.join(_SECTIONS)}."))
        return value
    before = len(problems)
    found = _section(type_)(value, path, problems)
    if len(problems) == before:
        try:
            found["config"] = sections.validated(type_, _config(type_, found))
        except ValidationError as error:
            said = {_SHOWN_AS.get(at, at): texts for at, texts in error.message_dict.items()}
            problems.extend(problems_of(ValidationError(said), path))
    return found


_SHOWN_AS = {catalogue.config_key: catalogue.listed for catalogue in registry.CATALOGUES.values()}


@functools.cache
def _section(type_: str) -> Read:
    """The keys of the type. Exports of earlier releases may lack what its configuration holds."""
    config = _as_shown(type_)
    return read_object({**dict.fromkeys(config, _read_anything), **_SECTIONS[type_]}, config)


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


def _read_music(value: Any, path: str, problems: Problems) -> Any:
    """Tracks and albums have `artist`, only tracks have `album`."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in _MUSIC:
        problems.append((f"{path}.kind", f"Must be one of: {', '.join(_MUSIC)}."))
        return value
    return {"artist": "", "album": "", **_MUSIC[kind](value, path, problems)}


_read_flag = Boolean().read
_TRACK = compiled_fields(
    current.MusicItemSerializer(),
    MusicItem,
    kind=_read_anything,
    musicId=read_column(MusicItem, "music_id", min_length=1),
)
_MUSIC = {
    kind.value: read_object(
        {name: read for name, read in _TRACK.items() if name not in current.MusicItemSerializer.ABSENT.get(kind, ())}
    )
    for kind in MusicItem.Kind
}
_read_gallery_item = compiled(current.GalleryItemSerializer(), GalleryItem)
# What sections show besides their configuration.
_SHOWN = {
    **compiled_fields(current.SectionSerializer(), Section, type=_read_anything),
    "enabled": _read_flag,
    "items": rows(_read_gallery_item),
    **{one.listed: rows(compiled(one.form(), one.model)) for one in registry.CATALOGUES.values()},
    "music": rows(_read_music),
}
_SECTIONS = {
    type_: {name: _SHOWN[name] for name, _ in serializer().fields.items() if name in _SHOWN}
    for type_, serializer in registry.SECTION_SERIALIZERS.items()
}
_read_uid = read_integer(0, EXACT - 1)
_read_count = read_integer()
_read_tier = read_integer(0, 2**15 - 1)
_NAME = re.compile(NAME_PATTERN)


def _read_name(value: Any, path: str, problems: Problems) -> Any:
    """Read the name of a user or an alias."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        problems.append((path, f"Must have {NAME_RULE}."))
    elif value.upper() in RESERVED_KEYS:
        problems.append((path, "This name is reserved."))
    return value


def _read_settings(value: Any, path: str, problems: Problems) -> Any:
    """Read settings into what differs from the defaults. One that is left out has its default, so that a file from
    before a new setting can be read."""
    if not isinstance(value, dict):
        problems.append((path, "Must be an object."))
        return value
    try:
        return settings_schema.validated(value)
    except ValidationError as error:
        problems.extend(problems_of(error, path))
    return value


_USER = compiled(
    current.UserSerializer(),
    User,
    id=read_id,
    uid=_read_uid,
    username=_read_name,
    avatarUrl=read_or_null(Text(MAX_URL_LENGTH, min_length=1).read),
    chatId=read_or_null(read_pattern(re.compile(r"[0-9]{1,20}"), "Must be the digits of a chat-platform id.")),
    scrobblerUsername=read_or_null(Text(64, min_length=1).read),
    premium=_read_flag,
    imagehost=_read_flag,
)
_PROFILE = compiled(
    current.ProfileSerializer(),
    Profile,
    avatar=read_or_null(functools.partial(read_asset, may_be_mirrored=True)),
    settings=_read_settings,
)
_BADGE_TIER = compiled(
    current.TierSerializer(),
    BadgeTier,
    tier=_read_tier,
    color=Color().read,
    unlocked=_read_flag,
    selected=_read_flag,
    imageUrl=read_badge_image,
)
_BADGE = compiled(
    current.BadgeSerializer(),
    CustomBadge,
    type=Text(8, choices=("STANDARD", "CUSTOM")).read,
    badgeId=read_or_null(
        read_pattern(re.compile(r"[A-Za-z0-9_-]{1,32}"), "Must be an id of the badge catalog: A-Z, a-z, 0-9, _ and -.")
    ),
    selectedTier=read_or_null(_read_tier),
    unlockedTiers=read_list(_read_tier, MAX_ROWS),
    imageUrl=read_or_null(read_badge_image),
    tiers=read_list(_BADGE_TIER, MAX_ROWS),
)
_ALIAS = compiled(
    current.AliasSerializer(), Alias, name=_read_name, redirect=_read_flag, profileId=read_or_null(read_id)
)
_AUTHOR = compiled(
    current.AuthorSerializer(), User, id=read_id, username=_read_name, avatarUrl=read_picture, uid=_read_uid
)
_COMMENT = compiled(
    current.CommentSerializer(),
    Comment,
    content=read_column(Comment, "content", min_length=1),
    likeCount=_read_count,
    replyCount=_read_count,
    author=_AUTHOR,
)
_INCLUDES = {
    "profile": _PROFILE,
    "badges": rows(_BADGE),
    "views": read_integer(0, EXACT),
    "aliases": rows(_ALIAS),
    "gallery": rows(_read_gallery_item),
    "sections": rows(_read_section),
    "feedback": read_object({"likes": _read_count, "dislikes": _read_count}),
    "comments": read_object({"count": _read_count, "items": read_list(_COMMENT, MAX_COMMENTS)}),
    **{
        content.name: rows(compiled(content.form(), content.model))
        for content in registry.LISTS.values()
        if content.is_plain and content.form is not None
    },
}


def defaults() -> dict[str, Any]:
    """Return JSON for what a line of an earlier release may lack."""
    return {"version": 1, **{name: [] for name, include in registry.INCLUDES.items() if include.since > 1}}


read_line = read_object(
    {
        "version": read_integer(1, current.VERSION),
        "error": _read_null,
        "user": _USER,
        **{name: _INCLUDES[name] for name in registry.INCLUDES},
    },
    defaults(),
)
