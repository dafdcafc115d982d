"""Notices of staff to a person: posted with what staff did, warnings, and dismissed by the person."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts import audit, notifications, users
from accounts.models import StaffNotice, User
from accounts.models.notices import MAX_NOTICE
from infrastructure import text_rules

SUBJECTS = {
    StaffNotice.Kind.WARNING: "A warning",
    StaffNotice.Kind.PICTURE: "A picture was removed from your profile",
    StaffNotice.Kind.HIDDEN: "Your profile was hidden",
}


def post(*, user: User, kind: StaffNotice.Kind, text: str, was_public: bool = False) -> StaffNotice:
    """Show the notice on the person's dashboard, and send it by email after the commit. Call it in the transaction of
    what it tells, under a lock of the user. Raises ValidationError: nothing to see, or longer than MAX_NOTICE; or the
    person has not dismissed a warning of these words yet."""
    text = text.strip()
    if len(text) > MAX_NOTICE or not text_rules.has_something_to_see(text):
        raise ValidationError(f"Write 1 to {MAX_NOTICE} characters: the owner reads them.")
    if kind == StaffNotice.Kind.WARNING and user.staff_notices.filter(kind=kind, text=text, dismissed_at=None).exists():
        raise ValidationError("The person has this warning already.")
    notice = StaffNotice.objects.create(user=user, kind=kind, text=text, was_public=was_public)
    write_to(user, SUBJECTS[kind], notice=notice)
    return notice


def write_to(user: User, subject: str, **context: object) -> None:
    """Send the letter of `notice`, or without one that the profile is shown again."""
    notifications.send_after_commit(
        to=user,
        subject=subject,
        template="dashboard/letters/staff_notice.txt",
        context={"notice": None, "support_email": settings.SUPPORT_EMAIL, **context},
    )


@transaction.atomic
def warn(*, user: User, by: User, reason: str) -> StaffNotice:
    """Post a warning, which is all that happens. Raises ValidationError as `post`; PermissionDenied: a staff account,
    and `by` is no superuser."""
    users.check_authority(user=user, by=by)
    users.lock(user.pk)
    notice = post(user=user, kind=StaffNotice.Kind.WARNING, text=reason)
    audit.record("user:warned", by=by, on=user, reason=notice.text)
    return notice


def keep_private(*, user: User) -> None:
    """Let a profile that staff have hidden be private when they show it again. 1 query."""
    hidden = user.staff_notices.filter(kind=StaffNotice.Kind.HIDDEN, dismissed_at=None)
    hidden.update(was_public=False)


def shown_to(user: User) -> list[StaffNotice]:
    """Return what the person has not dismissed, the newest first. 1 query."""
    return list(user.staff_notices.filter(dismissed_at=None).order_by("-created_at", "-pk"))


def dismiss(*, user: User, pk: int) -> None:
    """Take the person's own notice off their dashboard. Idempotent. That of a hidden profile stays."""
    shown = user.staff_notices.filter(pk=pk, dismissed_at=None).exclude(kind=StaffNotice.Kind.HIDDEN)
    shown.update(dismissed_at=timezone.now())
