"""The registry of what a profile holds: the lists that its owner edits, and the includes of the current lookup.

Documents, statements, OpenAPI, export and the lists of the dashboard's editor derive from these rows.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Model, QuerySet
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from infrastructure.requests.compiled_serializer import CompiledSerializer
from lookup.models import (
    Anime,
    Audio,
    Background,
    CustomBadge,
    GalleryItem,
    Game,
    Link,
    MediaTitle,
    MusicItem,
    ProfileBadge,
    Project,
    Section,
    Widget,
)
from lookup.serializers import current
from lookup.shapes import sections
from lookup.shapes.sections import SectionType

Json = dict[str, Any]  # Any: a JSON value
Row = Any  # a row of one of the models below: each has a profile and an order
FormField = Callable[..., serializers.Field[Any, Any, Any, Any]]  # Any: values of every form


@dataclass(frozen=True, slots=True)
class ContentList:
    """One list of a profile, named like its include and its column of `ProfileDocument`.

    `form`: how the current lookup shows a row; None for sections, whose types have forms of their own. `limit`: how
    many rows of `model` a profile may have. `switch`: the column that turns a row off; "" where rows are always shown.
    `given`: a second model in the same order, whose rows staff give, and which cannot be added or deleted. `group`: the
    column that parts the list into several, each with its own order. `related`: rows that are shown with a row;
    `edited_with`: those that the editor shows beside them, `given_related` of `given`.
    """

    name: str
    model: type[Model]
    form: type[CompiledSerializer[Any]] | None
    limit: int
    switch: str = ""
    group: str = ""
    given: type[Model] | None = None
    related: tuple[str, ...] = ()
    edited_with: tuple[str, ...] = ()
    given_related: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether the rows are of one model, and are shown and imported as its columns hold them."""
        return self.form is not None and self.given is None and not self.group

    @property
    def models(self) -> tuple[type[Model], ...]:
        return (self.model,) if self.given is None else (self.given, self.model)

    def shown_rows(self, model: type[Model]) -> QuerySet[Any]:
        """Rows of one of `models`, of all profiles, as documents need them."""
        rows = model._default_manager.select_related(*self.related if model is self.model else ())
        return rows.filter(is_enabled=True) if model is Section else rows

    def rows_of(self, profile_id: str) -> list[Row]:
        """In the order in which lookups show them. 1 query for each model, and 1 for the tiers of badges."""
        found: list[Row] = list(self._of(self.model, profile_id).select_related(*self.related, *self.edited_with))
        if self.given is not None:
            held = self._of(self.given, profile_id).select_related(*self.given_related)
            found += held.prefetch_related("badge__tiers")
        return sorted(found, key=lambda row: (row.order, row.pk))

    def row_of(self, profile_id: str, pk: str, *, is_locked: bool = False) -> Row:
        """ObjectDoesNotExist where the profile has no such row. At most 2 queries."""
        for model in (self.model, self.given):
            rows = self._of(model, profile_id).filter(pk=pk) if model else None
            if rows is not None and (row := (rows.select_for_update(no_key=True) if is_locked else rows).first()):
                return row
        raise ObjectDoesNotExist

    def _of(self, model: type[Model], profile_id: str) -> QuerySet[Any]:
        return model._default_manager.filter(profile=profile_id).order_by("order", "pk")


