"""What the account pages show, and the export of everything that the service stores about a user."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import F, Model, Q, QuerySet
from django.db.models.fields.json import KT

from accounts import users
from accounts.models import AccountDeletion, AuditEvent, KeyDay, LinkedAccount, User, WebhookEndpoint
from accounts.plans import Plan
from imagehost.models import FileDay
from infrastructure.databases.statements import Statement
from infrastructure.timestamps import iso
from lookup.transfer import exporting
from oidc_provider.applications.transfers import Estate
from oidc_provider.models import Invitation, LastUse, RequestRecord, Role, Team

FEW_CODES = 3


@dataclass(frozen=True)
class Security:
    """`codes`: the number of unused recovery codes; None without any codes."""

    passkeys: int
    has_app: bool
    codes: int | None

    @property
    def has_second_factor(self) -> bool:
        return self.has_app or self.passkeys > 0

    @property
    def has_few_codes(self) -> bool:
        return self.has_second_factor and (self.codes is None or self.codes < FEW_CODES)


NO_SECOND_FACTOR = Security(passkeys=0, has_app=False, codes=None)


def security_of(user: User) -> Security:
    """Return the second factors of the user. 1 query."""
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
    """Return the main address of the user. 1 query."""
    row = EmailAddress.objects.filter(user=user).order_by("-primary", "pk").values_list("email", "verified").first()
    address, is_verified = row or (None, False)
    return mail_from(user, address, is_verified=is_verified)


def mail_from(user: User, address: str | None, *, is_verified: bool) -> Mail:
    """Return the main address. `address`: of the user's first `EmailAddress`, or None."""
    return Mail(user.email or None, is_verified=False) if address is None else Mail(address, is_verified)


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
    """Return the overview. 5 queries: addresses, second factors, sessions, linked accounts, approvals."""
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


def teams_for(user: User, estate: Estate) -> list[Team]:
    """Return the teams that can take apps of the user: those that have, or can get, another owner. 1 query."""
    lonely = [held.team.pk for held in estate.teams if not held.heirs]
    owned = user.team_memberships.filter(role=Role.OWNER).exclude(team__in=lonely).select_related("team")
    return [member.team for member in owned.order_by("team__name", "team")]


BATCH = 500


class _Encoder(DjangoJSONEncoder):
    """Writes times as lookups do."""

    def default(self, value: object) -> Any:
        return iso(value) if isinstance(value, datetime) else super().default(value)


_ENCODER = _Encoder(ensure_ascii=False)
_ACCOUNT = (
    *("id", "uid", "username", "display_name", "email", "created_at", "last_login", "renamed_at", "plan"),
    *("plan_expires_at", "is_verified", "public_api_access", "is_inactive", "unlocked_scopes", "is_staff"),
    *("hidden_at", "mails_new_browsers"),
)
_FILE = (
    *("id", "name", "extension", "mime", "size", "width", "height", "duration_ms", "frames", "original_name"),
    *("caption", "is_favorite", "uploaded_at", "expires_at", "folder_id", "state"),
)
_APP = (
    *("client_id", "name", "redirect_uris", "registered_scopes", "homepage_url", "privacy_url", "terms_url"),
    "backchannel_logout_uri",
    *("support_url", "is_verified", "suspended_at", "suspension_reason", "secret_changed_at", "secret_used_at"),
    *("second_secret_changed_at", "second_secret_used_at", "is_staging", "team_id", "created"),
)
_KEY = (
    *("prefix", "name", "permissions", "is_enabled", "created_at", "last_used_at", "expires_at", "revoked_at"),
    *("remaining_uses", "refill_amount", "refill_interval", "refilled_at", "origins"),
)


_DELETION = Statement("SELECT asked_at, due_at FROM accounts_accountdeletion WHERE user_id = $1", "dd")


def deletion_of(user: User) -> AccountDeletion | None:
    """Return the requested deletion of the account, or None. 1 query, by hand: every page of the dashboard runs it."""
    row = _DELETION.one(user.pk)
    return AccountDeletion(user=user, asked_at=row[0], due_at=row[1]) if row else None


def data_chunks(user: User, now: datetime) -> Iterator[bytes]:
    """Yield the document in chunks of at most BATCH rows. 1 query for each kind of row, and for each further BATCH."""
    yield b'{"made_at":' + _json(now)
    account = {name: getattr(user, name) for name in _ACCOUNT}
    yield b',\n"account":' + _json(account)
    for name, rows, columns in _tables(user):
        yield f',\n"{name}":'.encode()
        yield from _array(_json(_values(row, columns)) for row in _all(rows))
    by_or_on = Q(actor=user) | Q(object_type=user._meta.label_lower, object_id=user.pk)
    yield b',\n"events":'
    yield from _array(_json(_event(event, user)) for event in _all(AuditEvent.objects.filter(by_or_on)))
    yield b',\n"profile":'
    yield next(exporting.lines(user_ids=[user.pk], hidden_too=True), b"null")
    yield b"}\n"


