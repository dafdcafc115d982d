"""The staff pages: search, records, actions. Any permission of a row opens its page; each action has its own."""

from collections.abc import Sequence

from accounts.staff_actions import KEY_ACTIONS, USER_ACTIONS, StaffAction
from dashboard.models import AccessRequest
from dashboard.navigation import Entry
from dashboard.staff.actions import REQUEST_ACTIONS
from oidc_provider.staff_actions import APPLICATION_ACTIONS, SCOPE_ACTIONS


def _permissions(listed: Sequence[StaffAction]) -> set[str]:
    """Return the permissions of the actions that the staff pages have."""
    return {action.permission for action in listed if action.page is not None}


QUEUE = (*_permissions(REQUEST_ACTIONS), "dashboard.view_accessrequest")
APPLICATIONS = (*_permissions(APPLICATION_ACTIONS), "oidc_provider.view_application")
PEOPLE = (*_permissions([*USER_ACTIONS, *KEY_ACTIONS, *SCOPE_ACTIONS]), "accounts.view_user")

NAVIGATION = (
    Entry("staff_queue", "Requests", "requests/", QUEUE, lambda: AccessRequest.objects.pending().count()),
    Entry("staff_applications", "Find apps", permissions=APPLICATIONS),
    Entry("staff_people", "Find people", permissions=PEOPLE),
    Entry("admin:index", "Admin"),
)
