"""Rows that a profile lists: widgets, audios, backgrounds, links, projects."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models.users import new_id
from infrastructure.text_rules import validate_line, validate_text, validate_web_address
from lookup.models.profiles import Asset, Profile
from lookup.models.validators import validate_color, validate_svg, validate_tags, validate_target

MAX_URL_LENGTH = 2000


class Widget(models.Model):
    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="widgets")
    platform = models.CharField(max_length=32, validators=[validate_line])
    type = models.CharField(max_length=32, validators=[validate_line])
    identifier = models.CharField(max_length=255, validators=[validate_line])
    order = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.platform} {self.type}"


class Audio(models.Model):
    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="audios")
    title = models.CharField(max_length=128, validators=[validate_line])
    artist = models.CharField(max_length=128, blank=True, validators=[validate_line])
    external_url = models.CharField(max_length=MAX_URL_LENGTH, blank=True, validators=[validate_web_address])
    audio = models.ForeignKey(Asset, on_delete=models.CASCADE, related_name="+")
    cover = models.ForeignKey(Asset, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    order = models.PositiveIntegerField(default=0)
    is_active = models.BooleanField(default=True)

    def __str__(self) -> str:
        return self.title


class Background(models.Model):
    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="backgrounds")
    title = models.CharField(max_length=128, blank=True, validators=[validate_line])
    asset = models.ForeignKey(Asset, on_delete=models.CASCADE, related_name="+")
    order = models.PositiveIntegerField(default=0)
    is_active = models.BooleanField(default=True)

    def __str__(self) -> str:
        return self.title or self.id


class Link(models.Model):
    """A link with an uploaded icon, an SVG icon, or none; never both."""

    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="links")
    title = models.CharField(max_length=128, blank=True, validators=[validate_line])
    url = models.CharField(
        max_length=MAX_URL_LENGTH,
        blank=True,
        help_text="A text entry may have any text here.",
        validators=[validate_line],
    )
    platform_id = models.CharField(max_length=64, blank=True, validators=[validate_line])
    platform_type = models.CharField(max_length=64, blank=True, validators=[validate_line])
    is_text = models.BooleanField(default=False, help_text="Shown as text to copy, not as a link.")
    recolor = models.BooleanField(default=False)
    color = models.CharField(max_length=9, blank=True, validators=[validate_color])
    icon = models.ForeignKey(Asset, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    icon_svg = models.TextField(blank=True, validators=[validate_svg])
    order = models.PositiveIntegerField(default=0)
    is_active = models.BooleanField(default=True)
    is_own = models.BooleanField(
        default=False, db_default=False, help_text='A page of its owner: the profile links to it with rel="me".'
    )
    clicks = models.PositiveBigIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(icon__isnull=True) | Q(icon_svg=""), name="link_icon_or_svg_not_both"),
        ]

    def __str__(self) -> str:
        return self.title or self.url

    def clean(self) -> None:
        """Raise ValidationError for a link whose `url` is neither a web address nor `mailto:` and an email address."""
        if not self.is_text:
            validate_target(self.url)


class Project(models.Model):
    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="projects")
    title = models.CharField(max_length=128, validators=[validate_line])
    description = models.TextField(max_length=2000, blank=True, validators=[validate_text])
    url = models.CharField(max_length=MAX_URL_LENGTH, blank=True, validators=[validate_web_address])
    tags = models.JSONField(default=list, blank=True, validators=[validate_tags])
    icon = models.ForeignKey(Asset, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    order = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return self.title
