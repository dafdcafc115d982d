"""What the pages show of apps: users, last use, secret, activity, and a preview of the consent screen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from accounts.models import AuditEvent, User, WebhookDelivery
from dashboard import trail, versions
from dashboard.models import AccessRequest
from oidc_provider import redirects
from oidc_provider.applications import application_rules, invitations, roles
from oidc_provider.applications.scopes import Scope, in_order
from oidc_provider.applications.staging import Difference
from oidc_provider.authorize import consent_page
from oidc_provider.models import (
    COUNTS_KEPT,
    Application,
    Approval,
    Grant,
    Invitation,
    LastUse,
    PendingRequest,
    RefreshToken,
    Role,
    Team,
)
from oidc_provider.models.applications import MAX_NAME_LENGTH, AppSecret
from oidc_provider.token.token_queries import Subject

_TITLES = {
    "application:registered": "Registered",
    "application:details_changed": "Name, links or logout URL changed",
    "application:redirect_urls_changed": "Redirect URLs changed",
    "application:scopes_changed": "Scopes changed",
    "application:secret_reset": "Secret reset",
    "application:secret_added": "Second secret added",
    "application:secret_removed": "Secret removed",
    "application:tokens_revoked": "All tokens revoked",
    "application:logo_changed": "Logo changed",
    "application:logo_removed": "Logo removed",
    "application:suspended": "Suspended",
    "application:restored": "Restored",
    "application:verified": "Verified",
    "application:unverified": "No longer verified",
    "application:offered": "Offered to another person",
    "application:invitation_withdrawn": "Offer withdrawn",
    "application:declined": "Offer declined",
    "application:transferred": "Owner or team changed",
    "team:created": "Team created",
    "team:renamed": "Team renamed",
    "team:invited": "Person invited to the team",
    "team:invitation_withdrawn": "Invitation to the team withdrawn",
    "team:declined": "Invitation to the team declined",
    "team:member_joined": "Member joined the team",
    "team:role_changed": "Role of a member changed",
    "team:member_removed": "Member removed from the team",
    "team:member_left": "Member left the team",
    "application:webhook_added": "Webhook added",
    "application:webhook_changed": "Webhook changed",
    "application:webhook_paused": "Webhook paused",
    "application:webhook_resumed": "Webhook resumed",
    "application:webhook_secret_rotated": "Secret of a webhook rotated",
    "application:webhook_deleted": "Webhook deleted",
    "application:webhook_replayed": "Event sent again",
}
LABELS = {  # of the columns of an app
    "name": "Name",
    "homepage_url": "Website",
    "privacy_url": "Privacy policy",
    "terms_url": "Terms",
    "support_url": "Support",
    "backchannel_logout_uri": "Logout URL",
    "owner": "Owner",
    "team": "Team",
    "role": "Role",
}
LOGOUTS_SHOWN = 5
_WEBHOOK_LABELS = {"url": "Address", "events": "Events"}


@dataclass(frozen=True)
class Change:
    """A changed value; for a list, what was added and what was removed."""

    label: str
    before: str = ""
    after: str = ""
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Entry:
    """`address`: empty for other readers than the actor."""

    created_at: datetime
    title: str
    actor: str
    reason: str
    address: str
    changes: list[Change]


def entries_of(events: Iterable[AuditEvent], reader: User) -> list[Entry]:
    return [
        Entry(
            event.created_at,
            _TITLES.get(event.verb, event.verb.partition(":")[2].replace("_", " ").capitalize()),
            trail.actor_of(event, reader),
            event.reason,
            event.address if event.actor_id == reader.pk else "",
            _changes(event),
        )
        for event in events
    ]


def _changes(event: AuditEvent) -> list[Change]:
    """Return the changes; empty where the event has none: the audit trail has rows of every release."""
    before, after = event.data.get("before"), event.data.get("after")
    if event.verb in _OF_MEMBERS and "username" in event.data:
        return _change_of_member(event.verb, event.data)
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            Change(
                {**LABELS, **_WEBHOOK_LABELS}.get(name, name),
                str(before.get(name) or "none"),
                str(after.get(name) or "none"),
            )
            for name in sorted(after)
            if before.get(name) != after[name]
        ]
    if isinstance(before, list) and isinstance(after, list):
        label = "Scopes" if event.verb == "application:scopes_changed" else "Redirect URLs"
        added = [value for value in after if value not in before]
        return [Change(label, added=added, removed=[value for value in before if value not in after])]
    if event.verb == "application:webhook_added":
        url, events = str(event.data.get("url", "")), list(event.data.get("events", []))
        return [Change("Address", added=[url]), Change("Events", added=events)]
    if event.verb == "application:webhook_deleted":
        return [Change("Address", removed=[str(event.data.get("url", ""))])]
    if event.verb == "application:registered":
        return [
            Change("Redirect URLs", added=list(event.data.get("redirect_urls", []))),
            Change("Scopes", added=list(event.data.get("scopes", []))),
        ]
    return []


_OF_MEMBERS = ("team:member_joined", "team:role_changed", "team:member_removed", "team:member_left")


def _change_of_member(verb: str, data: dict[str, Any]) -> list[Change]:
    name = str(data["username"])
    if verb == "team:role_changed":
        return [Change(f"Role of {name}", str(data["before"]["role"]), str(data["after"]["role"]))]
    if verb == "team:member_joined":
        return [Change("Members", added=[f"{name}, {str(data.get('role', '')).lower()}"])]
    return [Change("Members", removed=[name])]


def copied(changes: Iterable[Difference]) -> list[Change]:
    """Return what a copy of settings changes, for its page."""
    return [_copied(change) for change in changes]


def _copied(change: Difference) -> Change:
    if change.setting == "registered_scopes":
        before, after = change.before.split(), change.after.split()
        added = [scope for scope in after if scope not in before]
        return Change("Scopes", added=added, removed=[scope for scope in before if scope not in after])
    if change.setting == "logo":
        return Change("Logo", "one picture" if change.before else "none", "another one" if change.after else "none")
    return Change(LABELS[change.setting], change.before or "none", change.after or "none")


RECENTLY = timedelta(days=7)
_A_DAY = timedelta(hours=24)
_MADE_A_SECRET = ("application:registered", "application:secret_reset", "application:secret_added")


@dataclass(frozen=True)
class AppRow:
    """An app in a list. `role`: that of the reader in the app's team, in words; empty without a team."""

    application: Application
    logo_url: str
    user_count: int
    last_used_at: datetime | None

    @property
    def role(self) -> str:
        role = self.application.role
        return Role(role).label.lower() if self.application.team and role else ""


