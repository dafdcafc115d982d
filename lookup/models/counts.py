"""Entries of leaderboards; visitors of the last day as keyed hashes; batches of counted views and clicks, and both by
day."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from lookup.models.content import Link
from lookup.models.profiles import Profile


class Board(models.TextChoices):
    VIEWS = "views", "Views"
    BADGES = "badges", "Badges"
    UID = "uid", "Uid"


class LeaderboardEntry(models.Model):
    """A place on a board. `change`: the previous rank minus this one, 0 for new users; `is_new`: the previous ranking
    had places, and none for this user."""

    board = models.CharField(max_length=8, choices=Board.choices)
    rank = models.PositiveIntegerField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="leaderboard_entries")
    score = models.BigIntegerField()
    change = models.IntegerField(default=0)
    is_new = models.BooleanField(default=False, db_default=False)

    class Meta:
        verbose_name_plural = "leaderboard entries"
        constraints = [
            models.UniqueConstraint(fields=["board", "rank"], name="leaderboard_rank_is_unique"),
            models.UniqueConstraint(fields=["board", "user"], name="leaderboard_user_is_unique"),
            models.CheckConstraint(
                condition=Q(board__in=["views", "badges", "uid"]), name="leaderboard_board_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.board} {self.rank}"


class VisitSalt(models.Model):
    """The key of a day's visitor hashes; deleted two days later, after which no hash leads back to an address."""

    day = models.DateField(primary_key=True)
    salt = models.CharField(max_length=64)

    def __str__(self) -> str:
        return str(self.day)


class Visit(models.Model):
    """A visitor (a keyed hash of address and user agent) of a profile, counted once in 24 hours."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="visits")
    visitor = models.CharField(max_length=64)
    counted_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "visitor"], name="visit_is_unique"),
        ]

    def __str__(self) -> str:
        return self.visitor[:8]


class VisitBatch(models.Model):
    """Written in the transaction that adds the batch's counts, so that a batch that comes again adds nothing."""

    token = models.CharField(max_length=64, primary_key=True)
    folded_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.token


class ProfileDay(models.Model):
    """Views of a profile on a day (UTC) by visitors from one host: `lookup.visits.visitors.DIRECT`, OTHER, or its name.

    The database does not check the profile: a release that does not know this table deletes profiles too, and a
    deletion need not wait for counted views.
    """

    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="days", db_constraint=False)
    day = models.DateField(db_index=True)
    host = models.CharField(max_length=100, blank=True)
    views = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["profile", "day", "host"], name="profile_day_host_is_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.host}"


class LinkDay(models.Model):
    """Clicks on a link on a day (UTC). The database does not check the link, as in ProfileDay."""

    link = models.ForeignKey(Link, on_delete=models.CASCADE, related_name="days", db_constraint=False)
    day = models.DateField(db_index=True)
    clicks = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["link", "day"], name="link_day_is_unique"),
        ]

    def __str__(self) -> str:
        return str(self.day)
