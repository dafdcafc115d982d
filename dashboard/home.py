"""The dashboard's first page: the state of the account, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, Sum
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts import notices
from accounts.http import SignedInRequest
from accounts.models import ApiKey, StaffNotice, User, WebhookEndpoint
from accounts.plans import ALLOWANCES
from dashboard import access
from dashboard.account import queries as account_queries
from dashboard.account.queries import Mail, Security
from dashboard.api_keys import queries as keys_queries
from dashboard.models import AccessRequest
from dashboard.navigation import Entry
from infrastructure.databases.statements import Statement
from oidc_provider.applications import roles
from oidc_provider.models import OK, Application

NAVIGATION = (Entry("dashboard", "Overview", below=None),)
ERRORS_SHOWN_FOR = timedelta(hours=24)
ANSWERS_SHOWN_FOR = timedelta(days=14)
MOST_SHOWN = 5

# All that the page shows of most accounts, and whether the lists of all other ones are worth a query. Written by hand,
# because the ORM takes longer to compile nine queries than the rest of the page takes. $1: the user; $2: now; $3: since
# when errors count; $4: until when an end counts; $5: since when an answer counts.
_FIGURES = Statement(
    """
    SELECT m.email, m.verified, COALESCE(s.used_bytes, 0),
        p.avatar_id IS NOT NULL, COALESCE(p.description, '') <> '',
        EXISTS (SELECT 1 FROM lookup_link l WHERE l.profile_id = p.id),
        EXISTS (SELECT 1 FROM accounts_linkedaccount l WHERE l.user_id = u.id AND l.kind = 'CHAT'),
        (SELECT COUNT(*) FROM oidc_provider_application a WHERE a.user_id = u.id AND a.team_id IS NULL)
            + (SELECT COUNT(*) FROM oidc_provider_application a
                JOIN oidc_provider_teammember t ON t.team_id = a.team_id WHERE t.user_id = u.id),
        (SELECT COUNT(*) FROM accounts_apikey k WHERE k.owner_id = u.id
            AND (k.expires_at IS NULL OR k.expires_at > $2) AND k.is_enabled AND k.revoked_at IS NULL),
        EXISTS (SELECT 1 FROM mfa_authenticator f WHERE f.user_id = u.id),
        EXISTS (SELECT 1 FROM oidc_provider_usagecount c JOIN oidc_provider_application a ON a.id = c.application_id
            WHERE a.user_id = u.id AND a.team_id IS NULL AND c.hour >= $3 AND c.outcome <> 'ok')
            OR EXISTS (SELECT 1 FROM oidc_provider_teammember t
                JOIN oidc_provider_application a ON a.team_id = t.team_id
                JOIN oidc_provider_usagecount c ON c.application_id = a.id
                WHERE t.user_id = u.id AND c.hour >= $3 AND c.outcome <> 'ok'),
        EXISTS (SELECT 1 FROM accounts_apikey k WHERE k.owner_id = u.id
            AND k.expires_at > $2 AND k.expires_at <= $4),
        EXISTS (SELECT 1 FROM dashboard_accessrequest r WHERE r.user_id = u.id
            AND (r.state = 'PENDING' OR r.decided_at >= $5)),
        EXISTS (SELECT 1 FROM accounts_staffnotice n WHERE n.user_id = u.id AND n.dismissed_at IS NULL),
        EXISTS (SELECT 1 FROM accounts_webhookendpoint w
                WHERE w.user_id = u.id AND w.disabled_by IN ('FAILING', 'GONE'))
            OR EXISTS (SELECT 1 FROM oidc_provider_application a
                JOIN accounts_webhookendpoint w ON w.application_id = a.id
                WHERE a.user_id = u.id AND a.team_id IS NULL AND w.disabled_by IN ('FAILING', 'GONE'))
            OR EXISTS (SELECT 1 FROM oidc_provider_teammember t
                JOIN oidc_provider_application a ON a.team_id = t.team_id
                JOIN accounts_webhookendpoint w ON w.application_id = a.id
                WHERE t.user_id = u.id AND w.disabled_by IN ('FAILING', 'GONE'))
    FROM (SELECT CAST($1 AS varchar) AS id) u
    LEFT JOIN account_emailaddress m ON m.id = (
        SELECT e.id FROM account_emailaddress e WHERE e.user_id = u.id ORDER BY e."primary" DESC, e.id LIMIT 1)
    LEFT JOIN imagehost_usage s ON s.owner_id = u.id
    LEFT JOIN lookup_profile p ON p.user_id = u.id AND p.is_main
    """,
    "sbibbbbiibbbbbb",
)


@dataclass(frozen=True)
class Step:
    """A step to complete the profile. `name`: of the URL of its page."""

    words: str
    name: str
    is_done: bool


@dataclass(frozen=True)
class Storage:
    """Bytes."""

    used: int
    most: int

    @property
    def in_words(self) -> str:
        return f"{filesizeformat(self.used)} of {filesizeformat(self.most)}"


@dataclass(frozen=True)
class Facts:
    mail: Mail
    security: Security
    storage: Storage
    steps: list[Step]
    apps: int
    failing_apps: list[Application]
    disabled_webhooks: list[WebhookEndpoint]
    keys: int
    ending_keys: list[ApiKey]
    requests: list[AccessRequest]
    notices: list[StaffNotice]

    @property
    def steps_done(self) -> int:
        return sum(step.is_done for step in self.steps)

    @property
    def steps_in_words(self) -> str:
        return f"{self.steps_done} of {len(self.steps)} done"


def facts_of(user: User, now: datetime) -> Facts:
    """Return the facts. 1 query; up to 6 more: second factors, errors of apps, keys that end, requests to staff,
    notices of staff, disabled webhooks."""
    (row,) = _FIGURES.all(user.pk, now, now - ERRORS_SHOWN_FOR, now + keys_queries.SOON, now - ANSWERS_SHOWN_FOR)
    (
        address,
        is_verified,
        used,
        *done,
        apps,
        keys,
        has_factors,
        has_errors,
        has_ending_keys,
        has_requests,
        has_notices,
        has_disabled_webhooks,
    ) = row
    return Facts(
        mail=account_queries.mail_from(user, address, is_verified=is_verified),
        security=account_queries.security_of(user) if has_factors else account_queries.NO_SECOND_FACTOR,
        storage=Storage(used, ALLOWANCES[user.current_plan(now)].max_storage),
        steps=[Step(words, name, is_done) for (words, name), is_done in zip(_STEPS, done, strict=True)],
        apps=apps,
        failing_apps=_failing_apps(user, now) if has_errors else [],
        disabled_webhooks=_disabled_webhooks(user) if has_disabled_webhooks else [],
        keys=keys,
        ending_keys=_ending_keys(user, now) if has_ending_keys else [],
        requests=_requests(user, now) if has_requests else [],
        notices=notices.shown_to(user) if has_notices else [],
    )


# In the order of their columns in _FIGURES.
_STEPS = (
    ("Add a picture", "profile_editor"),
    ("Say something about yourself", "profile_editor"),
    ("Add a link", "profile_editor"),
    ("Link your chat account", "socialaccount_connections"),
)


def _ending_keys(user: User, now: datetime) -> list[ApiKey]:
    """Return the keys that end soon, the earliest first. 1 query."""
    ending = user.api_keys.live(now).filter(expires_at__lte=now + keys_queries.SOON, replaced_by=None)
    return list(ending.order_by("expires_at", "pk")[:MOST_SHOWN])


def _failing_apps(user: User, now: datetime) -> list[Application]:
    """Return the apps of the person and of their teams with failed requests since ERRORS_SHOWN_FOR, as `errors`; the
    most first. 1 query."""
    failed = Q(usage_counts__hour__gte=now - ERRORS_SHOWN_FOR) & ~Q(usage_counts__outcome=OK)
    rows = roles.readable_by(user).annotate(errors=Sum("usage_counts__count", filter=failed)).filter(errors__gt=0)
    return list(rows.order_by("-errors", "pk")[:MOST_SHOWN])


def _disabled_webhooks(user: User) -> list[WebhookEndpoint]:
    """Return the webhooks that we disabled, of the person and of their apps, the newest first. 1 query."""
    of_us = Q(user=user) | Q(application__in=roles.readable_by(user).values("pk"))
    why = (WebhookEndpoint.Disabled.FAILING, WebhookEndpoint.Disabled.GONE)
    rows = WebhookEndpoint.objects.filter(of_us, disabled_by__in=why).select_related("application")
    return list(rows.order_by("-disabled_at", "pk")[:MOST_SHOWN])


def _requests(user: User, now: datetime) -> list[AccessRequest]:
    """Return pending requests, and recent answers of staff. 1 query."""
    states = (AccessRequest.State.GRANTED, AccessRequest.State.DENIED)
    recent = Q(state__in=states, decided_at__gte=now - ANSWERS_SHOWN_FOR)
    rows = user.access_requests.filter(Q(state=AccessRequest.State.PENDING) | recent)
    return list(rows.select_related("key").order_by("-created_at", "-pk")[:MOST_SHOWN])


@access.signed_in
@require_safe
def home(request: SignedInRequest) -> HttpResponse:
    facts = facts_of(request.user, timezone.now())
    return render(request, "dashboard/home.html", {"facts": facts})


@access.signed_in
@require_POST
def dismiss_notice(request: SignedInRequest, pk: int) -> HttpResponse:
    """Take a notice of staff off this page."""
    notices.dismiss(user=request.user, pk=pk)
    return redirect("dashboard")