def _tables(user: User) -> Iterator[tuple[str, QuerySet[Any], tuple[str, ...]]]:
    yield "email_addresses", EmailAddress.objects.filter(user=user), ("email", "verified", "primary")
    yield "names", user.names.all(), ("name", "kind")
    yield "linked_accounts", user.linked_accounts.all(), ("kind", "external_id", "name", "avatar_url", "linked_at")
    factors = Authenticator.objects.filter(user=user).annotate(name=KT("data__name"))  # keys have names
    yield "second_factors", factors, ("type", "name", "created_at", "last_used_at")
    sessions = ("ip", "user_agent", "created_at", "last_seen_at")
    yield "sessions", UserSession.objects.filter(user=user), sessions
    approvals = user.approvals.select_related("application")
    yield "approvals", approvals, ("application.client_id", "application.name", "scopes", "created_at", "updated_at")
    yield from _tables_of_apps(user)
    yield "api_keys", user.api_keys.all(), _KEY
    owned = WebhookEndpoint.objects.filter(Q(user=user) | Q(application__user=user))
    webhooks = ("client_id", "url", "events", "created_at", "disabled_at", "disabled_by", "failing_since")
    yield "webhooks", owned.annotate(client_id=F("application__client_id")), webhooks
    days = KeyDay.objects.filter(key__owner=user).select_related("key")
    yield "api_key_days", days, ("key.prefix", "day", "count")
    requests = ("kind", "subject", "reason", "state", "answer", "created_at", "decided_at")
    yield "requests", user.access_requests.all(), requests
    yield "staff_notices", user.staff_notices.all(), ("kind", "text", "created_at", "dismissed_at")
    yield "folders", user.imagehost_folders.all(), ("id", "name", "is_public", "created_at", "updated_at")
    rules = user.folder_rules.select_related("folder")
    yield "folder_rules", rules, ("position", "kind", "pattern", "folder.name")
    yield "files", user.files.all(), _FILE
    yield "file_days", FileDay.objects.filter(file__owner=user), ("file_id", "day", "views", "downloads")
    yield "albums", user.imagehost_albums.all(), ("id", "title", "link", "file_ids", "created_at", "updated_at")
    # On profiles of other users, and for their own.
    comments = user.comments_written.select_related("user")
    yield "comments", comments, ("id", "user.username", "parent_id", "content", "created_at")
    yield "votes", user.votes_given.select_related("user"), ("user.username", "is_like", "created_at")
    yield "comment_likes", user.comment_likes.all(), ("comment_id", "created_at")
    decisions = ("kind", "title", "reason", "words", "decided_at", "lifted_at", "appeal", "appealed_at", "is_granted")
    yield "decisions", user.decisions.all(), (*decisions, "answer", "answered_at")
    reports = ("user.username", "comment_id", "kind", "title", "reason", "text", "created_at", "decided_at")
    yield "reports", user.reports_made.select_related("user"), reports
    uploads = ("path", "mime", "width", "height", "duration", "size", "created_at")
    yield "uploads", user.assets.all(), uploads


def _tables_of_apps(user: User) -> Iterator[tuple[str, QuerySet[Any], tuple[str, ...]]]:
    yield "apps", user.applications.all(), _APP
    teams = user.team_memberships.select_related("team")
    yield "teams", teams, ("team_id", "team.name", "role", "joined_at")
    addresses = EmailAddress.objects.filter(user=user).values("email")
    invitations = Invitation.objects.filter(Q(invited_by=user) | Q(email__in=addresses))
    yield "invitations", invitations, ("email", "team_id", "application_id", "role", "created_at", "expires_at")
    # What apps did for the person.
    sessions = user.client_sessions.select_related("application")
    yield "app_sessions", sessions, ("application.client_id", "created_at", "used_at")
    uses = LastUse.objects.filter(user=user).select_related("application")
    yield "app_uses", uses, ("application.client_id", "used_at")
    records = RequestRecord.objects.filter(user=user).select_related("application")
    yield "app_requests", records, ("application.client_id", "moment", "kind", "outcome")


def _event(event: AuditEvent, user: User) -> dict[str, object]:
    """Return the event, with the address only of the user's own actions, because it is the actor's."""
    names = ("created_at", "verb", "actor_kind", "object_type", "object_id", "object_name", "reason", "data")
    values = {name: getattr(event, name) for name in names}
    return {**values, "address": event.address} if event.actor_id == user.pk else values


def _all(rows: QuerySet[Any]) -> Iterator[Any]:
    """Yield rows by primary key, in batches."""
    rows, last = rows.order_by("pk"), None
    while batch := list((rows if last is None else rows.filter(pk__gt=last))[:BATCH]):
        yield from batch
        if len(batch) < BATCH:
            return
        last = batch[-1].pk


def _values(row: Model, columns: tuple[str, ...]) -> dict[str, object]:
    """Return values by column. A dot leads to a related row; the name then has an underscore."""
    return {column.replace(".", "_"): attrgetter(column)(row) for column in columns}


def _array(items: Iterator[bytes]) -> Iterator[bytes]:
    separator = b"["
    for item in items:
        yield separator + item
        separator = b",\n"
    yield b"]" if separator != b"[" else b"[]"


def _json(value: object) -> bytes:
    return _ENCODER.encode(value).encode()
