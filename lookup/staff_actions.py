"""Actions of staff on reports, on profiles and on their pictures."""

from __future__ import annotations

from accounts.models.notices import MAX_NOTICE
from accounts.staff_actions import READ_BY_OWNER, ConfirmationPage, StaffAction, refused_if, through
from lookup.editing import remedies
from lookup.models import Report
from lookup.social import reports

DECIDE = "lookup.decide_report"
_is_decided = refused_if(lambda report: report.decided_at is not None, "This report is decided already.")


def _no_comment(report: Report) -> str:
    return _is_decided(report) or ("" if report.comment_id else "This report has no comment to delete.")


REPORT_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "dismiss",
        "Dismiss",
        "Closes the report. Nothing else happens.",
        DECIDE,
        through(reports.dismiss, "report"),
        ConfirmationPage(
            "dismiss",
            "Dismiss the report about {}",
            "The report about {} is dismissed.",
            lambda _: ["Every open report about this is closed. Nothing else happens, and the owner learns nothing."],
            _is_decided,
            is_harmless=True,
            presets=("It breaks no rule.", "It cannot be understood.", "The reporter abuses reports."),
        ),
    ),
    StaffAction(
        "delete_comment",
        "Delete comment and close",
        "Deletes the comment with its replies and likes, and closes every open report about it.",
        DECIDE,
        through(reports.delete_comment, "report"),
        ConfirmationPage(
            "delete-comment",
            "Delete the comment of {}",
            "The comment of {} is deleted.",
            lambda _: ["The comment is deleted with its replies and likes. Every open report about it is closed."],
            _no_comment,
            presets=(
                "The comment is advertising.",
                "The comment harasses another person.",
                "The comment shows private information.",
            ),
            label="Delete comment",
        ),
        bar=lambda _, by: reports.bar_of_deletion(by),
    ),
    StaffAction(
        "mark_handled",
        "Mark as handled",
        "Closes the report after you have acted elsewhere, such as by a ban.",
        DECIDE,
        through(reports.mark_handled, "report"),
        ConfirmationPage(
            "handled",
            "Mark the report about {} as handled",
            "The report about {} is closed as handled.",
            lambda _: ["Every open report about this is closed: you have acted elsewhere."],
            _is_decided,
            is_harmless=True,
        ),
    ),
)

_HIDE = "accounts.hide_user"
PROFILE_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "hide_profile",
        "Hide the profile",
        "The profile is private until staff show it again; the owner reads your reason.",
        _HIDE,
        through(remedies.hide, "user"),
        ConfirmationPage(
            "hide",
            "Hide the profile of {}",
            "The profile of {} is hidden.",
            lambda _: [
                "The pages of the profile and of its aliases answer 404.",
                "Lookups answer that the profile is private; leaderboards and the search leave it out.",
                "The owner can edit the profile, and cannot make it public until staff show it again.",
            ],
            refused_if(lambda user: user.is_hidden, "This profile is hidden already."),
            hint=READ_BY_OWNER,
            presets=(
                "The profile pretends to be another person.",
                "The profile shows private information of another person.",
                "Texts or pictures of the profile break the terms.",
            ),
            most=MAX_NOTICE,
        ),
    ),
    StaffAction(
        "show_profile",
        "Show the profile again",
        "The profile is as public as before, or as private as its owner has chosen since.",
        _HIDE,
        through(remedies.show_again, "user"),
        ConfirmationPage(
            "show",
            "Show the profile of {} again",
            "The profile of {} is no longer hidden.",
            lambda _: [
                "The profile is as public as before, or as private as its owner has chosen since.",
                "The owner is notified by email.",
            ],
            refused_if(lambda user: not user.is_hidden, "This profile is not hidden."),
            is_harmless=True,
        ),
    ),
)

REMOVE_PICTURE = StaffAction(
    "remove_picture",
    "Remove picture",
    "Removes the picture from every place of the profile, and deletes it; the owner reads your reason.",
    "lookup.delete_asset",
    through(remedies.remove_picture, "asset"),
    ConfirmationPage(
        "remove",
        "Remove a picture of {}",
        "The picture of {} is removed.",
        lambda _: ["The picture is removed from every place of the profile and deleted. This cannot be undone."],
        lambda _: "",
        hint=READ_BY_OWNER,
        presets=(
            "The picture shows sexual content or violence.",
            "The picture shows another person without their consent.",
            "The picture belongs to someone else.",
        ),
        most=MAX_NOTICE,
    ),
)