@dataclass(frozen=True)
class SecretFacts:
    """`version`: names it in forms and addresses. `hint`: its last characters; `set_by`: a name; both empty where
    unknown. `is_unused`: for a day or more, never used; `is_remembered`: every use since the secret was made would
    still be known."""

    version: str
    hint: str
    set_at: datetime
    set_by: str
    last_used_at: datetime | None
    is_unused: bool
    is_remembered: bool


def apps_of(user: User) -> list[AppRow]:
    """Return the apps of the user and of their teams, the newest first, a staging app after its live app. 1 query."""
    held = roles.readable_by(user).select_related("team", "logo").defer("logo__png").order_by("-created", "-pk")
    rows = [_row(application) for application in _with_figures(held)]
    staging = {row.application.staging_of_id: row for row in rows if row.application.is_staging}
    live = [row for row in rows if not row.application.is_staging]
    return [one for row in live for one in (row, staging.get(row.application.pk)) if one]


def row_of(application: Application) -> AppRow:
    """Return the app as a list shows it, with the role that it was read with. 1 query."""
    held = Application.objects.filter(pk=application.pk).select_related("user", "team", "logo").defer("logo__png")
    row = _row(_with_figures(held).get())
    row.application.role = application.role
    return row


def secrets_of(application: Application, *, reader: User, now: datetime) -> list[SecretFacts]:
    """Return facts about the secrets that work, the older one first. 1 query."""
    since = application.secrets[0].changed_at
    made = events_of(application).filter(verb__in=_MADE_A_SECRET, created_at__gte=since).order_by("created_at", "pk")
    events = list(made)
    return [_facts(secret, events, reader, now) for secret in application.secrets]


def _facts(secret: AppSecret, events: Iterable[AuditEvent], reader: User, now: datetime) -> SecretFacts:
    """Return the facts. `events`: that made secrets, in their order, each after its secret's time."""
    event = next((event for event in events if event.created_at >= secret.changed_at), None)
    age = now - secret.changed_at
    return SecretFacts(
        version=versions.of(secret.changed_at),
        hint=secret.hint,
        set_at=secret.changed_at,
        set_by=trail.actor_of(event, reader) if event else "",
        last_used_at=secret.used_at,
        is_unused=secret.used_at is None and age >= _A_DAY,
        is_remembered=age < COUNTS_KEPT,
    )


def webhooks_in_words(application: Application) -> str:
    """Return how many webhooks the app has and in which states, as "2: delivering, paused". 1 query."""
    states = [endpoint.state.lower() for endpoint in application.webhook_endpoints.order_by("pk")]
    return f"{len(states)}: {', '.join(states)}" if states else "None"


def logouts_of(application: Application) -> list[WebhookDelivery]:
    """Return the newest LOGOUTS_SHOWN of the app, newest first. 1 query for an app with a logout URL, none else."""
    if not application.backchannel_logout_uri:
        return []
    logouts = WebhookDelivery.objects.filter(endpoint=None, client_id=application.client_id).order_by("-pk")
    columns = ("created_at", "due_at", "delivered_at", "attempts", "last_status", "last_error", "last_ms")
    return list(logouts.only(*columns)[:LOGOUTS_SHOWN])


