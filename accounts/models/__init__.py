"""The nouns that every surface shares: who is calling, with which key, under which plan."""

from accounts.models.api_keys import ApiKey, KeyDay, Permission
from accounts.models.audit import AuditEvent
from accounts.models.jobs import JobRun
from accounts.models.names import Name
from accounts.models.users import AccountDeletion, LinkedAccount, UidCounter, User

__all__ = [
    "AccountDeletion",
    "ApiKey",
    "AuditEvent",
    "JobRun",
    "KeyDay",
    "LinkedAccount",
    "Name",
    "Permission",
    "UidCounter",
    "User",
]
