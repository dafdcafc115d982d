"""Actions of staff on apps, people, keys and requests: the words, the permission and the operation of each.

Operations are idempotent. `perform` checks the state under the lock first, so that a page can say that another member
of staff has acted already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts import bans, second_factor, users
from accounts.api_keys import keys
from accounts.models import ApiKey, Permission, User
from dashboard import access_requests, notifications
from dashboard.models import AccessRequest
from oidc_provider.applications import applications
from oidc_provider.applications.scopes import SCOPES
from oidc_provider.models import Application

DECIDE = "dashboard.decide_accessrequest"
SEE_EMAIL = "accounts.view_user"


@dataclass(frozen=True)
class Action:
    """`subject`: the row that the action changes.

    `title` and `done` hold `{}` for the subject's name. `effects(subject)`: sentences of what will happen.
    `refusal(subject)`: why it cannot be done now, or the empty text. `run(subject, by=staff, reason=...)` calls the
    operation. `permission` is a whole name. `hint`: who reads the reason; it may be empty unless `needs_reason`.
    `presets`: reasons to choose from.
    """

    name: str
    label: str
    title: str
    done: str
    permission: str
    effects: Callable[[Any], list[str]]
    refusal: Callable[[Any], str]
    run: Callable[..., object]
    is_harmless: bool = False
    hint: str = "Kept in the audit trail."
    needs_reason: bool = True
    presets: tuple[str, ...] = ()

    def is_offered(self, subject: Any) -> bool:
        return not self.refusal(subject)


@transaction.atomic
def perform(act: Action, subject: Any, *, by: User, reason: str) -> None:
    """Run the action. ValidationError: `subject` is deleted, or in that state already, or the operation refuses.
    PermissionDenied as `users.check_staff_action`, or the operation's."""
    locked = _locked(subject)
    users.check_staff_action(owners=[owner_of(locked)], by=by)
    refusal = act.refusal(locked)
    if refusal:
        raise ValidationError(refusal)
    act.run(locked, by=by, reason=reason)


def owner_of(subject: User | ApiKey | Application | AccessRequest) -> User:
    """Return the user whom an action on the row concerns."""
    if isinstance(subject, User):
        return subject
    return subject.owner if isinstance(subject, ApiKey) else subject.user


def through(operation: Callable[..., object], argument: str, **fixed: str) -> Callable[..., object]:
    """Return a `run` that passes the subject to `operation` as `argument`, with `fixed`."""
    return lambda subject, **given: operation(**{argument: subject, **fixed, **given})


def refused_if(condition: Callable[[Any], bool], sentence: str) -> Callable[[Any], str]:
    return lambda subject: sentence if condition(subject) else ""


