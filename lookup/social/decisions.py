"""Decisions that something of a user is hidden from visitors, and the one appeal that its owner has.

Apps above hide and show the thing itself, in the same transaction, under a lock of its owner and of the thing.
"""

from __future__ import annotations

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts import audit, notifications
from accounts.models import User
from infrastructure.text_rules import validate_text
from lookup.models import Decision, Report
from lookup.models.decisions import MAX_APPEAL, MAX_WORDS
from lookup.social.feedback import lock_people
from lookup.social.reports import Thing


def in_force(kind: Report.Kind, thing_id: str) -> Decision | None:
    """Return the decision about the thing that is in force, or None. 1 query by a unique index."""
    return Decision.objects.filter(kind=kind, thing=thing_id, lifted_at=None).first()


def impose(*, thing: Thing, user: User, reason: Report.Reason, words: str, by: User) -> Decision:
    """Record that the thing is hidden, and write to its owner `user`. Raises ValidationError: more than MAX_WORDS."""
    words = _checked(words)
    now = timezone.now()
    stale = Decision.objects.filter(kind=thing.kind, thing=thing.id, lifted_at=None)
    stale.update(lifted_at=now)  # a release that does not know decisions has shown the thing again
    decision = Decision.objects.create(
        user=user,
        kind=thing.kind,
        thing=thing.id,
        title=thing.title,
        reason=reason,
        words=words,
        decided_at=now,
        decided_by=by,
    )
    _write(decision, f"Your {thing.kind.label.lower()} was taken down", "taken_down")
    return decision


def lift(*, kind: Report.Kind, thing_id: str, by: User, words: str, is_kept: bool = True) -> None:
    """End the decision in force about the thing, if there is one, grant an appeal that waits, and write to the owner.

    `is_kept`: whether the thing still exists. Raises ValidationError: more than MAX_WORDS.
    """
    words = _checked(words)
    decision = _locked(Decision.objects.filter(kind=kind, thing=thing_id, lifted_at=None))
    if decision is None:
        return
    decision.lifted_at = timezone.now()
    decision.save(update_fields=["lifted_at"])
    is_appeal = decision.has_open_appeal
    if is_appeal:
        _answer(decision, is_granted=True, words=words, by=by)
    context = {"words": words, "is_appeal": is_appeal, "is_kept": is_kept}
    _write(decision, f"Your {kind.label.lower()} is no longer taken down", "restored", **context)


@transaction.atomic
def appeal(*, decision: Decision, text: str, by: User) -> Decision:
    """Appeal, once. Raises ValidationError: no text or more than MAX_APPEAL, unsafe characters, a second appeal, or the
    decision was lifted; PermissionDenied: banned; Decision.DoesNotExist: another user's."""
    text = text.strip()
    if not 0 < len(text) <= MAX_APPEAL:
        raise ValidationError(f"Write 1 to {MAX_APPEAL} characters.")
    validate_text(text)
    lock_people(user_id=by.pk, by=by)
    found = _locked(Decision.objects.filter(pk=decision.pk, user=by))
    if found is None:
        raise Decision.DoesNotExist
    if found.appealed_at is not None:
        raise ValidationError("You have appealed already. There is one appeal of each decision.")
    if found.lifted_at is not None:
        raise ValidationError("This decision was lifted already.")
    found.appeal, found.appealed_at = text, timezone.now()
    found.save(update_fields=["appeal", "appealed_at"])
    audit.record("appeal:sent", by=by, on=found, owner=found.user_id)
    return found


@transaction.atomic
def refuse(*, decision: Decision, by: User, reason: str) -> None:
    """Refuse the appeal, and write to the owner. Raises as `check_answer`; ValidationError: more than MAX_WORDS."""
    words = _checked(reason)
    found = check_answer(decision=decision, by=by)
    _answer(found, is_granted=False, words=words, by=by)
    _write(found, "Your appeal was refused", "appeal_refused")


def check_answer(*, decision: Decision, by: User) -> Decision:
    """Return the decision, locked. Raises ValidationError: no appeal waits; PermissionDenied: it is about something of
    `by`, or `by` made it, and is no superuser."""
    found = _locked(Decision.objects.filter(pk=decision.pk))
    if found is None or not found.has_open_appeal:
        raise ValidationError("No appeal waits here. Another member of staff may have answered it.")
    if problem := bar(found, by):
        raise PermissionDenied(problem)
    return found


def bar(decision: Decision, by: User) -> str:
    """Return why `by` may not answer the appeal, although others with the right may; empty where they may."""
    if by.is_superuser:
        return ""
    if by.pk == decision.user_id:
        return "You cannot answer your own appeal."
    if by.pk == decision.decided_by_id:
        return "You made this decision. Another member of staff answers the appeal."
    return ""


def _locked(rows: QuerySet[Decision]) -> Decision | None:
    return rows.select_for_update(of=("self",)).select_related("user").first()


def _checked(words: str) -> str:
    words = words.strip()
    if len(words) > MAX_WORDS:
        raise ValidationError(f"Write at most {MAX_WORDS} characters: the owner reads them.")
    validate_text(words)
    return words


def _answer(decision: Decision, *, is_granted: bool, words: str, by: User) -> None:
    decision.is_granted, decision.answer = is_granted, words
    decision.answered_at, decision.answered_by = timezone.now(), by
    decision.save(update_fields=["is_granted", "answer", "answered_at", "answered_by"])
    verb = "appeal:granted" if is_granted else "appeal:refused"
    audit.record(verb, by=by, on=decision, reason=words, owner=decision.user_id)


def _write(decision: Decision, subject: str, letter: str, **context: object) -> None:
    """Write to the owner after the commit."""
    named = {"decision": decision, "kind": decision.get_kind_display().lower(), "max_appeal": MAX_APPEAL}
    notifications.send_after_commit(
        to=decision.user,
        subject=subject,
        template=f"dashboard/letters/{letter}.txt",
        context={**named, **context},
    )
