"""Sections of a profile, the pictures of its gallery, and the catalogues that sections name."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from accounts.models.users import new_id
from infrastructure.text_rules import validate_line, validate_text
from lookup.models.profiles import Asset, Profile
from lookup.shapes.sections import Alignment, SectionType


class Section(models.Model):
    """`config`: as `lookup.shapes.sections` validates it for the type; answers leave out one that no longer passes."""

    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="sections")
    type = models.CharField(max_length=16, choices=SectionType.choices)
    order = models.PositiveIntegerField(default=0)
    title = models.CharField(max_length=128, blank=True, validators=[validate_line])
    description = models.TextField(max_length=1000, blank=True, validators=[validate_text])
    alignment = models.CharField(max_length=8, choices=Alignment.choices, default=Alignment.LEFT)
    is_enabled = models.BooleanField(default=True)
    config = models.JSONField(default=dict, blank=True)

    def __str__(self) -> str:
        return self.title or self.type


class GalleryItem(models.Model):
    """A picture, in a section of type GALLERY or in none."""

    class Width(models.TextChoices):
        HALF = "half", "Half"
        FULL = "full", "Full"
        QUAD = "quad", "Quad"

    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="gallery")
    section = models.ForeignKey(Section, on_delete=models.SET_NULL, null=True, blank=True, related_name="items")
    asset = models.ForeignKey(Asset, on_delete=models.CASCADE, related_name="+")
    caption = models.CharField(max_length=255, blank=True, validators=[validate_line])
    width = models.CharField(max_length=4, choices=Width.choices, default=Width.HALF)
    order = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(width__in=["half", "full", "quad"]), name="gallery_item_width_is_known"),
        ]

    def __str__(self) -> str:
        return self.caption or self.id


class Game(models.Model):
    id = models.BigIntegerField(primary_key=True, verbose_name="Catalogue id")
    name = models.CharField(max_length=255, validators=[validate_line])
    image = models.CharField(max_length=500, blank=True, validators=[validate_line])
    slug = models.CharField(max_length=255, blank=True, validators=[validate_line])
    released = models.DateField(null=True, blank=True)
    rating = models.FloatField(null=True, blank=True)
    metacritic = models.IntegerField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name


class Anime(models.Model):
    id = models.BigIntegerField(primary_key=True, verbose_name="Catalogue id")
    title = models.CharField(max_length=255, validators=[validate_line])
    image = models.CharField(max_length=500, blank=True, validators=[validate_line])
    format = models.CharField(max_length=32, blank=True, validators=[validate_line])
    year = models.IntegerField(null=True, blank=True)
    score = models.FloatField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "anime"

    def __str__(self) -> str:
        return self.title


class MediaTitle(models.Model):
    id = models.BigIntegerField(primary_key=True, verbose_name="Catalogue id")
    media_type = models.CharField(max_length=32, validators=[validate_line])
    title = models.CharField(max_length=255, validators=[validate_line])
    image = models.CharField(max_length=500, blank=True, validators=[validate_line])
    year = models.IntegerField(null=True, blank=True)
    rating = models.FloatField(null=True, blank=True)

    def __str__(self) -> str:
        return self.title


class MusicItem(models.Model):
    """`artist` is a track's or an album's, `album` only a track's."""

    class Kind(models.TextChoices):
        TRACK = "track", "Track"
        ALBUM = "album", "Album"
        ARTIST = "artist", "Artist"

    kind = models.CharField(max_length=8, choices=Kind.choices)
    music_id = models.CharField(max_length=100, validators=[validate_line])
    title = models.CharField(max_length=255, validators=[validate_line])
    image = models.CharField(max_length=500, blank=True, validators=[validate_line])
    artist = models.CharField(max_length=255, blank=True, validators=[validate_line])
    album = models.CharField(max_length=255, blank=True, validators=[validate_line])

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "music_id"], name="music_item_is_unique"),
            models.CheckConstraint(condition=Q(kind__in=["track", "album", "artist"]), name="music_item_kind_is_known"),
        ]

    def __str__(self) -> str:
        return self.title
