"""The admin of the sign-in provider. The toolkit's own admin registers the five classes that settings name."""

from oidc_provider.admin import users  # noqa: F401 - adds to the user's page
from oidc_provider.admin.applications import ApplicationAdmin
from oidc_provider.admin.approvals import ApprovalAdmin
from oidc_provider.admin.signing_keys import SigningKeyAdmin
from oidc_provider.admin.tokens import AccessTokenAdmin, HiddenAdmin, RefreshTokenAdmin

__all__ = [
    "AccessTokenAdmin",
    "ApplicationAdmin",
    "ApprovalAdmin",
    "HiddenAdmin",
    "RefreshTokenAdmin",
    "SigningKeyAdmin",
]
