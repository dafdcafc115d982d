"""The catalogues that sections name, for staff."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from lookup.admin.profile_rows import CatalogueAdmin
from lookup.models import Anime, Game, MediaTitle, MusicItem, Profile
from lookup.sections import SectionType


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
