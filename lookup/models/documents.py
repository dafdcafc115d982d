"""The read model: what the lookups serve, as the text that they serve.

Only `lookup.documents.documents` and `lookup.documents.counters` write it; `manage.py check_documents` compares it with
the tables.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from lookup.models.profiles import Profile


class UserDocument(models.Model):
    """The user-wide parts: the main profile, the aliases, the counters.

    Counters leave out banned users, and include imported totals without rows (`imported_*`).
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="document"
    )
    uid = models.BigIntegerField(unique=True)
    profile = models.OneToOneField(Profile, on_delete=models.CASCADE, related_name="user_document")
    aliases = models.TextField(default="[]")
    views = models.PositiveBigIntegerField(default=0)
    likes = models.PositiveIntegerField(default=0)
    dislikes = models.PositiveIntegerField(default=0)
    comments = models.PositiveIntegerField(default=0)
    badge_count = models.PositiveIntegerField(default=0, help_text="Enabled badges of the main profile.")
    imported_likes = models.PositiveIntegerField(default=0)
    imported_dislikes = models.PositiveIntegerField(default=0)
    imported_comments = models.PositiveIntegerField(default=0)

    unlock_due = models.BooleanField(default=False, help_text="A counter has changed since badges were last unlocked.")

    class Meta:
        indexes = [
            models.Index(fields=["user"], condition=Q(unlock_due=True), name="user_document_unlock_due"),
            models.Index(F("views").desc(), F("uid"), name="user_document_by_views"),
            models.Index(F("badge_count").desc(), F("uid"), name="user_document_by_badges"),
        ]

    def __str__(self) -> str:
        return str(self.uid)


class ProfileDocument(models.Model):
    """All that the lookups and leaderboards say of a profile and its user, as JSON text, except counters.

    It is stale, and rendered at the next read, where `fingerprint` names other settings and forms than today's, or
    `user_version` another `User.public_version` than the user's. `earlier` and `leaderboard` end where the number of
    views follows.
    """

    profile = models.OneToOneField(Profile, on_delete=models.CASCADE, primary_key=True, related_name="document")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="profile_documents")
    is_main = models.BooleanField(default=False, db_default=False, help_text="Whether its profile is the main one.")
    fingerprint = models.CharField(max_length=16, blank=True)
    user_version = models.BigIntegerField(default=-1, db_default=-1)
    head = models.TextField(default="", db_default="", help_text="`user` of the current form, until the plan ends.")
    lapsed_head = models.TextField(blank=True, default="", db_default="", help_text="The same from then on.")
    plan_ends = models.BigIntegerField(
        null=True, blank=True, help_text="Microseconds since 1970; null: the plan does not end."
    )
    avatar_path = models.CharField(max_length=400, blank=True)
    mirrors_chat = models.BooleanField(default=False)
    profile_text = models.TextField(default="{}")
    badges = models.TextField(default="[]")
    widgets = models.TextField(default="[]")
    audios = models.TextField(default="[]")
    backgrounds = models.TextField(default="[]")
    links = models.TextField(default="[]")
    own_links = models.TextField(
        default="[]", db_default="[]", help_text="Ids of the links that the owner marks as own pages; in no answer."
    )
    projects = models.TextField(default="[]")
    gallery = models.TextField(default="[]")
    sections = models.TextField(default="[]")
    earlier = models.TextField(default="")
    leaderboard = models.TextField(default="")
    leaderboard_digest = models.CharField(
        max_length=32, blank=True, default="", db_default="", help_text="Says whether `leaderboard` has changed."
    )

    def __str__(self) -> str:
        return self.profile_id
