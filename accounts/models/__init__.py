"""The models that every surface shares: users, API keys, names, linked accounts, audit events and jobs."""

from accounts.models.api_keys import ApiKey, KeyDay, Permission
from accounts.models.audit import AuditEvent
from accounts.models.jobs import JobRun
from accounts.models.names import Name
from accounts.models.notices import StaffNotice
from accounts.models.users import AccountDeletion, LinkedAccount, UidCounter, User
from accounts.models.webhooks import EventType, WebhookDelivery, WebhookEndpoint

__all__ = [
    "AccountDeletion",
    "ApiKey",
    "AuditEvent",
    "EventType",
    "JobRun",
    "KeyDay",
    "LinkedAccount",
    "Name",
    "Permission",
    "StaffNotice",
    "UidCounter",
    "User",
    "WebhookDelivery",
    "WebhookEndpoint",
]
