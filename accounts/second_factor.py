"""The second factor that staff must have: how long they may go without one, whether a session has proved it, its reset.

`second_factor_grace_from` of a member of staff is the start of the grace period. Setting up a second factor ends the
period permanently: if they lose the factor later, they get no new one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from allauth.account.authentication import get_authentication_records
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import HttpRequest

from accounts import audit, users
from accounts.models import User

# Recovery codes are issued with one of these, and replace it at a login.
FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
LAST_FACTOR = "Staff need a second factor. Add another one before you remove this one."
LAST_PASSKEY = "Your account has no password. Set one, or add another passkey, before you remove this one."
SET_UP_BY = "second_factor_set_up_by"  # session key: the user who set one up in this session, which proves it


@dataclass(frozen=True)
class Standing:
    """Of a member of staff in one session. `grace_ends_at`: None where no grace period runs."""

    is_demanded: bool
    has_app: bool
    has_key: bool
    is_proved: bool
    grace_ends_at: datetime | None

    @property
    def has_factor(self) -> bool:
        return self.has_app or self.has_key

    @property
    def may_pass(self) -> bool:
        """Whether staff pages are open. A second factor must have been used in this session."""
        if not self.is_demanded:
            return True
        return self.is_proved if self.has_factor else self.grace_ends_at is not None


def standing_of(request: HttpRequest, user: User, now: datetime) -> Standing:
    """Return the session's standing. 1 query."""
    types = set(Authenticator.objects.filter(user=user, type__in=FACTORS).values_list("type", flat=True))
    records = get_authentication_records(request, user)
    grace_from = user.second_factor_grace_from
    grace_ends_at: datetime | None = grace_from and grace_from + settings.STAFF_SECOND_FACTOR_GRACE
    return Standing(
        is_demanded=settings.STAFF_SECOND_FACTOR,
        has_app=Authenticator.Type.TOTP in types,
        has_key=Authenticator.Type.WEBAUTHN in types,
        # The session began with a second factor, was confirmed by one, or set one up.
        is_proved=request.session.get(SET_UP_BY) == user.pk or any(each.get("method") == "mfa" for each in records),
        grace_ends_at=grace_ends_at if grace_ends_at and now < grace_ends_at else None,
    )


def note_set_up(request: HttpRequest, user: User) -> None:
    """Note that a second factor was set up in this session. At most 1 query."""
    request.session[SET_UP_BY] = user.pk
    if user.second_factor_grace_from is not None:
        user.second_factor_grace_from = None
        user.save(update_fields=["second_factor_grace_from"])


def reason_to_keep(authenticator: Authenticator) -> str:
    """Return why the owner may not remove it; empty where they may. Staff keep the last one, and an account without a
    password the last passkey. At most 1 query besides the owner."""
    user = authenticator.user
    is_staff_factor = settings.STAFF_SECOND_FACTOR and user.is_staff and authenticator.type in FACTORS
    is_way_in = authenticator.type == Authenticator.Type.WEBAUTHN and not user.has_usable_password()
    if not (is_staff_factor or is_way_in):
        return ""
    remaining = Authenticator.objects.filter(user=user, type__in=FACTORS).exclude(pk=authenticator.pk)
    if is_way_in and not any(_may_sign_in(each) for each in remaining):
        return LAST_PASSKEY
    return LAST_FACTOR if is_staff_factor and not remaining else ""


def _may_sign_in(authenticator: Authenticator) -> bool:
    """Return whether it signs in by itself. Some browsers do not say whether a key does."""
    return authenticator.type == Authenticator.Type.WEBAUTHN and authenticator.wrap().is_passwordless is not False


def has_any(user: User) -> bool:
    """Return whether the user has a second factor. 1 query."""
    return bool(Authenticator.objects.filter(user=user).exists())


def check_authority(*, owners: Iterable[User], by: User | None) -> None:
    """Raise PermissionDenied unless `by` may reset the second factor of `owners`: never their own, and a superuser's
    only as a superuser. Other staff may be helped by any operator."""
    for owner in owners:
        if by is not None and by.pk == owner.pk:
            raise PermissionDenied("You cannot reset your own second factor; another operator can.")
        if by is not None and owner.is_superuser and not by.is_superuser:
            raise PermissionDenied("Only a superuser may do this to a superuser.")


@transaction.atomic
def reset(*, user: User, by: User | None, reason: str) -> None:
    """Remove the user's second factors and recovery codes, and end every session. Staff get no new grace period.

    PermissionDenied as `check_authority`. ValidationError: there is nothing to remove.
    """
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    check_authority(owners=[user], by=by)
    rows = Authenticator.objects.filter(user=user)
    types = sorted(rows.values_list("type", flat=True))
    if not types:
        raise ValidationError(f"{user.username} has no second factor.")
    rows.delete()
    user.second_factor_grace_from = None
    user.save(update_fields=["second_factor_grace_from"])
    ended = users.end_sessions(user)
    audit.record("user:second_factor_reset", by=by, on=user, reason=reason, removed=types, sessions_ended=ended)
