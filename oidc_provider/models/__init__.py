"""Apps, approvals, codes, tokens and signing keys.

Five of these replace the toolkit's models; all five are swapped from the first migration on.
"""

from oidc_provider.models.applications import Application, ApplicationLogo
from oidc_provider.models.approvals import Approval, PendingRequest
from oidc_provider.models.request_log import LastUse, RequestKind, RequestRecord, UsageCount
from oidc_provider.models.signing_keys import SigningKey
from oidc_provider.models.tokens import AccessToken, Grant, IDToken, RefreshToken

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
