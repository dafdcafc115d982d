"""What staff do to people, to the scopes of their apps, and to their keys."""

from __future__ import annotations

from django.utils import timezone

from accounts import bans
from accounts.api_keys import keys
from accounts.models import ApiKey, Permission, User
from dashboard.staff.acts import Act, refused_if, through
from oidc_provider.applications import applications
from oidc_provider.applications.scopes import SCOPES
from oidc_provider.models import Application

BAN_RIGHT = "accounts.ban_user"
SCOPES_RIGHT = "accounts.unlock_scopes_user"
KEYS_RIGHT = "accounts.change_apikey"

BAN = Act(
    "ban",
    "Ban",
    "Ban {}",
    "{} is banned.",
    BAN_RIGHT,
    lambda _: [
        "The person is signed out everywhere and cannot sign in again.",
        "Every token that apps have for them is deleted, and their API keys are refused.",
        "Lookups of their profile answer as for somebody who does not exist; leaderboards leave them out.",
    ],
    refused_if(lambda user: user.is_banned, "This account is banned already."),
    through(bans.ban, "user"),
)
LIFT = Act(
    "lift",
    "Lift the ban",
    "Lift the ban of {}",
    "{} can sign in again.",
    BAN_RIGHT,
    lambda _: [
        "The person can sign in again, and their keys and profile answer again. Sessions and tokens stay ended."
    ],
    refused_if(lambda user: not user.is_banned, "This account is not banned."),
    through(bans.lift, "user"),
    is_harmless=True,
)
PERSON_ACTS = {act.name: act for act in (BAN, LIFT)}


def unlock(scope: str) -> Act:
    """`scope` is a locked one."""
    label = SCOPES[scope].label
    return Act(
        "unlock",
        f"Unlock {scope}",
        f"Unlock {scope} for {{}}",
        f"{scope} is unlocked for {{}}.",
        SCOPES_RIGHT,
        lambda _: [
            f"Their apps, today's and later ones, may register the scope {scope} ({label}).",
            "No app has it by that: the owner registers it, and users are asked.",
        ],
        refused_if(lambda user: scope in user.unlocked_scopes, f"{scope} is unlocked for this person already."),
        through(applications.unlock_scope, "owner", scope=scope),
        is_harmless=True,
    )


def relock(scope: str) -> Act:
    """`scope` is a locked one."""
    return Act(
        "relock",
        f"Lock {scope} again",
        f"Lock {scope} again for {{}}",
        f"{scope} is locked again for {{}}.",
        SCOPES_RIGHT,
        lambda user: _relocking(user, scope),
        refused_if(lambda user: scope not in user.unlocked_scopes, f"{scope} is not unlocked for this person."),
        through(applications.relock_scope, "owner", scope=scope),
    )


def grant_permission(permission: Permission) -> Act:
    return Act(
        "grant",
        f"Grant {permission.value}",
        f"Grant {permission.value} to the key {{}}",
        f"The key {{}} has {permission.value}.",
        KEYS_RIGHT,
        lambda key: [f"The key {key.prefix} of {key.owner} may call one more surface: {permission.label}."],
        lambda key: _no_grant(key, permission),
        through(keys.grant_permission, "key", permission=permission),
        is_harmless=True,
    )


def withdraw_permission(permission: Permission) -> Act:
    return Act(
        "withdraw",
        f"Withdraw {permission.value}",
        f"Withdraw {permission.value} from the key {{}}",
        f"The key {{}} no longer has {permission.value}.",
        KEYS_RIGHT,
        lambda key: [f"Calls with the key {key.prefix} of {key.owner} are refused at once: {permission.label}."],
        refused_if(lambda key: not key.allows(permission), f"This key does not have {permission.value}."),
        through(keys.withdraw_permission, "key", permission=permission),
    )


SCOPE_ACTS = {"unlock": unlock, "relock": relock}
KEY_ACTS = {"grant": grant_permission, "withdraw": withdraw_permission}


def _relocking(user: User, scope: str) -> list[str]:
    apps = Application.objects.filter(user=user).order_by("name", "pk")
    losing = [app.name for app in apps if scope in app.registered_scopes]
    if not losing:
        return [f"No app of theirs has registered {scope}; none can do so any more."]
    return [
        f"These apps lose it at once, and a sign-in that asks for it fails as a whole: {', '.join(losing)}.",
        "Tokens that live no longer give it.",
    ]


def _no_grant(key: ApiKey, permission: Permission) -> str:
    if key.revoked_at is not None or key.is_expired(timezone.now()):
        return "This key is revoked or has expired, and that is for ever."
    return f"This key has {permission.value} already." if key.allows(permission) else ""
