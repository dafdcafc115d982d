"""The models. Five of them replace the toolkit's; all five are swapped from the first migration on."""

from oidc_provider.models.applications import USABLE, Application, ApplicationLogo, new_client_id
from oidc_provider.models.log import (
    COUNTS_KEPT,
    DESCRIPTION_LENGTH,
    KINDS_OF_ENDPOINTS,
    OK,
    LastUse,
    RequestKind,
    RequestRecord,
    RequestRecordQuerySet,
    UsageCount,
)
from oidc_provider.models.sign_in import (
    RETIREMENT_MARGIN,
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
    "DESCRIPTION_LENGTH",
    "KINDS_OF_ENDPOINTS",
    "OK",
    "RETIREMENT_MARGIN",
    "USABLE",
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
    "RequestRecordQuerySet",
    "SigningKey",
    "UsageCount",
    "new_client_id",
]
