"""Admin of what profiles list: rows of each list, pictures, badges, the catalogues that they name, files.

A change renders the documents of profiles again, or marks them stale.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import ForeignKey, QuerySet
from django.http import HttpRequest

from accounts.admin.audited_admin import AuditedAdmin
from accounts.models import User
from lookup.documents import documents, registry
from lookup.editing import badge_tiers, profiles
from lookup.models import (
    Anime,
    Asset,
    Audio,
    Background,
    Badge,
    BadgeTier,
    CustomBadge,
    GalleryItem,
    Game,
    Link,
    MediaTitle,
    MusicItem,
    Profile,
    ProfileBadge,
    Project,
    Section,
    Widget,
)
from lookup.models.validators import TAGS
from lookup.shapes import sections
from lookup.shapes.sections import SectionType


class ContentForm(forms.ModelForm[Any]):
    """Files must belong to the profile's user; a row has a drawn icon or a file for one, not both."""

    def owner_id(self) -> str | None:
        """Return the id of the user whose files the row may show."""
        profile = self.cleaned_data.get("profile")
        return profile.user_id if profile else None

    def clean(self) -> dict[str, Any]:
        super().clean()
        owner_id = self.owner_id()
        for name, value in list(self.cleaned_data.items()):
            if isinstance(value, Asset) and owner_id is not None and value.owner_id != owner_id:
                self.add_error(name, "This file belongs to another user.")
        if self.cleaned_data.get("icon_svg") and any(self.cleaned_data.get(name) for name in ("icon", "image")):
            self.add_error("icon_svg", "Give one of the two, not both.")
        return self.cleaned_data


class ProfileContentAdmin(AuditedAdmin):
    """Rows of a profile; one may move to another profile."""

    form = ContentForm
    owners = ("profile.user",)
    related: ClassVar[tuple[str, ...]] = ("profile__user",)
    list_display: tuple[str, ...] = ("__str__", "user", "profile", "order")
    search_fields: ClassVar[tuple[str, ...]] = ("=id", "=profile__id", "=profile__user__username")
    ordering = ("profile", "order", "pk")

    def changing(self, rows: Sequence[Any]) -> AbstractContextManager[object]:
        return profiles.changing(*{row.profile_id for row in rows})

    def refresh(self, rows: Sequence[Any]) -> None:
        profiles.touch(*{row.profile_id for row in rows})

    def get_autocomplete_fields(self, request: HttpRequest) -> list[str]:
        """Return the columns that name other rows: the profile, files."""
        return [field.name for field in self.model._meta.concrete_fields if isinstance(field, ForeignKey)]

    @admin.display(description="User", ordering="profile__user__uid")
    def user(self, row: Any) -> User:
        """Any: a row of a profile."""
        owner: User = row.profile.user
        return owner


class CatalogueAdmin(AuditedAdmin):
    """Rows that many profiles show: a change marks these profiles stale, and the next lookup renders them.

    The configurations of sections name entries by id, so all profiles with such a section may show one.
    """

    section_type: ClassVar[SectionType]
    owners = ()
    fixed: ClassVar[tuple[str, ...]] = ("id",)
    ordering: ClassVar[tuple[str, ...]] = ("-pk",)

    def shown_by(self, rows: Sequence[Any]) -> QuerySet[Profile]:
        """Return the profiles that may show one of `rows`."""
        return Profile.objects.filter(sections__type=self.section_type)

    def refresh(self, rows: Sequence[Any]) -> None:
        documents.mark_stale(self.shown_by(rows))


def by_path(error: ValidationError) -> ValidationError:
    """Return problems by path, such as `cardSettings.blur`, as sentences of one field."""
    return ValidationError(
        [f"{path}: {sentence}" for path, sentences in error.message_dict.items() for sentence in sentences]
    )


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
    list_display = ("__str__", "url", "user", "profile", "order", "is_active", "clicks")
    list_filter = ("is_active", "is_text", "is_own")
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


