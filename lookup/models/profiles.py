"""Profiles, one for each user and one for each alias that shows its own; the files that they show."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Name
from accounts.models.users import new_id
from infrastructure.databases.folding import FoldedField
from infrastructure.text_rules import validate_line, validate_text

# A path under the upload CDN: segments that no URL has to escape, none of them "." or "..".
PATH_PATTERN = r"\A(?!.*(?:^|/)\.{1,2}(?:/|\Z))[A-Za-z0-9._~-]+(?:/[A-Za-z0-9._~-]+)*\Z"


class Asset(models.Model):
    """A file on the upload CDN. `width` and `height` in pixels, `duration` in seconds; None where it has none.

    `size` in bytes where the file is kept in our own store, at the key `lookup.editing.uploads.key_of`; None: it is
    kept elsewhere. `unused_since`: when the job first found it unused.
    """

    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="assets")
    path = models.CharField(
        max_length=400,
        validators=[RegexValidator(PATH_PATTERN, "Use a relative path of letters, digits and . _ ~ - /")],
        help_text="Under UPLOAD_CDN_URL, without a leading slash.",
    )
    mime = models.CharField(max_length=100, validators=[validate_line])
    width = models.PositiveIntegerField(null=True, blank=True)
    height = models.PositiveIntegerField(null=True, blank=True)
    duration = models.FloatField(null=True, blank=True, help_text="Seconds.")
    size = models.PositiveBigIntegerField(null=True, blank=True, editable=False)
    unused_since = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["path"], condition=Q(size__isnull=False), name="asset_kept_path_is_unique"),
            models.CheckConstraint(
                condition=Q(duration__isnull=True) | Q(duration__gte=0), name="asset_duration_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return self.path


def _asset() -> models.ForeignKey[Asset | None, Asset | None]:
    return models.ForeignKey(Asset, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")


class Profile(models.Model):
    """A profile of a user: the main one, which is user-wide, or the profile of an alias.

    `settings` holds differences from the defaults (lookup.shapes.settings_schema). Rows of a profile are changed inside
    `lookup.editing.profiles.changing`.
    """

    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="profiles")
    is_main = models.BooleanField(default=True, editable=False)
    name = models.CharField(max_length=64, help_text="What its owner calls the profile.", validators=[validate_line])
    display_name = models.CharField(max_length=64, blank=True, validators=[validate_line])
    display_name_folded = FoldedField(of="display_name", max_length=64)
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
        indexes = [
            models.Index(
                fields=["display_name_folded"],
                condition=Q(display_name_folded__gt=""),
                opclasses=["varchar_pattern_ops"],
                name="profile_display_name_folded",
            )
        ]
        constraints = [
            models.UniqueConstraint(fields=["user"], condition=Q(is_main=True), name="profile_one_main_for_each_user"),
        ]

    def __str__(self) -> str:
        return self.name


class Alias(models.Model):
    """A second name of a user, whose visitors are redirected to the username or see a profile.

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
