"""What staff do to apps."""

from __future__ import annotations

from django.utils import timezone

from dashboard.staff.acts import Act, counted, refused_if, through
from oidc_provider.applications import applications
from oidc_provider.models import Application

_SUSPEND = "oidc_provider.suspend_application"
_VERIFY = "oidc_provider.verify_application"


def _suspending(app: Application) -> list[str]:
    tokens = app.accesstoken_set.filter(expires__gt=timezone.now()).count()
    return [
        "Nobody can sign in with the app from now on; its users see an error page that says so.",
        f"Its codes and tokens are deleted at once, {counted(tokens, 'living access token')} among them.",
        f"What {_users(app)} allowed is kept: after a restore nobody is asked again.",
        "The owner sees the reason on the page of the app, and can still change the app.",
    ]


def _restoring(app: Application) -> list[str]:
    return [f"Sign-in with the app works again. {_users(app).capitalize()} who allowed it are not asked again."]


def _verifying(app: Application) -> list[str]:
    return [
        f"The consent screen says that staff know {app.name}, and no longer warns of locked scopes.",
        "A new name or a new logo takes the verification back by itself.",
    ]


def _unverifying(app: Application) -> list[str]:
    return [f"The consent screen calls {app.name} an app that staff do not know."]


def _users(app: Application) -> str:
    return counted(app.approvals.count(), "user")


ACTS = {
    act.name: act
    for act in (
        Act(
            "suspend",
            "Suspend",
            "Suspend {}",
            "{} is suspended.",
            _SUSPEND,
            _suspending,
            refused_if(lambda app: app.is_suspended, "This app is suspended already."),
            through(applications.suspend, "application"),
            hint="Kept in the audit trail, and shown to the owner.",
        ),
        Act(
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
        Act(
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
        Act(
            "unverify",
            "Take the verification back",
            "Take the verification of {} back",
            "{} is no longer verified.",
            _VERIFY,
            _unverifying,
            refused_if(lambda app: not app.is_verified, "This app is not verified."),
            through(applications.unverify, "application"),
        ),
    )
}
