"""Admin of the badge catalogue and of the badges of profiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from lookup.admin.base import CatalogueAdmin, ContentForm, ProfileContentAdmin
from lookup.editing import unlocking
from lookup.models import Badge, BadgeTier, CustomBadge, Profile, ProfileBadge


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
            unlocking.have_everybody_checked()


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


class CustomBadgeForm(ContentForm):
    never_both = ("image", "icon_svg")


@admin.register(CustomBadge)
class CustomBadgeAdmin(ProfileContentAdmin):
    form = CustomBadgeForm
    list_display = ("__str__", "user", "profile", "is_enabled", "order", "created_at")
    list_filter = ("is_enabled",)
    readonly_fields = ("created_at",)
