"""The dashboard's first page: the state of the account, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q, Sum
from django.http import HttpResponse
from django.shortcuts import render
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.http import SignedInRequest
from accounts.models import ApiKey, LinkedAccount, User
from accounts.plans import ALLOWANCES
from dashboard import access
from dashboard.account import queries as account_queries
from dashboard.account.queries import Mail, Security
from dashboard.keys import queries as keys_queries
from dashboard.models import AccessRequest
from dashboard.navigation import Entry
from imagehost import quotas
from lookup.models import Link, Profile
from oidc_provider.log.models import OK
from oidc_provider.models import Application

NAVIGATION = (Entry("dashboard", "Overview", below=None),)
LATELY = timedelta(hours=24)
ANSWERS_SHOWN_FOR = timedelta(days=14)
MOST_SHOWN = 5


@dataclass(frozen=True)
class Step:
    """Something that makes a profile whole. `name`: the URL of the page where it is done."""

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
class App:
    """An app of one's own whose requests failed lately."""

    application: Application
    errors: int


@dataclass(frozen=True)
class Facts:
    mail: Mail
    security: Security
    storage: Storage
    steps: list[Step]
    apps: int
    failing_apps: list[App]
    keys: int
    ending_keys: list[ApiKey]
    requests: list[AccessRequest]

    @property
    def steps_done(self) -> int:
        return sum(step.is_done for step in self.steps)

    @property
    def steps_in_words(self) -> str:
        return f"{self.steps_done} of {len(self.steps)} done"


def facts_of(user: User, now: datetime) -> Facts:
    """9 queries: address, second factors, storage, profile, apps, their errors, keys, those that end, requests."""
    plan = user.current_plan(now)
    live = user.api_keys.live(now)
    ending = live.filter(expires_at__lte=now + keys_queries.SOON, replaced_by=None).order_by("expires_at", "pk")
    return Facts(
        mail=account_queries.mail_of(user),
        security=account_queries.security_of(user),
        storage=Storage(quotas.used(user.pk), ALLOWANCES[plan].max_storage),
        steps=_steps(user),
        apps=user.applications.count(),
        failing_apps=_failing_apps(user, now),
        keys=live.count(),
        ending_keys=list(ending[:MOST_SHOWN]),
        requests=_requests(user, now),
    )


def _steps(user: User) -> list[Step]:
    """1 query. Who has no profile, after an accident, has done nothing."""
    chat = LinkedAccount.objects.filter(user=user, kind=LinkedAccount.Kind.CHAT)
    main = Profile.objects.filter(user=user, is_main=True).annotate(
        has_links=Exists(Link.objects.filter(profile=OuterRef("pk"))), has_chat=Exists(chat)
    )
    row = main.values_list("avatar", "description", "has_links", "has_chat").first()
    avatar, description, has_links, has_chat = row or (None, "", False, False)
    return [
        Step("Add a picture", "profile_editor", avatar is not None),
        Step("Say something about yourself", "profile_editor", bool(description)),
        Step("Add a link", "profile_editor", has_links),
        Step("Link your chat account", "socialaccount_connections", has_chat),
    ]


def _failing_apps(user: User, now: datetime) -> list[App]:
    """1 query. Those with the most errors first."""
    failed = Q(usage_counts__hour__gte=now - LATELY) & ~Q(usage_counts__outcome=OK)
    rows = user.applications.annotate(errors=Sum("usage_counts__count", filter=failed)).filter(errors__gt=0)
    return [App(row, row.errors) for row in rows.order_by("-errors", "pk")[:MOST_SHOWN]]


def _requests(user: User, now: datetime) -> list[AccessRequest]:
    """1 query. Those that wait, and what staff answered lately."""
    states = (AccessRequest.State.GRANTED, AccessRequest.State.DENIED)
    lately = Q(state__in=states, decided_at__gte=now - ANSWERS_SHOWN_FOR)
    rows = user.access_requests.filter(Q(state=AccessRequest.State.PENDING) | lately)
    return list(rows.select_related("key").order_by("-created_at", "-pk")[:MOST_SHOWN])


@access.signed_in
@require_safe
def home(request: SignedInRequest) -> HttpResponse:
    facts = facts_of(request.user, timezone.now())
    return render(request, "dashboard/home.html", {"facts": facts})
