"""Sign-ins and what people change of their own credentials, in the audit trail; the end of access by keys and apps.

allauth changes passwords, addresses, authenticators and sessions, and sends a signal; the operations of API keys write
their own events.
"""

from __future__ import annotations

from typing import Any

from allauth.account import signals
from allauth.account.authentication import get_authentication_records
from allauth.account.models import EmailAddress
from allauth.mfa import signals as mfa_signals
from allauth.mfa.base.internal.flows import delete_dangling_recovery_codes
from allauth.mfa.models import Authenticator
from allauth.usersessions.adapter import DefaultUserSessionsAdapter
from allauth.usersessions.models import UserSession
from django.db import transaction
from django.dispatch import Signal, receiver
from django.http import HttpRequest

from accounts import audit, browser_sessions, hooks, rate_limits, users
from accounts.api_keys import keys
from accounts.models import ApiKey, User
from infrastructure import limits
from infrastructure.limits import LimitsUnavailable

EMAIL_CLAIMS = frozenset({"email", "email_verified"})


def authenticated_at(request: HttpRequest, user: User) -> float:
    """Return when `user` last proved who they are in this session, second factors included, in UNIX time.

    A session that a sign-up opened has no record until they prove it again: its beginning counts. The account's last
    sign-in may have been in another session. 0 where nothing is known.
    """
    times = [record["at"] for record in get_authentication_records(request, user) if "at" in record]
    return float(max(times, default=request.session.get(browser_sessions.SIGNED_IN_AT, 0)))


@transaction.atomic
def end_access(*, user: User, by: User | None) -> None:
    """Revoke the user's API keys and delete the tokens that apps have for the user. Approvals stay."""
    users.check_may_act_for(owner=user, by=by)
    users.lock(user.pk)
    unrevoked = list(ApiKey.objects.filter(owner=user, revoked_at=None).order_by("pk"))
    for key in unrevoked:
        keys.revoke(key=key, by=by, reason="The owner ended all access with a new password.")
    hooks.call("access_ended", user)
    audit.record("user:access_ended", by=by, on=user, keys=len(unrevoked))


def note_failure(user: User | None, *, method: str) -> None:
    """Record that a sign-in or a reauthentication as `user` failed.

    The trail holds the first SIGN_IN_FAILURES an hour of an account and of all accounts, so that an attack does not
    fill it. The metric `hearth_sign_ins` counts every failure.
    """
    if user is None:
        return
    windows = rate_limits.SIGN_IN_FAILURES.of(user.pk), rate_limits.ALL_SIGN_IN_FAILURES.of()
    try:
        is_too_many = limits.take(*windows)
    except LimitsUnavailable:  # the form answers all the same; an event is not worth an outage
        is_too_many = 1
    if not is_too_many:
        audit.record("user:sign_in_failed", by=None, on=user, method=method)


def find_user(credentials: dict[str, Any]) -> User | None:
    """Return the account that the fields of a login form name, by username or by email address. 1 query."""
    if username := credentials.get("username"):
        return User.objects.filter(username__upper=username.upper()).first()
    address = EmailAddress.objects.filter(email=str(credentials.get("email", "")).lower()).select_related("user")
    found = address.order_by("-verified", "pk").first()
    return found.user if found is not None else None


@transaction.atomic
def remove_lost_passkeys(user: User) -> None:
    """Delete the passkeys of a user without a password who has just chosen one by a mailed link: they count as lost,
    and a sign-in with the password would ask for them. Staff keep theirs, which another operator can remove.

    Recovery codes go with the last factor. At most 1 query and 2 for each passkey, and 2 more.
    """
    if user.is_staff:
        return
    for passkey in Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN).order_by("pk"):
        passkey.delete()
        audit.record("user:authenticator_removed", by=user, on=user, type=passkey.type, by_mail=True)
    delete_dangling_recovery_codes(user)


class SessionsAdapter(DefaultUserSessionsAdapter):
    """Ends the other sessions of a user one by one, each with its event."""

    def end_sessions(self, sessions: list[UserSession]) -> None:
        for session in sessions:
            users.end_session(session=session, by=session.user)


# `kwargs` of each receiver: the other arguments of allauth's signal.


@receiver(signals.user_logged_in, dispatch_uid="accounts.credentials.signed_in")
def note_sign_in(request: HttpRequest, user: User, **kwargs: Any) -> None:
    methods = [record["method"] for record in get_authentication_records(request, user)]
    audit.record("user:signed_in", by=user, on=user, methods=methods)


@receiver(mfa_signals.authentication_failed, dispatch_uid="accounts.credentials.second_factor_failed")
def note_second_factor_failure(user: User, **kwargs: Any) -> None:
    note_failure(user, method="mfa")


@receiver(signals.email_confirmed, dispatch_uid="accounts.credentials.email_confirmed")
def note_confirmed_address(email_address: EmailAddress, **kwargs: Any) -> None:
    audit.record("user:email_confirmed", by=email_address.user, on=email_address.user)


@receiver(signals.email_changed, dispatch_uid="accounts.credentials.email_claims")
def note_main_address(
    user: User, from_email_address: EmailAddress | None, to_email_address: EmailAddress, **kwargs: Any
) -> None:
    """Call the receivers of `claims_changed`: another address is the one of the account."""
    if from_email_address is None or from_email_address.email != to_email_address.email:
        is_alike = from_email_address is not None and from_email_address.verified == to_email_address.verified
        hooks.claims_changed({user.pk: {"email"} if is_alike else EMAIL_CLAIMS})


@receiver(signals.email_removed, dispatch_uid="accounts.credentials.email_claims_removed")
def note_removed_address(user: User, email_address: EmailAddress, **kwargs: Any) -> None:
    """Call the receivers of `claims_changed`: the account's address, its only one, was removed."""
    if email_address.primary:
        hooks.claims_changed({user.pk: EMAIL_CLAIMS})


# What is written of each change. No event names an address: the trail outlives accounts.
_CHANGES: dict[Signal, tuple[str, dict[str, Any]]] = {
    signals.password_set: ("user:password_changed", {}),
    signals.password_changed: ("user:password_changed", {}),
    signals.password_reset: ("user:password_changed", {"by_mail": True}),
    signals.email_added: ("user:email_added", {}),
    signals.email_removed: ("user:email_removed", {}),
    signals.email_changed: ("user:email_changed", {}),
    mfa_signals.authenticator_added: ("user:authenticator_added", {}),
    mfa_signals.authenticator_removed: ("user:authenticator_removed", {}),
    mfa_signals.authenticator_reset: ("user:authenticator_replaced", {}),
}


@receiver(list(_CHANGES), dispatch_uid="accounts.credentials.changed")
def note_change(signal: Signal, user: User, authenticator: Authenticator | None = None, **kwargs: Any) -> None:
    verb, data = _CHANGES[signal]
    if authenticator is not None:
        data = {"type": authenticator.type}
    audit.record(verb, by=user, on=user, **data)
