"""Sections of profiles, their pictures, and the catalogues that sections name, for staff."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest

from lookup import sections
from lookup.admin.base import CatalogueAdmin, ContentForm, ProfileContentAdmin, by_path
from lookup.models import Anime, GalleryItem, Game, MediaTitle, MusicItem, Profile, Section
from lookup.sections import SectionType


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
            problem = "It has pictures: take them out first."
            self.add_error("type" if "type" in self.changed_data else "profile", problem)
        return data


@admin.register(Section)
class SectionAdmin(ProfileContentAdmin):
    form = SectionForm
    list_display = ("__str__", "type", "user", "profile", "order", "is_enabled")
    list_filter = ("type", "is_enabled")

    def write(self, request: HttpRequest, obj: Section, form: Any, *, change: bool) -> None:
        """What was left out of the configuration is filled in for the type, even where the field was not edited."""
        super().write(request, obj, form, change=change)
        if change and obj.config != form.initial["config"]:
            obj.save(update_fields=["config"])


class GalleryItemForm(ContentForm):
    def clean(self) -> dict[str, Any]:
        super().clean()
        section, profile = self.cleaned_data.get("section"), self.cleaned_data.get("profile")
        if section is not None and section.type != SectionType.GALLERY:
            self.add_error("section", "This section is no gallery.")
        elif section is not None and profile is not None and section.profile_id != profile.pk:
            self.add_error("section", "This section belongs to another profile.")
        return self.cleaned_data


@admin.register(GalleryItem)
class GalleryItemAdmin(ProfileContentAdmin):
    form = GalleryItemForm
    related = ("profile__user", "asset", "section")
    list_display = ("__str__", "asset", "section", "user", "profile", "width", "order")
    autocomplete_fields = ("profile", "section", "asset")


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

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("kind", "music_id") if obj is not None else ()
