"""Decisions of staff that something of a user is hidden from visitors, and the owners' appeals."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from infrastructure.text_rules import validate_text
from lookup.models.social import MAX_TITLE, Report

MAX_WORDS = 2000  # characters that staff write to the owner
MAX_APPEAL = 1000  # characters that the owner writes


def reason_label(reason: str) -> str:
    """Return the kind of reason as owners and visitors read it."""
    kind = Report.Reason(reason)
    return "Another breach of the terms" if kind == Report.Reason.OTHER else str(kind.label)


class Decision(models.Model):
    """Staff hid a file, an album or a folder of `user`, which `kind`, `thing` and `title` name as in a report.

    `words`: of staff, to the owner. In force until `lifted_at`; lifted and hidden again is another decision. The owner
    appeals once: `appealed_at` is None before, `answered_at` while the appeal waits. It names no reporter. The database
    does not check the rows that it names: a release that does not know this table deletes them, too.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="decisions",
        verbose_name="owner",
        db_constraint=False,
    )
    kind = models.CharField(max_length=16, choices=Report.Kind.choices)
    thing = models.CharField(max_length=36)
    title = models.CharField(max_length=MAX_TITLE)
    reason = models.CharField(max_length=16, choices=Report.Reason.choices)
    words = models.TextField("words to the owner", max_length=MAX_WORDS, blank=True, validators=[validate_text])
    decided_at = models.DateTimeField(default=timezone.now, editable=False)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="decisions_made",
        db_constraint=False,
    )
    lifted_at = models.DateTimeField(null=True)
    appeal = models.TextField(max_length=MAX_APPEAL, blank=True, validators=[validate_text])
    appealed_at = models.DateTimeField(null=True)
    is_granted = models.BooleanField("appeal granted", null=True)
    answer = models.TextField("answer to the owner", max_length=MAX_WORDS, blank=True, validators=[validate_text])
    answered_at = models.DateTimeField(null=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="appeals_answered",
        db_constraint=False,
    )

    class Meta:
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "thing"], condition=Q(lifted_at=None), name="decision_in_force_is_one"
            ),
        ]
        indexes = [
            models.Index(
                fields=["appealed_at"],
                condition=Q(appealed_at__isnull=False, answered_at=None),
                name="decision_appeal_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.title}"

    @property
    def reason_shown(self) -> str:
        """Return the kind of reason as owners and visitors read it."""
        return reason_label(self.reason)

    @property
    def has_open_appeal(self) -> bool:
        return self.appealed_at is not None and self.answered_at is None

    @property
    def may_be_appealed(self) -> bool:
        return self.lifted_at is None and self.appealed_at is None