def offer_for(application: Application, now: datetime) -> Invitation | None:
    """Return the open offer of the app to another person, for readers who may withdraw it; None for all others. 1 query
    for an owner, none else."""
    return invitations.offer_of(application, now) if roles.allows(application, Role.OWNER) else None


def signed_in_today(application: Application, now: datetime) -> int:
    """Return how many people signed in with the app, or stayed signed in, in the last 24 hours. 1 query."""
    since = now - _A_DAY
    codes = Grant.objects.filter(application=application, used_at__gte=since).values("user_id")
    refreshed = RefreshToken.objects.filter(application=application, created__gte=since).values("user_id")
    return codes.union(refreshed).count()


def recently_used(application: Application, urls: Iterable[str], now: datetime) -> list[str]:
    """Return which of `urls` sign-ins of the last 7 days led to, at any port where any port matches. 2 queries."""
    since = now - RECENTLY
    codes = Grant.objects.filter(application=application, created__gte=since)
    waiting = PendingRequest.objects.filter(application=application, created_at__gte=since)
    used = {place for rows in (codes, waiting) for place in rows.values_list("redirect_uri", flat=True).distinct()}
    return [url for url in urls if any(redirects.is_registered(went_to, [url]) for went_to in used)]


def events_of(application: Application) -> QuerySet[AuditEvent]:
    """Return actions on the app, without actions of its users on their own account."""
    of_app = Q(
        object_type=Application._meta.label_lower, object_id=str(application.pk), verb__startswith="application:"
    )
    if application.team_id is None:
        return AuditEvent.objects.filter(of_app)
    return AuditEvent.objects.filter(of_app | Q(object_type=Team._meta.label_lower, object_id=str(application.team_id)))


def scope_requests(user: User) -> dict[str, AccessRequest]:
    """Return the user's latest request for each locked scope, by scope. 1 query."""
    asked = user.access_requests.filter(kind=AccessRequest.Kind.SCOPE).order_by("created_at", "pk")
    return {request.subject: request for request in asked}


def _with_figures(held: QuerySet[Application]) -> QuerySet[Application]:
    users = Approval.objects.filter(application=OuterRef("pk")).order_by().values("application")
    annotated: QuerySet[Application] = held.annotate(
        user_count=Subquery(users.annotate(number=Count("pk")).values("number")),
        served_at=_newest(LastUse.objects.all(), "used_at"),
    )
    return annotated


def _newest(rows: QuerySet[Any], column: str) -> Subquery:
    of_app = rows.filter(application=OuterRef("pk")).order_by().values("application")
    return Subquery(of_app.annotate(newest=Max(column)).values("newest"))


def _row(application: Application) -> AppRow:
    """Return the row of an app of `_with_figures`, whose columns its type does not know."""
    figures = vars(application)
    return AppRow(
        application=application,
        logo_url=consent_page.logo_url(application),
        user_count=figures["user_count"] or 0,
        last_used_at=_latest([figures["served_at"], *(secret.used_at for secret in application.secrets)]),
    )


def _latest(times: list[datetime | None]) -> datetime | None:
    return max((at for at in times if at), default=None)


def consent_screen(
    *,
    user: User,
    name: str,
    links: dict[str, str],
    redirect_urls: Sequence[str],
    scopes: Sequence[str],
    existing: Application | None = None,
    user_count: int = 0,
) -> dict[str, Any]:
    """Return the context of the preview's template. `existing`: the app that the form edits."""
    application = Application(user=existing.user if existing else user, name=name[:MAX_NAME_LENGTH] or "Your app")
    application.team = existing.team if existing else None
    application.created = existing.created if existing else timezone.now()
    application.is_verified = existing is not None and existing.is_verified and existing.name == name
    refused = application_rules.link_problems(links)
    for link, url in links.items():
        setattr(application, link, "" if link in refused else url)  # a refused one may be javascript:
    good = [url for url in redirect_urls if redirects.problem_of(url) is None]
    return consent_page.context_of(
        application,
        scopes=in_order(scopes),
        redirect_uri=good[0] if good else "",
        user_count=user_count,
        user=user,
    )


def claims_json(scope: Scope) -> str:
    """Return an example of the claims of `scope`; empty for a scope without claims."""
    given = _subject().claims([scope.name])
    example = {name: given[name] for name in scope.claims}
    return json.dumps(example, indent=2, ensure_ascii=False) if example else ""


def _subject() -> Subject:
    return Subject(
        id="5b0f6a3c9d2e4f7a8b1c2d3e4f5a6b7c",
        is_active=True,
        uid=1,
        username="ada",
        display_name="Ada Example",
        email="ada@mail.example",
        is_email_verified=True,
        avatar_path="demo/avatar-1.svg",
        mirrors_chat=False,
        chat_id="268473310986240001",
        chat_name="ada",
        scrobbler_id="ada-listens",
        scrobbler_name="ada-listens",
    )