LINKS = ContentList("links", Link, current.LinkSerializer, 50, "is_active", related=("icon",))
BADGES = ContentList(
    "badges",
    CustomBadge,
    current.BadgeSerializer,
    20,
    "is_enabled",
    given=ProfileBadge,
    related=("image",),
    given_related=("badge",),
)
WIDGETS = ContentList("widgets", Widget, current.WidgetSerializer, 30)
AUDIOS = ContentList("audios", Audio, current.AudioSerializer, 20, "is_active", related=("audio", "cover"))
BACKGROUNDS = ContentList("backgrounds", Background, current.BackgroundSerializer, 20, "is_active", related=("asset",))
PROJECTS = ContentList("projects", Project, current.ProjectSerializer, 50, related=("icon",))
GALLERY = ContentList(
    "gallery",
    GalleryItem,
    current.GalleryItemSerializer,
    100,
    group="section_id",
    related=("asset",),
    edited_with=("section",),
)
SECTIONS = ContentList("sections", Section, None, 30, "is_enabled")
# In the order in which an import writes them: sections before the pictures in them.
LISTS = {one.name: one for one in (BADGES, WIDGETS, AUDIOS, BACKGROUNDS, LINKS, PROJECTS, SECTIONS, GALLERY)}


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A catalogue whose rows sections of one type list. `key`: the columns that name a row."""

    section_type: SectionType
    model: type[Model]
    form: type[CompiledSerializer[Any]]
    key: tuple[str, ...] = ("id",)

    @property
    def config_key(self) -> str:
        """The key of the stored configuration that names the rows."""
        return next(key for key, field in self.section_type.definition.config.items() if field.listed)

    @property
    def listed(self) -> str:
        """The key of the list of rows in the section of an answer."""
        return self.section_type.definition.config[self.config_key].listed

    @property
    def columns(self) -> dict[str, str]:
        """The columns by their names in `form`."""
        return {name: str(field.source) for name, field in self.form().fields.items()}

    @property
    def key_names(self) -> tuple[str, ...]:
        """`key` as `form` names it."""
        return tuple(name for name, column in self.columns.items() if column in self.key)


CATALOGUES: dict[str, Catalogue] = {
    catalogue.section_type: catalogue
    for catalogue in (
        Catalogue(SectionType.GAMES, Game, current.GameSerializer),
        Catalogue(SectionType.ANIME, Anime, current.AnimeItemSerializer),
        Catalogue(SectionType.MEDIA, MediaTitle, current.MediaTitleSerializer),
        Catalogue(SectionType.MUSIC, MusicItem, current.MusicItemSerializer, ("kind", "music_id")),
    )
}


def section_serializer(type_: str) -> type[current.SectionSerializer]:
    """The form of a section of this type in answers: the fields of its configuration, with the rows of a catalogue in
    place of their ids, and the pictures of a gallery."""
    definition = sections.DEFINITIONS[type_]
    # DRF puts a field that a subclass declares anew at the end, so all of the base are declared, in their order.
    fields: dict[str, Any] = {
        name: serializers.ChoiceField([type_]) if name == "type" else copy.deepcopy(field)
        for name, field in current.SectionSerializer().fields.items()
    }
    if definition.shows_enabled:
        fields["enabled"] = serializers.BooleanField()
    fields |= {name: copy.deepcopy(field.shape) for name, field in definition.config.items() if not field.listed}
    if catalogue := CATALOGUES.get(type_):
        fields[catalogue.listed] = catalogue.form(many=True)
    if type_ == SectionType.GALLERY:
        fields["items"] = current.GalleryItemSerializer(many=True)
    name = type_.title().replace("_", "")
    doc = definition.note or current.SectionSerializer.__doc__
    made = type(f"{name}Serializer", (current.SectionSerializer,), {"__doc__": doc, **fields})
    extend_schema_serializer(component_name=f"{name}Section")(made)
    return made


SECTION_SERIALIZERS = {type_: section_serializer(type_) for type_ in sections.DEFINITIONS}
SECTION_FORMS = {type_: serializer() for type_, serializer in SECTION_SERIALIZERS.items()}


def rendered_section(section: Json) -> Json:
    """A section as `queries` gathers it, in the form of its type."""
    return dict(SECTION_FORMS[section["type"]].to_representation(section))


@extend_schema_field(
    PolymorphicProxySerializer(
        component_name="Section",
        serializers={str(type_): serializer for type_, serializer in SECTION_SERIALIZERS.items()},
        resource_type_field_name="type",
        many=True,
    )
)
class SectionsField(serializers.Field[Any, Any, Any, Any]):
    """Sections of all types."""


@dataclass(frozen=True, slots=True)
class Include:
    """A key of the current lookup that is there where its parameter is `true`.

    `column`: where the profile's document holds its text; "" for what changes without the owner, or, as the aliases, is
    the same for each profile of a user. `since`: the version of exports that has it first; in earlier ones the list is
    empty.
    """

    meaning: str
    form: FormField
    column: str = ""
    since: int = 1


def _list(content: ContentList, meaning: str, since: int = 1) -> Include:
    form: FormField = SectionsField if content.form is None else partial(content.form, many=True)
    return Include(meaning, form, content.name, since)


# In the order of the answer.
INCLUDES = {
    "profile": Include("Texts, files and settings.", current.ProfileSerializer, "profile_text"),
    "badges": _list(BADGES, "All badges, with their `enabled` flag."),
    "widgets": _list(WIDGETS, "Widgets."),
    "audios": _list(AUDIOS, "Audios with their covers."),
    "backgrounds": _list(BACKGROUNDS, "Backgrounds."),
    "links": _list(LINKS, "Links."),
    "projects": _list(PROJECTS, "Projects."),
    "views": Include("How many visitors have seen the profile.", serializers.IntegerField),
    "aliases": Include("Further names of the user.", partial(current.AliasSerializer, many=True)),
    "gallery": _list(GALLERY, "The pictures of all gallery sections, then those in no section."),
    "sections": _list(SECTIONS, "Sections of the profile."),
    "feedback": Include("Likes and dislikes.", current.FeedbackSerializer),
    "comments": Include("At most 100 comments, and how many there are.", current.CommentsSerializer),
}
DOCUMENT_COLUMNS = {name: include.column for name, include in INCLUDES.items() if include.column}
