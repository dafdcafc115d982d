"""Reports of profiles, comments, replies, files, albums and folders: visitors send them, staff decide. The owner never
learns who reported."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts import audit, users
from accounts.models import EventType, User
from accounts.webhooks import outbox
from infrastructure.text_rules import validate_text
from lookup.models import Comment, Report
from lookup.models.social import MAX_REPORT
from lookup.social import comments
from lookup.social.feedback import lock_people

ALREADY = "You have already reported this. Staff have not decided yet."
TOO_LONG = f"Write at most {MAX_REPORT} characters."
NO_WORDS = "Describe the problem."
NO_RIGHT = "You may not delete comments."
DECIDED = "This report is decided already."


@dataclass(frozen=True)
class Thing:
    """A file, an album or a folder, which apps above know by `id`. `title`: as shown; `path`: of its public page."""

    kind: Report.Kind
    id: str
    title: str
    path: str


@transaction.atomic
def send(
    *, user: User, name: str, comment: Comment | None, reason: str, text: str, by: User, thing: Thing | None = None
) -> Report:
    """Report the profile of `user`, which was shown as `name`, or a comment or reply on it, or a thing of theirs.

    A blocked user may. Raises ValidationError: an open report of `by` about it exists, or as `validated`;
    PermissionDenied: one's own, or `by` is banned; User.DoesNotExist, Comment.DoesNotExist where it was deleted.
    """
    text = validated(text, reason=reason)
    author_id = None if comment is None else comment.author_id
    lock_people(user_id=user.pk, by=by, author_id=author_id)
    if comment is not None:
        comment = Comment.objects.select_for_update(no_key=True).get(pk=comment.pk, user=user)
    if problem := refusal(user_id=user.pk, comment=comment, by=by, thing=thing):
        raise PermissionDenied(problem)
    if is_open(user_id=user.pk, comment=comment, by=by, thing=thing):
        raise ValidationError(ALREADY)
    kind = thing.kind if thing is not None else Report.Kind.COMMENT if comment is not None else Report.Kind.PROFILE
    named = {} if thing is None else {"thing": thing.id, "title": thing.title, "path": thing.path}
    report = Report.objects.create(
        user=user,
        name=name,
        kind=kind,
        **named,
        comment=comment,
        comment_text="" if comment is None else comment.content,
        author_id=author_id,
        reporter=by,
        reason=reason,
        text=text,
    )
    about = {"comment": comment and comment.pk} if thing is None else {"kind": kind.value, "thing": thing.id}
    audit.record("report:sent", by=by, on=report, user=user.pk, reason=reason, **about)
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


def refusal(*, user_id: str, comment: Comment | None, by: User, thing: Thing | None = None) -> str:
    """Return why `by` may not report this; empty where they may."""
    if thing is not None:
        return f"You cannot report your own {thing.kind.label.lower()}." if by.pk == user_id else ""
    if comment is None:
        return "You cannot report your own profile." if by.pk == user_id else ""
    return "You cannot report your own comment." if by.pk == comment.author_id else ""


def is_open(*, user_id: str, comment: Comment | None, by: User, thing: Thing | None = None) -> bool:
    """Return whether staff have yet to decide a report of `by` about this. 1 query by a unique index."""
    about = Q(user=user_id, comment_text="", thing="") if comment is None else Q(comment=comment)
    if thing is not None:
        about = Q(kind=thing.kind, thing=thing.id)
    return Report.objects.filter(about, reporter=by, decided_at=None).exists()


@transaction.atomic
def dismiss(*, report: Report, by: User, reason: str) -> None:
    """Close the report without an effect. Raises ValidationError where it is decided already."""
    decide(_locked(report), Report.Outcome.DISMISSED, by=by, reason=reason)


@transaction.atomic
def mark_handled(*, report: Report, by: User, reason: str) -> None:
    """Close the report after an action elsewhere, such as a ban. Raises ValidationError where it is decided already."""
    decide(_locked(report), Report.Outcome.HANDLED, by=by, reason=reason)


@transaction.atomic
def delete_comment(*, report: Report, by: User, reason: str) -> None:
    """Delete the reported comment, if it still exists, and close all open reports about it.

    Raises ValidationError: about a profile, or as `dismiss`; PermissionDenied: `by` may not delete comments, or the
    profile belongs to staff and `by` is no superuser.
    """
    if problem := bar_of_deletion(by):
        raise PermissionDenied(problem)
    if not report.comment_text:
        raise ValidationError("This report is about a profile. It has no comment to delete.")
    users.check_may_act_for(owner=report.user, by=by)
    comment = Comment.objects.filter(reports=report).first()
    try:
        comment = comment and comments.locked_for_deletion(comment)  # before its reports, as by other deletions
    except Comment.DoesNotExist:
        comment = None
    about = _locked_with(report, Q(comment=comment)) if comment is not None else [_locked(report)]
    if comment is not None:
        comments.delete(comment=comment, by=by, by_staff=True)
        audit.record("comment:deleted", by=by, on=report.user, comment=comment.pk, author=comment.author_id)
    for one in about:
        decide(one, Report.Outcome.DELETED, by=by, reason=reason)


def bar_of_deletion(by: User) -> str:
    """Return why `by` may not delete a reported comment; empty where they may."""
    return "" if by.has_perm("lookup.delete_comment") else NO_RIGHT


@transaction.atomic
def close_taken_down(*, report: Report, by: User, reason: str) -> None:
    """Close every open report about a file, an album or a folder that is hidden from visitors now. The caller has
    locked it. Raises as `dismiss`."""
    for one in _locked_with(report, Q(kind=report.kind, thing=report.thing)):
        decide(one, Report.Outcome.TAKEN_DOWN, by=by, reason=reason)


def _locked_with(report: Report, same: Q) -> list[Report]:
    """Return the report and the other open ones that `same` finds, locked in the order in which all lock them. Raises
    as `_locked`."""
    rows = Report.objects.select_for_update().filter(same | Q(pk=report.pk), decided_at=None).order_by("pk")
    if report not in (found := list(rows)):
        raise ValidationError(DECIDED)
    return found


def _locked(report: Report) -> Report:
    """Return the report, locked. Raises ValidationError: it is decided already, or was deleted with its user."""
    found = Report.objects.select_for_update().filter(pk=report.pk, decided_at=None).first()
    if found is None:
        raise ValidationError(DECIDED)
    return found


def decide(report: Report, outcome: Report.Outcome, *, by: User, reason: str) -> None:
    """Decide the report, and tell the webhooks of the reporter. Raises PermissionDenied: it is about `by`, who is no
    superuser."""
    if by.pk in {report.user_id, report.author_id} and not by.is_superuser:
        raise PermissionDenied("You cannot decide a report about something of your own.")
    report.decided_at, report.decided_by, report.outcome = timezone.now(), by, outcome
    report.save(update_fields=["decided_at", "decided_by", "outcome"])
    audit.record("report:decided", by=by, on=report, reason=reason, outcome=outcome.value)
    if report.reporter_id is not None:
        data = {"report_id": report.pk, "outcome": outcome.value.lower()}
        outbox.post_to_user(EventType.REPORT_DECIDED, user_id=report.reporter_id, data=data)