class ProfileBadgeForm(ContentForm):
    def clean_unlocked_tiers(self) -> list[int]:
        given = self.cleaned_data["unlocked_tiers"]
        tiers = [] if given is None else given
        if not isinstance(tiers, list) or not all(type(tier) is int for tier in tiers):
            raise ValidationError("Must be a list of tiers, such as [1, 2].")
        return sorted(set(tiers))

    def clean(self) -> dict[str, Any]:
        super().clean()
        badge, selected = self.cleaned_data.get("badge"), self.cleaned_data.get("selected_tier")
        unlocked = self.cleaned_data.get("unlocked_tiers", [])
        if badge is not None:
            unknown = set(unlocked) - set(badge.tiers.values_list("tier", flat=True))
            if unknown:
                self.add_error("unlocked_tiers", f"The badge has no tier {', '.join(map(str, sorted(unknown)))}.")
        if selected is not None and selected not in unlocked:
            self.add_error("selected_tier", "Choose one of the unlocked tiers.")
        return self.cleaned_data


@admin.register(ProfileBadge)
class ProfileBadgeAdmin(ProfileContentAdmin):
    form = ProfileBadgeForm
    related = ("profile__user", "badge")
    list_display = ("badge", "user", "profile", "is_enabled", "selected_tier", "order", "obtained_at")
    list_filter = ("is_enabled",)
    search_fields = (*ProfileContentAdmin.search_fields, "=badge__id")


@admin.register(CustomBadge)
class CustomBadgeAdmin(ProfileContentAdmin):
    list_display = ("__str__", "user", "profile", "is_enabled", "order", "created_at")
    list_filter = ("is_enabled",)
    readonly_fields = ("created_at",)


for plain in (model for content in registry.LISTS.values() for model in content.models):
    if not admin.site.is_registered(plain):
        admin.site.register(plain, ProfileContentAdmin)


class BadgeTierInline(admin.TabularInline[Any, Any]):
    model = BadgeTier
    extra = 0
    ordering = ("tier", "pk")


@admin.register(Badge)
class BadgeAdmin(CatalogueAdmin):
    list_display = ("name", "id", "catalog", "rule", "order")
    list_filter = ("catalog", "rule")
    search_fields = ("=id", "name")
    ordering = ("order", "pk")
    fields = ("id", "catalog", "name", "image", "rule", "order")
    inlines = [BadgeTierInline]

    def shown_by(self, rows: Sequence[Badge]) -> QuerySet[Profile]:
        return Profile.objects.filter(badges__badge__in=[row.pk for row in rows])

    def refresh(self, rows: Sequence[Badge]) -> None:
        """Check users again: a changed rule or threshold may unlock tiers although no counter changes."""
        super().refresh(rows)
        if Badge.objects.filter(pk__in=[row.pk for row in rows]).exclude(rule="").exists():
            badge_tiers.have_everybody_checked()


@admin.register(Game)
class GameAdmin(CatalogueAdmin):
    section_type = SectionType.GAMES
    list_display = ("id", "name", "slug", "released", "rating", "metacritic")
    search_fields = ("=id", "=name", "=slug")


@admin.register(Anime)
class AnimeAdmin(CatalogueAdmin):
    section_type = SectionType.ANIME
    list_display = ("id", "title", "format", "year", "score")
    search_fields = ("=id", "=title")


@admin.register(MediaTitle)
class MediaTitleAdmin(CatalogueAdmin):
    section_type = SectionType.MEDIA
    list_display = ("id", "title", "media_type", "year", "rating")
    search_fields = ("=id", "=title")


@admin.register(MusicItem)
class MusicItemAdmin(CatalogueAdmin):
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
        return profiles.changing(all_of={row.owner_id for row in rows})

    def refresh(self, rows: Sequence[Asset]) -> None:
        """Renders at once, because comments on other profiles show the owner's picture."""
        with profiles.changing(all_of={row.owner_id for row in rows}) as block:
            block.touched.update(block.rows)
