"""The badge catalogue, and the badges of profiles."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.functional import cached_property

from accounts.models.users import new_id
from infrastructure.text_rules import validate_line
from lookup.models.profiles import Asset, Profile
from lookup.models.validators import validate_color, validate_file_name, validate_svg


class UnlockRule(models.TextChoices):
    """Which counter of the user unlocks the tiers of a badge."""

    VIEWS = "VIEWS", "Profile views"
    LIKES = "LIKES", "Likes of the profile"
    COMMENTS = "COMMENTS", "Comments on the profile"


class Badge(models.Model):
    """A badge of the catalogue; its artwork is under ASSET_URL/badges/<catalog>/."""

    id = models.SlugField(max_length=32, primary_key=True)
    catalog = models.SlugField(max_length=32, default="standard")
    name = models.CharField(max_length=40, validators=[validate_line])
    image = models.CharField(max_length=100, validators=[validate_file_name])
    rule = models.CharField(max_length=8, choices=UnlockRule.choices, blank=True, help_text="Empty: given by staff.")
    order = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(rule__in=["", *UnlockRule.values]), name="badge_rule_is_known"),
        ]

    def __str__(self) -> str:
        return self.name

    @cached_property
    def sorted_tiers(self) -> list[BadgeTier]:
        """Return the tiers, lowest first, cached by this object."""
        return sorted(self.tiers.all(), key=lambda tier: tier.tier)


class BadgeTier(models.Model):
    badge = models.ForeignKey(Badge, on_delete=models.CASCADE, related_name="tiers")
    tier = models.PositiveSmallIntegerField()
    threshold = models.FloatField(default=0)
    title = models.CharField(max_length=64, validators=[validate_line])
    description = models.CharField(max_length=255, blank=True, validators=[validate_line])
    color = models.CharField(max_length=9, blank=True, validators=[validate_color])
    image = models.CharField(max_length=100, validators=[validate_file_name])

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["badge", "tier"], name="badge_tier_is_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.badge_id} {self.tier}"


class ProfileBadge(models.Model):
    """A catalogue badge that a profile has. A tier that was unlocked stays unlocked."""

    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="badges")
    badge = models.ForeignKey(Badge, on_delete=models.PROTECT, related_name="holders")
    is_enabled = models.BooleanField(default=True)
    selected_tier = models.PositiveSmallIntegerField(null=True, blank=True)
    unlocked_tiers = models.JSONField(default=list, blank=True)
    color = models.CharField(max_length=9, blank=True, validators=[validate_color])
    recolor = models.BooleanField(default=False)
    order = models.PositiveIntegerField(default=0)
    obtained_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["profile", "badge"], name="profile_badge_is_unique"),
        ]

    def __str__(self) -> str:
        return self.badge_id


class CustomBadge(models.Model):
    """A badge that the user made: an image or an icon, never both."""

    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="custom_badges")
    name = models.CharField(max_length=40, blank=True, validators=[validate_line])
    image = models.ForeignKey(Asset, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    icon_svg = models.TextField(blank=True, validators=[validate_svg])
    color = models.CharField(max_length=9, blank=True, validators=[validate_color])
    recolor = models.BooleanField(default=False)
    is_enabled = models.BooleanField(default=True)
    order = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(image__isnull=True) | Q(icon_svg=""), name="custom_badge_image_or_icon_not_both"
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.id
