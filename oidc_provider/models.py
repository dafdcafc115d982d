"""The models of all packages, for Django and for other apps.

Five of these replace the toolkit's models; all five are swapped from the first migration on.
"""

from oidc_provider.applications.models import Application, ApplicationLogo
from oidc_provider.authorize.models import Approval, PendingRequest
from oidc_provider.log.models import LastUse, RequestKind, RequestRecord, UsageCount
from oidc_provider.token.models import AccessToken, Grant, IDToken, RefreshToken, SigningKey

__all__ = [
    "AccessToken",
    "Application",
    "ApplicationLogo",
    "Approval",
    "Grant",
    "IDToken",
    "LastUse",
    "PendingRequest",
    "RefreshToken",
    "RequestKind",
    "RequestRecord",
    "SigningKey",
    "UsageCount",
]
