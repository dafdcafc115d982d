"""What the pages about one's own account show, beside what allauth's own pages do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession

from accounts import users
from accounts.models import LinkedAccount, User
from accounts.plans import Plan

FEW_CODES = 3


@dataclass(frozen=True)
class Security:
    """`codes`: unused recovery codes; None where there are none at all."""

    passkeys: int
    has_app: bool
    codes: int | None

    @property
    def has_second_factor(self) -> bool:
        return self.has_app or self.passkeys > 0

    @property
    def has_few_codes(self) -> bool:
        return self.has_second_factor and (self.codes is None or self.codes < FEW_CODES)


def security_of(user: User) -> Security:
    """1 query."""
    rows = list(Authenticator.objects.filter(user=user).order_by("pk"))
    codes = [row.wrap() for row in rows if row.type == Authenticator.Type.RECOVERY_CODES]
    return Security(
        passkeys=sum(row.type == Authenticator.Type.WEBAUTHN for row in rows),
        has_app=any(row.type == Authenticator.Type.TOTP for row in rows),
        codes=len(codes[0].get_unused_codes()) if codes else None,
    )


@dataclass(frozen=True)
class Mail:
    """The main address; None where the account has none."""

    address: str | None
    is_verified: bool


def mail_of(user: User) -> Mail:
    """1 query."""
    row = EmailAddress.objects.filter(user=user).order_by("-primary", "pk").first()
    return Mail(row.email, row.verified) if row is not None else Mail(user.email or None, is_verified=False)


@dataclass(frozen=True)
class Overview:
    """`plan_ends_at`: None where the plan does not end. `renamable_at`: None where the username can change now."""

    mail: Mail
    security: Security
    plan: Plan
    plan_ends_at: datetime | None
    renamable_at: datetime | None
    has_password: bool
    sessions: int
    linked_accounts: list[LinkedAccount]
    connected_apps: int


def overview_of(user: User, now: datetime) -> Overview:
    """5 queries: addresses, second factors, sessions, linked accounts, approvals."""
    plan = user.current_plan(now)
    return Overview(
        mail=mail_of(user),
        security=security_of(user),
        plan=plan,
        plan_ends_at=user.plan_expires_at if plan is not Plan.FREE else None,
        renamable_at=users.renamable_at(user),
        has_password=user.has_usable_password(),
        sessions=UserSession.objects.filter(user=user).count(),
        linked_accounts=list(user.linked_accounts.order_by("kind")),
        connected_apps=user.approvals.count(),
    )
