"""What staff do about a report: the actions that fit the reported thing. Each decides every report about the thing,
except the removal of one picture, after which more may have to be removed."""

from __future__ import annotations

import dataclasses

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts import users
from accounts.models import User
from accounts.staff_actions import USER_ACTIONS, ConfirmationPage, StaffAction
from dashboard.staff import actions
from imagehost.staff_actions import REPORT_ACTIONS
from lookup.models import Asset, Report
from lookup.social import cases, reports
from lookup.staff_actions import PROFILE_ACTIONS, REMOVE_PICTURE

CLOSES = "Every open report about this is closed."
STAYS_OPEN = "The report stays open."
_CLOSING = {"dismiss": Report.Outcome.DISMISSED, "mark_handled": Report.Outcome.HANDLED}


def _named(listed: tuple[StaffAction, ...], *names: str) -> tuple[StaffAction, ...]:
    return tuple(action for action in listed if action.name in names)


_DISMISS = _named(REPORT_ACTIONS, "dismiss")
_ON_THING = tuple(action for action in REPORT_ACTIONS if action.name not in {"dismiss", "mark_handled"})
_HANDLED = _named(REPORT_ACTIONS, "mark_handled")
_HIDE = _named(PROFILE_ACTIONS, "hide_profile")
_WARN, _BAN = _named(USER_ACTIONS, "warn"), _named(USER_ACTIONS, "ban")


def fitting(report: Report) -> tuple[StaffAction, ...]:
    """Return the actions on this report as rows that take the report: from the mildest on, and at last the one that
    only closes it."""
    accused = cases.accused_of(report)

    def remedies(listed: tuple[StaffAction, ...]) -> tuple[StaffAction, ...]:
        return tuple(_remedy(action, accused) for action in listed)

    return (
        *map(_decision, _DISMISS),
        *remedies(_WARN),
        *(remedies(_HIDE) if is_about_profile(report) else map(_decision, _ON_THING)),
        *remedies(_BAN),
        *map(_decision, _HANDLED),
    )


def removal(asset: Asset) -> StaffAction:
    """Return the removal of a picture of the reported profile as a row that takes the report, which stays open."""

    @transaction.atomic
    def run(report: Report, *, by: User, reason: str) -> None:
        users.lock(report.user_id)
        if not cases.same_thing(report).filter(decided_at=None).exists():
            raise ValidationError(reports.DECIDED)
        actions.perform(REMOVE_PICTURE, asset, by=by, reason=reason)

    page = REMOVE_PICTURE.page and _page(
        REMOVE_PICTURE.page, asset, f"{STAYS_OPEN} Decide it when nothing is left to do."
    )
    page = page and dataclasses.replace(page, done=f"{page.done} {STAYS_OPEN}")
    return dataclasses.replace(REMOVE_PICTURE, run=run, page=page)


def is_about_profile(report: Report) -> bool:
    """Return whether a profile is reported. The release before `kind` wrote comments without it."""
    return report.kind == Report.Kind.PROFILE and not report.comment_text


def _decision(action: StaffAction) -> StaffAction:
    """Return an action on one report as one that closes all about the same thing, as those on the thing do."""
    if (outcome := _CLOSING.get(action.name)) is None:
        return action

    def run(report: Report, *, by: User, reason: str) -> None:
        _close(report, outcome, by=by, reason=reason)

    return dataclasses.replace(action, run=run)


def _close(report: Report, outcome: Report.Outcome, *, by: User, reason: str) -> None:
    """Close all reports about the thing. Raises ValidationError: none is open."""
    if not cases.close(cases.same_thing(report), outcome, by=by, reason=reason):
        raise ValidationError(reports.DECIDED)


def _remedy(action: StaffAction, subject: User) -> StaffAction:
    """Return an action on `subject` as one that closes all reports about the thing, and by a ban all about the
    person that `by` sees."""

    @transaction.atomic
    def run(report: Report, *, by: User, reason: str) -> None:
        users.lock(cases.accused_of(report).pk)  # before reports, in the order of a deletion of the account
        _close(report, Report.Outcome.HANDLED, by=by, reason=reason)
        actions.perform(action, subject, by=by, reason=reason)
        if action.name == "ban":
            theirs = cases.against(cases.accused_of(report), staff=by)
            cases.close(theirs, Report.Outcome.HANDLED, by=by, reason=reason)

    return dataclasses.replace(action, run=run, page=action.page and _page(action.page, subject, CLOSES))


def _page(page: ConfirmationPage, subject: User | Asset, last: str) -> ConfirmationPage:
    """Return the words of the action's page for the report. `last`: what becomes of the report."""

    def refusal(report: Report) -> str:
        return reports.DECIDED if report.decided_at else page.refusal(subject)

    def effects(_: Report) -> list[str]:
        return [*page.effects(subject), last]

    return dataclasses.replace(page, effects=effects, refusal=refusal)
