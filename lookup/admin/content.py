"""What a profile lists, for staff: widgets, audios, backgrounds, links, projects."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError

from lookup.admin.base import ContentForm, ProfileContentAdmin
from lookup.models import Audio, Background, Link, Project, Widget
from lookup.models.validators import TAGS


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
    form = ContentForm
    list_display = ("identifier", "platform", "type", "user", "profile", "order")


@admin.register(Audio)
class AudioAdmin(ProfileContentAdmin):
    form = ContentForm
    related = ("profile__user", "audio")
    list_display = ("title", "artist", "audio", "user", "profile", "order", "is_active")
    list_filter = ("is_active",)
    autocomplete_fields = ("profile", "audio", "cover")


@admin.register(Background)
class BackgroundAdmin(ProfileContentAdmin):
    form = ContentForm
    related = ("profile__user", "asset")
    list_display = ("__str__", "asset", "user", "profile", "order", "is_active")
    list_filter = ("is_active",)
    autocomplete_fields = ("profile", "asset")


@admin.register(Link)
class LinkAdmin(ProfileContentAdmin):
    form = LinkForm
    list_display = ("__str__", "url", "user", "profile", "order", "is_active", "clicks")
    list_filter = ("is_active", "is_text")
    search_fields = (*ProfileContentAdmin.search_fields, "=url")
    autocomplete_fields = ("profile", "icon")
    readonly_fields = ("clicks", "created_at")


@admin.register(Project)
class ProjectAdmin(ProfileContentAdmin):
    form = ProjectForm
    list_display = ("title", "url", "user", "profile", "order")
    autocomplete_fields = ("profile", "icon")
