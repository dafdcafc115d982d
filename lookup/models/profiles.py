"""Profiles: one for each user, and one for each alias that shows its own."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Name
from accounts.models.users import new_id
from accounts.text_rules import validate_line, validate_text
from lookup.models.assets import Asset


def _asset() -> models.ForeignKey[Asset | None, Asset | None]:
    return models.ForeignKey(Asset, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")


class Profile(models.Model):
    """What a user shows. The main one is user-wide; any other belongs to an alias.

    `settings` holds what differs from the defaults (lookup.settings_schema). Whoever changes a row of a profile calls
    `documents.rebuild` in the same transaction.
    """

    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="profiles")
    is_main = models.BooleanField(default=True, editable=False)
    name = models.CharField(max_length=64, help_text="What its owner calls the profile.", validators=[validate_line])
    display_name = models.CharField(max_length=64, blank=True, validators=[validate_line])
    description = models.TextField(max_length=2000, blank=True, validators=[validate_text])
    location = models.CharField(max_length=64, blank=True, validators=[validate_line])
    theme = models.CharField(max_length=32, blank=True, validators=[validate_line])
    font = models.CharField(max_length=64, blank=True, validators=[validate_line])
    font_username = models.CharField(max_length=64, blank=True, validators=[validate_line])
    sound_effect = models.CharField(max_length=64, blank=True, validators=[validate_line])
    sound_effect_button = models.CharField(max_length=64, blank=True, validators=[validate_line])
    avatar = _asset()
    banner = _asset()
    cursor = _asset()
    cursor_pointer = _asset()
    font_asset = _asset()
    font_username_asset = _asset()
    sound_effect_asset = _asset()
    sound_effect_button_asset = _asset()
    metadata_favicon = _asset()
    metadata_banner = _asset()
    settings = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    ASSETS = (
        *("avatar", "banner", "cursor", "cursor_pointer", "font_asset", "font_username_asset"),
        *("sound_effect_asset", "sound_effect_button_asset", "metadata_favicon", "metadata_banner"),
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user"], condition=Q(is_main=True), name="profile_one_main_for_each_user"),
        ]

    def __str__(self) -> str:
        return self.name


class Alias(models.Model):
    """What becomes of a visitor of an alias: redirected to the username, or shown a profile.

    A row of the namespace of kind ALIAS; `profile` None: the alias shows the main one.
    """

    name = models.OneToOneField(Name, on_delete=models.CASCADE, primary_key=True, related_name="alias")
    redirects = models.BooleanField(default=True)
    profile = models.OneToOneField(Profile, on_delete=models.SET_NULL, null=True, blank=True, related_name="alias")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "aliases"

    def __str__(self) -> str:
        return self.name_id
