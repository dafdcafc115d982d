"""Reports of profiles, comments and replies: visitors send them, staff decide. The owner never learns who reported."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.utils import timezone

from accounts import audit, users
from accounts.models import User
from infrastructure.text_rules import validate_text
from lookup.models import Comment, Report
from lookup.models.social import MAX_REPORT
from lookup.social import comments
from lookup.social.feedback import lock_people

ALREADY = "You have already reported this. Staff have not decided yet."
TOO_LONG = f"Write at most {MAX_REPORT} characters."
NO_WORDS = "Describe the problem."


@transaction.atomic
def send(*, user: User, name: str, comment: Comment | None, reason: str, text: str, by: User) -> Report:
    """Report the profile of `user`, which was shown as `name`, or a comment or reply on it. A blocked user may.

    Raises ValidationError: an open report of `by` about it exists, or as `validated`; PermissionDenied: one's own
    profile or comment, or `by` is banned; User.DoesNotExist, Comment.DoesNotExist where it was deleted.
    """
    text = validated(text, reason=reason)
    author_id = None if comment is None else comment.author_id
    lock_people(user_id=user.pk, by=by, author_id=author_id)
    if comment is not None:
        comment = Comment.objects.select_for_update(no_key=True).get(pk=comment.pk, user=user)
    if problem := refusal(user_id=user.pk, comment=comment, by=by):
        raise PermissionDenied(problem)
    if is_open(user_id=user.pk, comment=comment, by=by):
        raise ValidationError(ALREADY)
    report = Report.objects.create(
        user=user,
        name=name,
        comment=comment,
        comment_text="" if comment is None else comment.content,
        author_id=author_id,
        reporter=by,
        reason=reason,
        text=text,
    )
    audit.record("report:sent", by=by, on=report, user=user.pk, comment=comment and comment.pk, reason=reason)
    return report


def validated(text: str, *, reason: str) -> str:
    """Return the text without spaces around it. Raises ValidationError: longer than MAX_REPORT, unsafe characters, or
    empty for OTHER."""
    text = text.strip()
    if len(text) > MAX_REPORT:
        raise ValidationError(TOO_LONG)
    if not text and reason == Report.Reason.OTHER:
        raise ValidationError(NO_WORDS)
    validate_text(text)
    return text


def refusal(*, user_id: str, comment: Comment | None, by: User) -> str:
    """Return why `by` may not report this; empty where they may."""
    if comment is None:
        return "You cannot report your own profile." if by.pk == user_id else ""
    return "You cannot report your own comment." if by.pk == comment.author_id else ""


def is_open(*, user_id: str, comment: Comment | None, by: User) -> bool:
    """Return whether staff have yet to decide a report of `by` about this. 1 query by a unique index."""
    mine = Report.objects.filter(reporter=by, decided_at=None)
    found = mine.filter(user=user_id, comment_text="") if comment is None else mine.filter(comment=comment)
    return found.exists()


@transaction.atomic
def dismiss(*, report: Report, by: User, reason: str) -> None:
    """Close the report without an effect. Raises ValidationError where it is decided already."""
    _decide(_locked(report), Report.Outcome.DISMISSED, by=by, reason=reason)


@transaction.atomic
def mark_handled(*, report: Report, by: User, reason: str) -> None:
    """Close the report after an action elsewhere, such as a ban. Raises ValidationError where it is decided already."""
    _decide(_locked(report), Report.Outcome.HANDLED, by=by, reason=reason)


@transaction.atomic
def delete_comment(*, report: Report, by: User, reason: str) -> None:
    """Delete the reported comment, if it still exists, and close all open reports about it.

    Raises ValidationError: about a profile, or as `dismiss`; PermissionDenied: `by` may not delete comments, or the
    profile belongs to staff and `by` is no superuser.
    """
    if not by.has_perm("lookup.delete_comment"):
        raise PermissionDenied("You may not delete comments.")
    if not report.comment_text:
        raise ValidationError("This report is about a profile. It has no comment to delete.")
    users.check_may_act_for(owner=report.user, by=by)
    comment = Comment.objects.filter(reports=report).first()
    try:
        comment = comment and comments.locked_for_deletion(comment)  # before its reports, as by other deletions
    except Comment.DoesNotExist:
        comment = None
    about = [_locked(report)]
    if comment is not None:
        same = Report.objects.select_for_update().filter(comment=comment, decided_at=None)
        about += same.exclude(pk=report.pk).order_by("pk")
        comments.delete(comment=comment, by=by, by_staff=True)
        audit.record("comment:deleted", by=by, on=report.user, comment=comment.pk, author=comment.author_id)
    for one in about:
        _decide(one, Report.Outcome.DELETED, by=by, reason=reason)


def _locked(report: Report) -> Report:
    """Return the report, locked. Raises ValidationError: it is decided already, or was deleted with its user."""
    found = Report.objects.select_for_update().filter(pk=report.pk, decided_at=None).first()
    if found is None:
        raise ValidationError("This report is decided already.")
    return found


def _decide(report: Report, outcome: Report.Outcome, *, by: User, reason: str) -> None:
    """Decide the report. Raises PermissionDenied: it is about `by`, who is no superuser."""
    if by.pk in {report.user_id, report.author_id} and not by.is_superuser:
        raise PermissionDenied("You cannot decide a report about your own profile or comment.")
    report.decided_at, report.decided_by, report.outcome = timezone.now(), by, outcome
    report.save(update_fields=["decided_at", "decided_by", "outcome"])
    audit.record("report:decided", by=by, on=report, reason=reason, outcome=outcome.value)
