"""Actions of staff on reports."""

from __future__ import annotations

from accounts.staff_actions import StaffAction, through
from lookup.social import reports

DECIDE = "lookup.decide_report"
REPORT_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "dismiss",
        "Dismiss",
        "Closes the report. Nothing else happens.",
        DECIDE,
        through(reports.dismiss, "report"),
        offer=lambda report: report.decided_at is None,
    ),
    StaffAction(
        "delete_comment",
        "Delete comment and close",
        "Deletes the comment with its replies and likes, and closes every open report about it.",
        DECIDE,
        through(reports.delete_comment, "report"),
        offer=lambda report: report.decided_at is None and report.comment_id is not None,
    ),
    StaffAction(
        "mark_handled",
        "Mark as handled",
        "Closes the report after you have acted elsewhere, such as by a ban.",
        DECIDE,
        through(reports.mark_handled, "report"),
        offer=lambda report: report.decided_at is None,
    ),
)
