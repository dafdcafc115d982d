"""The snapshot that leaderboards read."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Board(models.TextChoices):
    VIEWS = "views", "Views"
    BADGES = "badges", "Badges"
    UID = "uid", "Uid"


class LeaderboardEntry(models.Model):
    """A place on a board. `change`: the previous rank minus this one, 0 for who is new."""

    board = models.CharField(max_length=8, choices=Board.choices)
    rank = models.PositiveIntegerField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="leaderboard_entries")
    score = models.BigIntegerField()
    change = models.IntegerField(default=0)

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