def counted(number: int, noun: str) -> str:
    """ "1 user", "2 users"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _locked(subject: Any) -> Any:
    """Lock the row until the end of the transaction, with the strength that the operation uses, and return it."""
    if isinstance(subject, AccessRequest):
        return subject  # its operation locks the user first and checks the state
    rows = type(subject)._default_manager.select_for_update(of=("self",), no_key=not isinstance(subject, ApiKey))
    found = rows.filter(pk=subject.pk).first()
    if found is None:
        raise ValidationError("It was deleted in the meantime.")
    return found


_SUSPEND = "oidc_provider.suspend_application"
_VERIFY = "oidc_provider.verify_application"


def _suspending(app: Application) -> list[str]:
    tokens = app.accesstoken_set.filter(expires__gt=timezone.now()).count()
    return [
        "Users cannot sign in with the app; they see an error page that says so.",
        f"Its codes and tokens are deleted at once, {counted(tokens, 'active access token')} among them.",
        f"What {_users(app)} allowed is kept: after a restore they are not asked again.",
        "The owner sees the reason on the page of the app, and can still change the app.",
    ]


def _restoring(app: Application) -> list[str]:
    return [f"Sign-in with the app works again. {_users(app).capitalize()} who allowed it are not asked again."]


def _verifying(app: Application) -> list[str]:
    return [
        f"The consent screen shows {app.name} as verified, and no longer warns about locked scopes.",
        "A new name or a new logo also removes the verification.",
    ]


def _unverifying(app: Application) -> list[str]:
    return [f"The consent screen shows {app.name} as not verified."]


def _users(app: Application) -> str:
    return counted(app.approvals.count(), "user")


APPLICATION_ACTIONS = {
    act.name: act
    for act in (
        Action(
            "suspend",
            "Suspend",
            "Suspend {}",
            "{} is suspended.",
            _SUSPEND,
            _suspending,
            refused_if(lambda app: app.is_suspended, "This app is suspended already."),
            through(applications.suspend, "application"),
            hint="Kept in the audit trail, and shown to the owner.",
            presets=(
                "The app pretends to be another app or service.",
                "The app asks people for their password or for money.",
                "The app uses personal data for other purposes than its privacy policy says.",
                "The app sends unwanted messages.",
                "The links of the app do not work, and its owner does not answer.",
            ),
        ),
        Action(
            "restore",
            "Restore",
            "Restore {}",
            "{} works again.",
            _SUSPEND,
            _restoring,
            refused_if(lambda app: not app.is_suspended, "This app is not suspended."),
            through(applications.restore, "application"),
            is_harmless=True,
        ),
        Action(
            "verify",
            "Verify",
            "Verify {}",
            "{} is verified.",
            _VERIFY,
            _verifying,
            refused_if(lambda app: app.is_verified, "This app is verified already."),
            through(applications.verify, "application"),
            is_harmless=True,
        ),
        Action(
            "unverify",
            "Remove the verification",
            "Remove the verification of {}",
            "{} is no longer verified.",
            _VERIFY,
            _unverifying,
            refused_if(lambda app: not app.is_verified, "This app is not verified."),
            through(applications.unverify, "application"),
        ),
    )
}


BAN_RIGHT = "accounts.ban_user"
SCOPES_RIGHT = "accounts.unlock_scopes_user"
KEYS_RIGHT = "accounts.change_apikey"

BAN = Action(
    "ban",
    "Ban",
    "Ban {}",
    "{} is banned.",
    BAN_RIGHT,
    lambda _: [
        "The person is signed out everywhere and cannot sign in again.",
        "Every token that apps have for them is deleted, and their API keys are refused.",
        "Lookups answer that the user does not exist; leaderboards leave the user out.",
    ],
    refused_if(lambda user: user.is_banned, "This account is banned already."),
    through(bans.ban, "user"),
    presets=(
        "The account sends spam.",
        "The account pretends to be another person.",
        "The account harasses other people.",
        "Files or texts of the account break the terms.",
        "The account has been taken over.",
    ),
)
LIFT = Action(
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
PERSON_ACTIONS = {act.name: act for act in (BAN, LIFT)}


def unlock(scope: str) -> Action:
    """`scope` is a locked one."""
    label = SCOPES[scope].label
    return Action(
        "unlock",
        f"Unlock {scope}",
        f"Unlock {scope} for {{}}",
        f"{scope} is unlocked for {{}}.",
        SCOPES_RIGHT,
        lambda _: [
            f"Their apps, today's and later ones, may register the scope {scope} ({label}).",
            "No app gets it automatically: the owner registers it, and users are asked.",
        ],
        refused_if(lambda user: scope in user.unlocked_scopes, f"{scope} is unlocked for this person already."),
        through(applications.unlock_scope, "owner", scope=scope),
        is_harmless=True,
    )


def relock(scope: str) -> Action:
    """`scope` is a locked one."""
    return Action(
        "relock",
        f"Lock {scope} again",
        f"Lock {scope} again for {{}}",
        f"{scope} is locked again for {{}}.",
        SCOPES_RIGHT,
        lambda user: _relocking(user, scope),
        refused_if(lambda user: scope not in user.unlocked_scopes, f"{scope} is not unlocked for this person."),
        through(applications.relock_scope, "owner", scope=scope),
    )


def grant_permission(permission: Permission) -> Action:
    return Action(
        "grant",
        f"Grant {permission.value}",
        f"Grant {permission.value} to the key {{}}",
        f"The key {{}} has {permission.value}.",
        KEYS_RIGHT,
        lambda key: [f"The key {key.prefix} of {key.owner} can also call: {permission.label}."],
        lambda key: _no_grant(key, permission),
        through(keys.grant_permission, "key", permission=permission),
        is_harmless=True,
    )


def withdraw_permission(permission: Permission) -> Action:
    return Action(
        "withdraw",
        f"Withdraw {permission.value}",
        f"Withdraw {permission.value} from the key {{}}",
        f"The key {{}} no longer has {permission.value}.",
        KEYS_RIGHT,
        lambda key: [f"Calls with the key {key.prefix} of {key.owner} are refused at once: {permission.label}."],
        refused_if(lambda key: not key.allows(permission), f"This key does not have {permission.value}."),
        through(keys.withdraw_permission, "key", permission=permission),
    )


SCOPE_ACTIONS = {"unlock": unlock, "relock": relock}
KEY_ACTIONS = {"grant": grant_permission, "withdraw": withdraw_permission}


def _relocking(user: User, scope: str) -> list[str]:
    apps = Application.objects.filter(user=user).order_by("name", "pk")
    losing = [app.name for app in apps if scope in app.registered_scopes]
    if not losing:
        return [f"No app of theirs has registered {scope}; none can do so any more."]
    return [
        f"These apps lose it at once, and a sign-in that asks for it fails as a whole: {', '.join(losing)}.",
        "Existing tokens no longer include it.",
    ]


def _no_grant(key: ApiKey, permission: Permission) -> str:
    if key.revoked_at is not None or key.is_expired(timezone.now()):
        return "This key is revoked or has expired and cannot be used again."
    return f"This key has {permission.value} already." if key.allows(permission) else ""


_IS_DECIDED = refused_if(lambda request: not request.is_pending, "This request is decided or withdrawn already.")


def _granting(request: AccessRequest) -> list[str]:
    if request.key is not None:
        return [f"The key {request.key.prefix} of {request.user} can also call: {request.subject}."]
    return [f"The apps of {request.user}, today's and later ones, may register the scope {request.subject}."]


REQUEST_ACTIONS = {
    act.name: act
    for act in (
        Action(
            "grant",
            "Grant",
            "Grant {}",
            "{}: granted.",
            DECIDE,
            _granting,
            _IS_DECIDED,
            through(access_requests.grant, "request"),
            is_harmless=True,
            hint="The requester reads this by email. Kept in the audit trail.",
            needs_reason=False,
            presets=(
                "Your app shows what it uses the data for.",
                "For testing. Ask again before you publish the app.",
            ),
        ),
        Action(
            "deny",
            "Deny",
            "Deny {}",
            "{}: denied.",
            DECIDE,
            lambda request: [f"{request.user} is notified with your reason, and may ask again."],
            _IS_DECIDED,
            through(access_requests.deny, "request"),
            hint="The requester reads this on their page and by email. Kept in the audit trail.",
            presets=(
                "Please describe in more detail what you need it for.",
                "Please link to your app or to a description of it.",
                "What you describe works without it.",
                "Your account is too new. Please ask again in a few weeks.",
            ),
        ),
    )
}


@transaction.atomic
def reset_second_factor(*, user: User, by: User | None, reason: str) -> None:
    """As `second_factor.reset`, with an e-mail to the owner of the account."""
    second_factor.reset(user=user, by=by, reason=reason)
    notifications.send_after_commit(
        to=user,
        subject="Your second factor was removed",
        template="dashboard/letters/second_factor_reset.txt",
        context={"is_staff": user.is_staff, "support_email": settings.SUPPORT_EMAIL},
    )
