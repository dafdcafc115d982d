"""What staff do about a file, an album or a folder: take it down, which hides it from visitors, and restore it.

Each operation locks the owner's row, the thing, then the decision about it; reports come last.
"""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from accounts import audit, users
from accounts.models import EventType, User
from accounts.webhooks import outbox
from imagehost import names
from imagehost.models import Album, File, Folder
from imagehost.storing import files, quarantine
from lookup.models import Decision, Report
from lookup.models.decisions import reason_label
from lookup.social import decisions, reports
from lookup.social.reports import Thing

Row = File | Album | Folder
Kind = Report.Kind
QUARANTINE = "imagehost.quarantine_file"
KINDS: dict[str, type[Row]] = {Kind.FILE: File, Kind.ALBUM: Album, Kind.FOLDER: Folder}
NO_RIGHT = "You may not take files down or restore them."
MOVING = "The file moves in the store at the moment. Try again in a few minutes."


def thing_of(row: Row) -> Thing:
    """Return what reports and decisions call the row."""
    if isinstance(row, File):
        title = names.shown(row.original_name, otherwise=row.file_name)
        return Thing(Kind.FILE, str(row.pk), title, reverse("file_page", args=[row.name]))
    if isinstance(row, Album):
        title = names.shown(row.title, otherwise="Album")
        return Thing(Kind.ALBUM, row.pk, title, reverse("album_page", args=[row.link]))
    return Thing(Kind.FOLDER, row.pk, names.shown(row.name, otherwise="Folder"), reverse("folder_page", args=[row.pk]))


def find(kind: str, thing_id: str) -> Row | None:
    """Return the row that a report or a decision is about, with its owner; None where it was deleted. 1 query."""
    model = KINDS[kind]
    rows: Any = File.objects.kept() if model is File else model._default_manager
    found: Row | None = rows.select_related("owner").filter(pk=thing_id).first()
    return found


def decision_about(row: Row) -> Decision | None:
    """Return the decision in force about the row; None without one. At most 1 query."""
    if row.quarantined_at is None:
        return None
    thing = thing_of(row)
    return decisions.in_force(thing.kind, thing.id)


def reason_of(decision: Decision | None) -> str:
    """Return the kind of reason as visitors read it; without a decision that of others."""
    return reason_label(decision.reason if decision is not None else Report.Reason.OTHER)


@transaction.atomic
def report(*, row: Row, reason: str, text: str, by: User) -> Report:
    """Report the row, which the visitor `by` sees. Raises as `reports.send`; ValidationError: it was deleted or taken
    down."""
    thing = thing_of(row)
    owner = row.owner
    if owner is None:
        raise User.DoesNotExist
    made = reports.send(user=owner, name=owner.username, comment=None, reason=reason, text=text, by=by, thing=thing)
    found = find(thing.kind, thing.id)  # under the lock of its owner
    if found is None or found.quarantined_at is not None:
        raise ValidationError(f"This {_noun(thing.kind)} has been deleted or taken down.")
    return made


@transaction.atomic
def take_down(*, row: Row, by: User, reason: str, kind: Report.Reason = Report.Reason.OTHER) -> None:
    """Hide the row from visitors, and write `reason` to its owner. Idempotent. `kind`: of the reason, which visitors
    read, too. Raises ValidationError: it was deleted, its object moves, or as `decisions.impose`."""
    found = _locked(row)
    if found.quarantined_at is not None:
        return
    if isinstance(found, File):
        if not found.is_delivered:
            raise ValidationError(MOVING)
        quarantine.impose(file=found, by=by, reason=reason)
        data = {**files.facts_of(found), "reason": kind.value.lower()}
        outbox.post_to_user(EventType.FILE_QUARANTINED, user_id=str(found.owner_id), data=data)
    else:
        _mark(found, "quarantined", by=by, reason=reason)
    owner = User.objects.get(pk=found.owner_id)
    decisions.impose(thing=thing_of(found), user=owner, reason=kind, words=reason, by=by)


@transaction.atomic
def restore(*, row: Row, by: User, reason: str) -> None:
    """Show the row to visitors again, write `reason` to its owner, and grant an appeal that waits. Idempotent. Raises
    as `take_down`."""
    found = _locked(row)
    if found.quarantined_at is None:
        return
    if isinstance(found, File):
        if found.moves_from:
            raise ValidationError(MOVING)
        quarantine.lift(file=found, by=by, reason=reason)
    else:
        _mark(found, "restored", by=by, reason=reason)
    thing = thing_of(found)
    decisions.lift(kind=thing.kind, thing_id=thing.id, by=by, words=reason)


@transaction.atomic
def take_down_and_close(*, report: Report, by: User, reason: str) -> None:
    """Take down what was reported, for the report's reason, and close every open report about it.

    Raises ValidationError: it was deleted, the report is decided already, or it is about a profile or a comment;
    PermissionDenied: `by` may not quarantine, or it belongs to staff and `by` is no superuser.
    """
    _check_right(by)
    users.check_may_act_for(owner=report.user, by=by)
    if report.kind not in KINDS:
        raise ValidationError(f"A {_noun(report.kind)} cannot be taken down.")
    row = find(report.kind, report.thing)
    if row is None:
        raise ValidationError(f"This {_noun(report.kind)} no longer exists. Mark the report as handled.")
    take_down(row=row, by=by, reason=reason, kind=Report.Reason(report.reason))
    reports.close_taken_down(report=report, by=by, reason=reason)


@transaction.atomic
def grant(*, decision: Decision, by: User, reason: str) -> None:
    """Grant the appeal: show the thing again, unless it was deleted, and write to the owner. Raises as
    `decisions.check_answer` and `restore`."""
    _check_right(by)
    users.lock(decision.user_id)
    row = find(decision.kind, decision.thing)
    decisions.check_answer(decision=decision, by=by)
    if row is not None:
        restore(row=row, by=by, reason=reason)
    # Where `restore` had nothing to do.
    decisions.lift(kind=Kind(decision.kind), thing_id=decision.thing, by=by, words=reason, is_kept=row is not None)


@transaction.atomic
def lift(*, decision: Decision, by: User, reason: str) -> None:
    """Show what the decision hides. Raises as `restore`."""
    _check_right(by)
    row = find(decision.kind, decision.thing)
    if row is None:
        raise ValidationError(f"This {_noun(decision.kind)} no longer exists.")
    restore(row=row, by=by, reason=reason)


def bar(by: User) -> str:
    """Return why `by` may not take anything down or restore it; empty where they may."""
    return "" if by.has_perm(QUARANTINE) else NO_RIGHT


def _check_right(by: User) -> None:
    if problem := bar(by):
        raise PermissionDenied(problem)


def _locked(row: Row) -> Row:
    """Return the row, locked after its owner's. Raises ValidationError: it was deleted, or a file expired."""
    rows: Any = File.objects.kept() if isinstance(row, File) else type(row)._default_manager
    is_owned = row.owner_id is not None and users.lock(row.owner_id)
    found: Row | None = rows.select_for_update().filter(pk=row.pk).first() if is_owned else None
    if found is None:
        raise ValidationError(f"This {_noun(thing_of(row).kind)} no longer exists.")
    return found


def _mark(row: Album | Folder, verb: str, *, by: User, reason: str) -> None:
    row.quarantined_at = timezone.now() if verb == "quarantined" else None
    row.save(update_fields=["quarantined_at"])
    audit.record(f"{row._meta.model_name}:{verb}", by=by, on=row, reason=reason, owner=row.owner_id)


def _noun(kind: str) -> str:
    return str(Kind(kind).label).lower()
