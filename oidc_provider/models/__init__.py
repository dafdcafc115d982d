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
    ClientSession,
    Grant,
    IDToken,
    PendingRequest,
    RefreshToken,
    SigningKey,
)
from oidc_provider.models.teams import INVITATIONS_LAST, STAYS, Invitation, Role, Team, TeamMember

__all__ = [
    "COUNTS_KEPT",
    "INVITATIONS_LAST",
    "KINDS_OF_ENDPOINTS",
    "OK",
    "STAYS",
    "AccessToken",
    "Application",
    "ApplicationLogo",
    "Approval",
    "ClientSession",
    "Grant",
    "IDToken",
    "Invitation",
    "LastUse",
    "PendingRequest",
    "RefreshToken",
    "RequestKind",
    "RequestRecord",
    "Role",
    "SigningKey",
    "Team",
    "TeamMember",
    "UsageCount",
    "new_client_id",
]
