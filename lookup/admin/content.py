"""Admin of what profiles list: rows of each list, pictures, catalogues that sections name, files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.admin.audited_admin import AuditedAdmin
from lookup.admin.base import CatalogueAdmin, ContentForm, ProfileContentAdmin, by_path
from lookup.documents import registry
from lookup.editing import profiles
from lookup.models import (
    Anime,
    Asset,
    Audio,
    Background,
    GalleryItem,
    Game,
    Link,
    MediaTitle,
    MusicItem,
    Profile,
    Project,
    Section,
    Widget,
)
from lookup.models.validators import TAGS
from lookup.shapes import sections
from lookup.shapes.sections import SectionType


class LinkForm(ContentForm):
    never_both = ("icon", "icon_svg")


class ProjectForm(ContentForm):
    def clean_tags(self) -> Any:
        """Any is JSON."""
        tags = [] if self.cleaned_data["tags"] is None else self.cleaned_data["tags"]
        if problem := TAGS.problem_of(tags):
            raise ValidationError(problem)
        return tags


@admin.register(Widget)
class WidgetAdmin(ProfileContentAdmin):
    list_display = ("identifier", "platform", "type", "user", "profile", "order")


@admin.register(Audio)
class AudioAdmin(ProfileContentAdmin):
    related = ("profile__user", "audio")
    list_display = ("title", "artist", "audio", "user", "profile", "order", "is_active")
    list_filter = ("is_active",)


@admin.register(Background)
class BackgroundAdmin(ProfileContentAdmin):
    related = ("profile__user", "asset")
    list_display = ("__str__", "asset", "user", "profile", "order", "is_active")
    list_filter = ("is_active",)


@admin.register(Link)
class LinkAdmin(ProfileContentAdmin):
    form = LinkForm
    list_display = ("__str__", "url", "user", "profile", "order", "is_active", "clicks")
    list_filter = ("is_active", "is_text")
    search_fields = (*ProfileContentAdmin.search_fields, "=url")
    readonly_fields = ("clicks", "created_at")


@admin.register(Project)
class ProjectAdmin(ProfileContentAdmin):
    form = ProjectForm
    list_display = ("title", "url", "user", "profile", "order")


class SectionForm(ContentForm):
    def clean(self) -> dict[str, Any]:
        super().clean()
        data = self.cleaned_data
        if "type" in data and "config" in data:
            try:
                data["config"] = sections.validated(data["type"], {} if data["config"] is None else data["config"])
            except ValidationError as error:
                self.add_error("config", by_path(error))
        if {"type", "profile"} & set(self.changed_data) and self.instance.items.exists():
            problem = "It has pictures: remove them first."
            self.add_error("type" if "type" in self.changed_data else "profile", problem)
        return data


@admin.register(Section)
class SectionAdmin(ProfileContentAdmin):
    form = SectionForm
    list_display = ("__str__", "type", "user", "profile", "order", "is_enabled")
    list_filter = ("type", "is_enabled")

    def write(self, request: HttpRequest, obj: Section, form: Any, *, change: bool) -> None:
        """Save the defaults for missing keys of the configuration, even where the field was not edited."""
        super().write(request, obj, form, change=change)
        if change and obj.config != form.initial["config"]:
            obj.save(update_fields=["config"])


class GalleryItemForm(ContentForm):
    def clean(self) -> dict[str, Any]:
        super().clean()
        section, profile = self.cleaned_data.get("section"), self.cleaned_data.get("profile")
        if section is not None and section.type != SectionType.GALLERY:
            self.add_error("section", "This section is not a gallery.")
        elif section is not None and profile is not None and section.profile_id != profile.pk:
            self.add_error("section", "This section belongs to another profile.")
        return self.cleaned_data


@admin.register(GalleryItem)
class GalleryItemAdmin(ProfileContentAdmin):
    form = GalleryItemForm
    related = ("profile__user", "asset", "section")
    list_display = ("__str__", "asset", "section", "user", "profile", "width", "order")


def register_lists() -> None:
    """Register the models of lists that have no admin of their own."""
    for content in registry.LISTS.values():
        for model in content.models:
            if not admin.site.is_registered(model):
                admin.site.register(model, ProfileContentAdmin)


register_lists()


class _EntryAdmin(CatalogueAdmin):
    """An entry; the configurations of sections name it by id, so all profiles with such a section may show it."""

    section_type: ClassVar[SectionType]
    ordering = ("-pk",)

    def shown_by(self, rows: Sequence[Any]) -> QuerySet[Profile]:
        return Profile.objects.filter(sections__type=self.section_type)


@admin.register(Game)
class GameAdmin(_EntryAdmin):
    section_type = SectionType.GAMES
    list_display = ("id", "name", "slug", "released", "rating", "metacritic")
    search_fields = ("=id", "=name", "=slug")


@admin.register(Anime)
class AnimeAdmin(_EntryAdmin):
    section_type = SectionType.ANIME
    list_display = ("id", "title", "format", "year", "score")
    search_fields = ("=id", "=title")


@admin.register(MediaTitle)
class MediaTitleAdmin(_EntryAdmin):
    section_type = SectionType.MEDIA
    list_display = ("id", "title", "media_type", "year", "rating")
    search_fields = ("=id", "=title")


@admin.register(MusicItem)
class MusicItemAdmin(_EntryAdmin):
    section_type = SectionType.MUSIC
    list_display = ("music_id", "kind", "title", "artist", "album")
    list_filter = ("kind",)
    search_fields = ("=music_id", "=title")
    fixed = ("kind", "music_id")


@admin.register(Asset)
class AssetAdmin(AuditedAdmin):
    """The owner of a file cannot change; saving renders the owner's profiles again."""

    owners = ("owner",)
    related = ("owner",)
    list_display = ("path", "mime", "owner", "width", "height", "duration", "created_at")
    search_fields = ("=id", "=path", "=owner__username", "=owner__id")
    ordering = ("-created_at", "pk")
    autocomplete_fields = ("owner",)
    fields = ("owner", "path", "mime", "width", "height", "duration", "created_at")
    fixed = ("owner",)
    readonly_fields = ("created_at",)

    def changing(self, rows: Sequence[Asset]) -> AbstractContextManager[object]:
        return profiles.changing_all_of(*{row.owner_id for row in rows})

    def refresh(self, rows: Sequence[Asset]) -> None:
        """Renders at once, because comments on other profiles show the owner's picture."""
        with profiles.changing_all_of(*{row.owner_id for row in rows}) as block:
            block.touched.update(block.rows)
