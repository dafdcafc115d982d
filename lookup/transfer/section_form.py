"""The sections of a line, each type with its own keys. `config` is added to each: what is stored of it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError

from lookup import registry, sections
from lookup.models import GalleryItem, MusicItem, Section
from lookup.sections import Alignment, SectionType
from lookup.serializers.current import GalleryItemSerializer
from lookup.transfer import form_shapes
from lookup.transfer.shapes import (
    FLAG,
    ID,
    ORDER,
    Anything,
    ListOf,
    Object,
    Problems,
    Shape,
    column,
    problems_of,
    text,
)

MAX_ROWS = 1000  # of one kind on one profile


@dataclass(frozen=True, slots=True)
class AnySection:
    """Any of the nine types."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        type_ = value.get("type") if isinstance(value, dict) else None
        if not isinstance(type_, str) or type_ not in _SECTIONS:
            problems.append((f"{path}.type", f"Must be one of: {', '.join(_SECTIONS)}."))
            return value
        before = len(problems)
        found = _form(type_).read(value, path, problems)
        if len(problems) == before:
            try:
                found["config"] = sections.validated(type_, _config(type_, found))
            except ValidationError as error:
                said = {_SHOWN_AS.get(at, at): texts for at, texts in error.message_dict.items()}
                problems.extend(problems_of(ValidationError(said), path))
        return found


_SHOWN_AS = {catalogue.config_key: catalogue.listed for catalogue in registry.CATALOGUES.values()}
# What of a configuration lookups show in another form; the rest of it they show as it is.
_LISTED = {type_: catalogue.config_key for type_, catalogue in registry.CATALOGUES.items()}


@functools.cache
def _form(type_: str) -> Object:
    """The keys of the type. Exports of earlier releases may lack what its configuration holds."""
    config = _as_shown(type_)
    return Object({**dict.fromkeys(config, Anything()), **_SECTIONS[type_].fields}, config)


@functools.cache
def _as_shown(type_: str) -> dict[str, Any]:
    """Any: JSON. The defaults of what is shown as it is stored."""
    return {name: value for name, value in sections.default(type_).items() if name != _LISTED.get(type_)}


def _config(type_: str, section: dict[str, Any]) -> dict[str, Any]:
    config = {name: section[name] for name in _as_shown(type_)}
    if catalogue := registry.CATALOGUES.get(type_):
        names = catalogue.key_names
        keys = [{name: entry[name] for name in names} for entry in section[catalogue.listed]]
        config[catalogue.config_key] = keys if len(names) > 1 else [key[names[0]] for key in keys]
    return config


@dataclass(frozen=True, slots=True)
class _Music:
    """`artist` stands on tracks and albums, `album` on tracks alone."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        kind = value.get("kind") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in _MUSIC:
            problems.append((f"{path}.kind", f"Must be one of: {', '.join(_MUSIC)}."))
            return value
        return {"artist": "", "album": "", **_MUSIC[kind].read(value, path, problems)}


def rows(shape: Shape) -> ListOf:
    return ListOf(shape, MAX_ROWS)


_TRACK: dict[str, Shape] = {
    "kind": Anything(),
    "musicId": column(MusicItem, "music_id", min_length=1),
    "title": column(MusicItem, "title"),
    "image": column(MusicItem, "image"),
    "artist": column(MusicItem, "artist"),
    "album": column(MusicItem, "album"),
}
_MUSIC = {
    kind: Object({name: shape for name, shape in _TRACK.items() if name not in absent})
    for kind, absent in (("track", ()), ("album", ("album",)), ("artist", ("artist", "album")))
}
GALLERY_ITEM = form_shapes.of(GalleryItemSerializer, GalleryItem)
_COMMON: dict[str, Shape] = {
    "id": ID,
    "type": Anything(),
    "order": ORDER,
    "title": column(Section, "title"),
    "description": column(Section, "description"),
    "alignment": text(8, choices=Alignment.values),
}
_SECTIONS: dict[str, Object] = {
    SectionType.ABOUT_ME: Object({**_COMMON, "enabled": FLAG}),
    SectionType.PROJECTS: Object(_COMMON),
    SectionType.CUSTOM_TEXT: Object({**_COMMON, "enabled": FLAG}),
    SectionType.GALLERY: Object({**_COMMON, "items": rows(GALLERY_ITEM)}),
    SectionType.AUDIO_PLAYER: Object(_COMMON),
    **{
        type_: Object({**_COMMON, catalogue.listed: rows(form_shapes.of(catalogue.form, catalogue.model))})
        for type_, catalogue in registry.CATALOGUES.items()
        if type_ != SectionType.MUSIC
    },
    SectionType.MUSIC: Object({**_COMMON, "music": rows(_Music())}),
}
