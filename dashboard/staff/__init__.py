"""The desk of staff: what waits, records, actions. Any permission of a row opens its page; each action has its own."""

from collections.abc import Sequence

from accounts.staff_actions import KEY_ACTIONS, USER_ACTIONS, StaffAction
from dashboard.models import AccessRequest
from dashboard.navigation import Entry
from dashboard.staff import report_queries
from dashboard.staff.actions import REQUEST_ACTIONS
from imagehost.staff_actions import FILE_ACTIONS
from lookup.social import cases
from lookup.staff_actions import DECIDE, PROFILE_ACTIONS
from oidc_provider.staff_actions import APPLICATION_ACTIONS, SCOPE_ACTIONS


def _permissions(listed: Sequence[StaffAction]) -> set[str]:
    """Return the permissions of the actions that the staff pages have."""
    return {action.permission for action in listed if action.page is not None}


QUEUE = (*_permissions(REQUEST_ACTIONS), "dashboard.view_accessrequest")
REPORTS = (DECIDE, "lookup.view_report")
APPEALS = (DECIDE, "lookup.view_decision")
APPLICATIONS = (*_permissions(APPLICATION_ACTIONS), "oidc_provider.view_application")
PEOPLE = (*_permissions([*USER_ACTIONS, *KEY_ACTIONS, *SCOPE_ACTIONS, *PROFILE_ACTIONS]), "accounts.view_user")
FILES = (*_permissions(FILE_ACTIONS), "imagehost.view_file")
DESK = (*QUEUE, *REPORTS, *APPEALS, *APPLICATIONS, *PEOPLE, *FILES)

NAVIGATION = (
    Entry("staff_desk", "Desk", None, DESK),
    Entry("staff_queue", "Requests", "", QUEUE, lambda _: AccessRequest.objects.pending().count()),
    Entry("staff_reports", "Reports", "", REPORTS, cases.number_waiting),
    Entry("staff_appeals", "Appeals", "", APPEALS, lambda staff: report_queries.appeals(staff).count()),
    Entry("staff_applications", "Find apps", permissions=APPLICATIONS),
    Entry("staff_people", "Find people", permissions=PEOPLE),
    Entry("staff_files", "Find files", permissions=FILES),
    Entry("admin:index", "Admin"),
)
