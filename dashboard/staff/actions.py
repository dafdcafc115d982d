"""Actions of staff on requests, and what every action on the staff pages does.

Operations are idempotent. `perform` checks the state under the lock first, so that a page can say that another member
of staff has acted already.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction

from accounts import notifications, second_factor
from accounts.models import ApiKey, User
from accounts.staff_actions import ConfirmationPage, StaffAction, refused_if, through
from dashboard import access_requests
from dashboard.models import AccessRequest
from imagehost.models import File, Folder
from lookup.models import Asset, Decision, Report
from lookup.social import cases
from oidc_provider.models import Application

SEE_EMAIL = "accounts.view_user"
DELETED = "It was deleted in the meantime."


@transaction.atomic
def perform(action: StaffAction, subject: Any, *, by: User, reason: str, **options: str) -> None:
    """Run the action. Raises ValidationError: `subject` is deleted, or in that state already, or the operation refuses;
    PermissionDenied as `action.check`, or the operation's."""
    locked = _locked(subject)
    action.check(owners=[owner_of(locked)], by=by)
    refusal = action.refusal(locked, **options)
    if refusal:
        raise ValidationError(refusal)
    action.run(locked, by=by, reason=reason, **options)


def owner_of(subject: User | ApiKey | Asset | File | Folder | Application | AccessRequest | Report | Decision) -> User:
    """Return the user whom an action on the row concerns."""
    if isinstance(subject, User):
        return subject
    if isinstance(subject, Report):
        return cases.accused_of(subject)
    owner = subject.owner if isinstance(subject, ApiKey | Asset | File | Folder) else subject.user
    if owner is None:
        raise ValidationError(DELETED)
    return owner


def _locked(subject: Any) -> Any:
    """Lock the row until the end of the transaction, with the strength that the operation uses, and return it."""
    if not isinstance(subject, User | ApiKey | Application):
        return subject  # its operation locks in an order of its own, and checks the state
    model: Any = type(subject)  # Any: a model of any of these
    rows = model._default_manager.select_for_update(of=("self",), no_key=model is not ApiKey)
    found = rows.filter(pk=subject.pk).first()
    if found is None:
        raise ValidationError(DELETED)
    return found


_is_decided = refused_if(lambda request: not request.is_pending, "This request is decided or withdrawn already.")


def _granting(request: AccessRequest) -> list[str]:
    if request.key is not None:
        return [f"The key {request.key.prefix} of {request.user} can also call: {request.subject}."]
    return [f"The apps of {request.user}, today's and later ones, may register the scope {request.subject}."]


DECIDE = "dashboard.decide_accessrequest"
REQUEST_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "grant",
        "Grant",
        "Unlocks the scope for the person's apps, or gives the key its permission. The requester reads the reason.",
        DECIDE,
        through(access_requests.grant, "request"),
        ConfirmationPage(
            "grant",
            "Grant {}",
            "{}: granted.",
            _granting,
            _is_decided,
            is_harmless=True,
            hint="The requester reads this by email. Kept in the audit trail.",
            presets=(
                "Your app shows what it uses the data for.",
                "For testing. Ask again before you publish the app.",
            ),
        ),
        needs_reason=False,
    ),
    StaffAction(
        "deny",
        "Deny",
        "The requester reads the reason, and may ask again.",
        DECIDE,
        through(access_requests.deny, "request"),
        ConfirmationPage(
            "deny",
            "Deny {}",
            "{}: denied.",
            lambda request: [f"{request.user} is notified with your reason, and may ask again."],
            _is_decided,
            hint="The requester reads this on their page and by email. Kept in the audit trail.",
            presets=(
                "Please describe in more detail what you need it for.",
                "Please link to your app or to a description of it.",
                "What you describe works without it.",
                "Your account is too new. Please ask again in a few weeks.",
            ),
        ),
    ),
)


@transaction.atomic
def reset_second_factor(*, user: User, by: User | None, reason: str) -> None:
    """Reset as `second_factor.reset`, and send an email to the owner of the account."""
    second_factor.reset(user=user, by=by, reason=reason)
    notifications.send_after_commit(
        to=user,
        subject="Your second factor was removed",
        template="dashboard/letters/second_factor_reset.txt",
        context={"is_staff": user.is_staff, "support_email": settings.SUPPORT_EMAIL},
    )


RESET_SECOND_FACTOR = StaffAction(
    "reset_second_factor",
    "Reset the second factor",
    "Removes the passkeys, the authenticator app and the recovery codes of the account, ends every session and "
    "writes to the owner. Make sure first that it is the owner who asks. Staff set up a new one before their pages "
    "open again.",
    "accounts.reset_second_factor_user",
    through(reset_second_factor, "user"),
    offer=second_factor.has_any,
    check=second_factor.check_authority,
)
