"""Votes, comments, replies and likes on the profiles of a user; all of them are user-wide."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from accounts.models.users import new_id
from accounts.text_rules import validate_text


class FeedbackVote(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="feedback_votes")
    voter = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="votes_given")
    is_like = models.BooleanField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "voter"], name="feedback_vote_is_unique"),
            models.CheckConstraint(condition=~Q(user=F("voter")), name="feedback_vote_is_not_ones_own"),
        ]

    def __str__(self) -> str:
        return "like" if self.is_like else "dislike"


class Comment(models.Model):
    """A comment on the profile of `user`, or a reply to one.

    The counts leave out banned users. `imported_*`: what another installation had counted, without rows here.
    """

    id = models.CharField(max_length=32, primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="comments")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="comments_written")
    parent = models.ForeignKey("self", on_delete=models.CASCADE, null=True, blank=True, related_name="replies")
    content = models.TextField(max_length=2000, validators=[validate_text])
    is_pinned = models.BooleanField(default=False)
    like_count = models.PositiveIntegerField(default=0, editable=False)
    reply_count = models.PositiveIntegerField(default=0, editable=False)
    imported_like_count = models.PositiveIntegerField(default=0, editable=False)
    imported_reply_count = models.PositiveIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(parent__isnull=True) | Q(is_pinned=False), name="comment_reply_not_pinned"
            ),
        ]
        indexes = [
            models.Index(
                F("user"),
                F("is_pinned").desc(),
                F("created_at").desc(),
                F("id"),
                condition=Q(parent__isnull=True),
                name="comment_in_shown_order",
            ),
        ]

    def __str__(self) -> str:
        return self.content[:40]


class ProfileBlock(models.Model):
    """`blocked` may not vote, comment, reply or like on the profiles of `user`; what is there stays."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="blocks")
    blocked = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="blocked_by")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "blocked"], name="profile_block_is_unique"),
            models.CheckConstraint(condition=~Q(user=F("blocked")), name="profile_block_is_of_another_user"),
        ]

    def __str__(self) -> str:
        return self.blocked_id


class CommentLike(models.Model):
    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="likes")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="comment_likes")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["comment", "user"], name="comment_like_is_unique"),
        ]

    def __str__(self) -> str:
        return self.comment_id
