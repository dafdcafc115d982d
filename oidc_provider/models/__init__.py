"""The models. Five of them replace the toolkit's; all five are swapped from the first migration on."""

from oidc_provider.models.applications import Application, ApplicationLogo, new_client_id
from oidc_provider.models.log import (
    COUNTS_KEPT,
    KINDS_OF_ENDPOINTS,
    OK,
    LastUse,
    RequestKind,
    RequestRecord,
    UsageCount,
)
from oidc_provider.models.sign_in import (
    AccessToken,
    Approval,
    Grant,
    IDToken,
    PendingRequest,
    RefreshToken,
    SigningKey,
)

__all__ = [
    "COUNTS_KEPT",
    "KINDS_OF_ENDPOINTS",
    "OK",
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
    "new_client_id",
]
