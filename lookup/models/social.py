"""Votes, comments, replies and likes on the profiles of a user; all of them are user-wide."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from accounts.models.names import MAX_NAME_LENGTH
from accounts.models.users import new_id
from infrastructure.text_rules import validate_text

MAX_REPORT = 500  # characters of what the reporter writes
MAX_TITLE = 255  # of a file, an album or a folder


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


class Report(models.Model):
    """A report that something of `user` breaks the rules: a profile, a comment or reply there, or a file, an album or a
    folder; staff decide.

    `name`: of the profile's page. `comment_text` and `author` keep what was reported after the comment is deleted; both
    are empty for other things. `thing`: the id of a file, an album or a folder, which apps above know; `title` and
    `path` keep how it was named and the path of its page. `decided_at`: None while the report is open. The database
    does not check the rows that it names: a release that does not know this table deletes them, too.
    """

    class Kind(models.TextChoices):
        PROFILE = "PROFILE", "Profile"
        COMMENT = "COMMENT", "Comment"
        FILE = "FILE", "File"
        ALBUM = "ALBUM", "Album"
        FOLDER = "FOLDER", "Folder"

    class Reason(models.TextChoices):
        SPAM = "SPAM", "Spam or advertising"
        HARASSMENT = "HARASSMENT", "Harassment or hate"
        SEXUAL = "SEXUAL", "Sexual content"
        IMPERSONATION = "IMPERSONATION", "Pretends to be someone else"
        PRIVATE = "PRIVATE", "Shows private information"
        ILLEGAL = "ILLEGAL", "Violence or illegal content"
        OTHER = "OTHER", "Something else"

    class Outcome(models.TextChoices):
        DISMISSED = "DISMISSED", "Dismissed"
        HANDLED = "HANDLED", "Handled"
        DELETED = "DELETED", "Comment deleted"
        TAKEN_DOWN = "TAKEN_DOWN", "Taken down"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="reports",
        verbose_name="owner",
        db_constraint=False,
    )
    name = models.CharField(max_length=MAX_NAME_LENGTH)
    kind = models.CharField(max_length=16, choices=Kind.choices, default=Kind.PROFILE, db_default=Kind.PROFILE)
    thing = models.CharField(max_length=36, default="", db_default="")
    title = models.CharField(max_length=MAX_TITLE, default="", db_default="")
    path = models.CharField(max_length=200, default="", db_default="")
    comment = models.ForeignKey(
        Comment, on_delete=models.SET_NULL, null=True, related_name="reports", db_constraint=False
    )
    comment_text = models.TextField("reported text", max_length=2000, default="", db_default="")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        related_name="reports_as_author",
        db_constraint=False,
    )
    reporter = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="reports_made", db_constraint=False
    )
    reason = models.CharField(max_length=16, choices=Reason.choices)
    text = models.TextField("details", max_length=MAX_REPORT, default="", db_default="", validators=[validate_text])
    created_at = models.DateTimeField("sent", default=timezone.now, editable=False)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="reports_decided",
        db_constraint=False,
    )
    outcome = models.CharField(max_length=16, choices=Outcome.choices, null=True)  # noqa: DJ001 - open reports have none

    class Meta:
        default_permissions = ("view", "decide")
        constraints = [
            models.UniqueConstraint(
                fields=["reporter", "comment"], condition=Q(decided_at=None), name="report_of_comment_is_open_once"
            ),
            models.UniqueConstraint(
                fields=["reporter", "user"],
                condition=Q(decided_at=None, comment_text="", thing=""),
                name="report_of_profile_is_open_once",
            ),
            models.UniqueConstraint(
                fields=["reporter", "kind", "thing"],
                condition=Q(decided_at=None) & ~Q(thing=""),
                name="report_of_thing_is_open_once",
            ),
        ]
        indexes = [models.Index(fields=["created_at"], condition=Q(decided_at=None), name="report_open")]

    def __str__(self) -> str:
        if self.thing:
            return f"{self.get_reason_display()}: {self.get_kind_display().lower()} {self.title}"
        thing = "comment" if self.comment_text else "profile"
        return f"{self.get_reason_display()}: {thing} on /{self.name}"


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
