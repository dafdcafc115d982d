"""Actions of staff on apps, approvals and tokens, and on the locked scopes of a user."""

from __future__ import annotations

from django.utils import timezone

from accounts.models import User
from accounts.staff_actions import ConfirmationPage, StaffAction, refused_if, through
from oidc_provider import revocation
from oidc_provider.applications import applications, roles
from oidc_provider.applications.scopes import LOCKED_SCOPES, SCOPES
from oidc_provider.authorize import approvals
from oidc_provider.models import Application


def counted(number: int, noun: str) -> str:
    """Return "1 user", "2 users"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _suspending(app: Application) -> list[str]:
    active = app.accesstoken_set.filter(expires__gt=timezone.now()).count()
    return [
        "Users cannot sign in with the app; they see an error page that says so.",
        f"Its codes and tokens are deleted at once, {counted(active, 'active access token')} among them.",
        f"What {_users(app)} allowed is kept: after a restore they are not asked again.",
        "The owner sees the reason on the page of the app, and can still change the app.",
    ]


def _users(app: Application) -> str:
    return counted(app.approvals.count(), "user")


_SUSPEND = "oidc_provider.suspend_application"
_VERIFY = "oidc_provider.verify_application"
APPLICATION_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "suspend",
        "Suspend",
        "The app is refused everywhere and its tokens are deleted. Approvals are kept.",
        _SUSPEND,
        through(applications.suspend, "application"),
        ConfirmationPage(
            "suspend",
            "Suspend {}",
            "{} is suspended.",
            _suspending,
            refused_if(lambda app: app.is_suspended, "This app is suspended already."),
            hint="Kept in the audit trail, and shown to the owner.",
            presets=(
                "The app pretends to be another app or service.",
                "The app asks people for their password or for money.",
                "The app uses personal data for other purposes than its privacy policy says.",
                "The app sends unwanted messages.",
                "The links of the app do not work, and its owner does not answer.",
            ),
        ),
    ),
    StaffAction(
        "restore",
        "Restore",
        "The app works again. Users are not asked again.",
        _SUSPEND,
        through(applications.restore, "application"),
        ConfirmationPage(
            "restore",
            "Restore {}",
            "{} works again.",
            lambda app: [
                f"Sign-in with the app works again. {_users(app).capitalize()} who allowed it are not asked again."
            ],
            refused_if(lambda app: not app.is_suspended, "This app is not suspended."),
            is_harmless=True,
        ),
    ),
    StaffAction(
        "verify",
        "Verify",
        "The consent screen shows the app as verified.",
        _VERIFY,
        through(applications.verify, "application"),
        ConfirmationPage(
            "verify",
            "Verify {}",
            "{} is verified.",
            lambda app: [
                f"The consent screen shows {app.name} as verified, and no longer warns about locked scopes.",
                "A new name or a new logo also removes the verification.",
            ],
            refused_if(lambda app: app.is_verified, "This app is verified already."),
            is_harmless=True,
        ),
    ),
    StaffAction(
        "unverify",
        "Remove the verification",
        "The consent screen shows the app as unverified.",
        _VERIFY,
        through(applications.unverify, "application"),
        ConfirmationPage(
            "unverify",
            "Remove the verification of {}",
            "{} is no longer verified.",
            lambda app: [f"The consent screen shows {app.name} as not verified."],
            refused_if(lambda app: not app.is_verified, "This app is not verified."),
        ),
    ),
    StaffAction(
        "reset_secret",
        "Reset the secret",
        "The old secret stops working at once. The new one is shown once.",
        "oidc_provider.reset_secret_application",
        through(applications.reset_secret, "application"),
    ),
    StaffAction(
        "delete",
        "Delete",
        "Deletes the app with its approvals and tokens. It cannot be undone.",
        "oidc_provider.delete_application",
        through(applications.delete, "application"),
    ),
)
APPROVAL_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "disconnect",
        "Disconnect",
        "Deletes the approval and every token of the app for this user.",
        "oidc_provider.delete_approval",
        through(approvals.withdraw, "approval"),
    ),
)
ACCESS_TOKEN_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "revoke",
        "Revoke",
        "The token stops working at once. Refresh tokens of the same sign-in keep working.",
        "oidc_provider.delete_accesstoken",
        through(revocation.revoke_access_token, "token"),
    ),
)
REFRESH_TOKEN_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "revoke",
        "Revoke",
        "All tokens of the same sign-in stop working at once.",
        "oidc_provider.delete_refreshtoken",
        through(revocation.revoke_refresh_token, "token"),
    ),
)


def _relocking(user: User, scope: str) -> list[str]:
    apps = roles.losing(user, scope).order_by("name", "pk")
    losing = [app.name for app in apps if scope in app.registered_scopes]
    if not losing:
        return [f"No app of theirs has registered {scope}; none can do so any more."]
    return [
        f"These apps lose it at once, and a sign-in that asks for it fails as a whole: {', '.join(losing)}.",
        "Existing tokens no longer include it.",
    ]


UNLOCK_SCOPES = "accounts.unlock_scopes_user"
_LOCKED = {"scope": [(name, name) for name in LOCKED_SCOPES]}
SCOPE_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "unlock_scope",
        "Unlock a scope",
        "The user's apps may register it.",
        UNLOCK_SCOPES,
        through(applications.unlock_scope, "owner"),
        ConfirmationPage(
            "unlock",
            "Unlock {scope} for {}",
            "{scope} is unlocked for {}.",
            lambda _, scope: [
                f"Their apps, today's and later ones, may register the scope {scope} ({SCOPES[scope].label}).",
                "No app gets it automatically: the owner registers it, and users are asked.",
            ],
            refused_if(
                lambda user, scope: scope in user.unlocked_scopes, "{scope} is unlocked for this person already."
            ),
            is_harmless=True,
            label="Unlock {scope}",
        ),
        offer=lambda user: any(scope not in user.unlocked_scopes for scope in LOCKED_SCOPES),
        options=_LOCKED,
    ),
    StaffAction(
        "relock_scope",
        "Relock a scope",
        "Every app of the user loses it at once.",
        UNLOCK_SCOPES,
        through(applications.relock_scope, "owner"),
        ConfirmationPage(
            "relock",
            "Lock {scope} again for {}",
            "{scope} is locked again for {}.",
            _relocking,
            refused_if(
                lambda user, scope: scope not in user.unlocked_scopes, "{scope} is not unlocked for this person."
            ),
            label="Lock {scope} again",
        ),
        offer=lambda user: bool(user.unlocked_scopes),
        options=_LOCKED,
    ),
)
