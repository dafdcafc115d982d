"""Sections of profiles and their pictures, for staff."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from lookup import sections
from lookup.admin.fields import ContentForm, by_path
from lookup.admin.profile_rows import ProfileContentAdmin
from lookup.models import GalleryItem, Section
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
        """What was left out of the configuration is filled in for the type, whether or not anybody wrote in it."""
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
