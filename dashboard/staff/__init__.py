"""What staff find, see and do on their pages. Any permission of a row opens the page; each action has its own."""

from dashboard.models import AccessRequest
from dashboard.navigation import Entry

QUEUE = ("dashboard.decide_accessrequest", "dashboard.view_accessrequest")
APPLICATIONS = (
    "oidc_provider.suspend_application",
    "oidc_provider.verify_application",
    "oidc_provider.view_application",
)
PEOPLE = (
    "accounts.unlock_scopes_user",
    "accounts.change_apikey",
    "accounts.ban_user",
    "accounts.view_user",
)

NAVIGATION = (
    Entry("staff_queue", "Requests", "requests/", QUEUE, lambda: AccessRequest.objects.pending().count()),
    Entry("staff_applications", "Find apps", permissions=APPLICATIONS),
    Entry("staff_people", "Find people", permissions=PEOPLE),
    Entry("admin:index", "Admin"),
)
