"""Which permissions open which staff page; any one of a row is enough. What an act needs stands beside the act."""

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

DECIDE = "dashboard.decide_accessrequest"
SEE_EMAIL = "accounts.view_user"
