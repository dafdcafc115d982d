"""What staff search and see: requests, apps and people. The number of queries is constant."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from allauth.account.models import EmailAddress
from django.db.models import Count, F, IntegerField, Model, OuterRef, Prefetch, Q, QuerySet, Subquery, TextChoices
from django.db.models.functions import Coalesce

from accounts.models import ApiKey, AuditEvent, LinkedAccount, Name, Permission, User
from accounts.models.names import NameKind
from dashboard.models import AccessRequest
from imagehost.models import File
from infrastructure import text_rules
from lookup.models import Profile
from lookup.page import people
from lookup.page.people import Person
from lookup.people import PersonRow
from oidc_provider.applications.scopes import LOCKED_SCOPES, SCOPES
from oidc_provider.models import Application, Approval

NEW_FOR = timedelta(days=7)
_MAX_UID = 2**63 - 1


class AppState(TextChoices):
    SUSPENDED = "SUSPENDED", "Suspended"
    VERIFIED = "VERIFIED", "Verified"
    NEW = "NEW", "New: 7 days or less"


class Standing(TextChoices):
    BANNED = "BANNED", "Banned"
    STAFF = "STAFF", "Staff"
    UNLOCKED = "UNLOCKED", "With unlocked scopes"


class FileState(TextChoices):
    QUARANTINED = "QUARANTINED", "Quarantined"


def find_applications(*, term: str, state: str, now: datetime, with_email: bool) -> QuerySet[Application]:
    """Return apps, the newest first, with their owner, team and `user_count`; all of them where `term` is empty.

    `with_email`: whether the term may be the address of the owner.
    """
    found = Application.objects.select_related("user", "team", "logo").defer("logo__png")
    if term:
        owner = Q(user__in=people_called(term, with_email=with_email)) | Q(team__name__icontains=term)
        found = found.filter(Q(client_id=term) | Q(name__icontains=term) | owner)
    if state == AppState.SUSPENDED:
        found = found.filter(suspended_at__isnull=False)
    elif state == AppState.VERIFIED:
        found = found.filter(is_verified=True)
    elif state == AppState.NEW:
        found = found.filter(created__gt=now - NEW_FOR)
    counted: QuerySet[Application] = found.annotate(user_count=_number_of(Approval.objects.all(), "application"))
    return counted.order_by("-created", "-pk")


def find_people(*, term: str, standing: str, with_email: bool) -> QuerySet[User]:
    """Return people, the newest first, with `app_count` and `file_count`, and with `avatar_path` and `mirrors_chat` of
    their profile; all of them where `term` is empty."""
    found = User.objects.all()
    if term:
        found = found.filter(pk__in=people_called(term, with_email=with_email))
    if standing == Standing.BANNED:
        found = found.filter(banned_at__isnull=False)
    elif standing == Standing.STAFF:
        found = found.filter(Q(is_staff=True) | Q(is_superuser=True))
    elif standing == Standing.UNLOCKED:
        found = found.exclude(unlocked_scopes=[])
    counted: QuerySet[User] = found.annotate(
        app_count=_number_of(Application.objects.all(), "user"),
        file_count=_number_of(File.objects.ready(), "owner"),
        avatar_path=F("document__profile__document__avatar_path"),
        mirrors_chat=F("document__profile__document__mirrors_chat"),
    )
    return counted.order_by("-uid")


def in_list(found: Any, *, with_private: bool) -> Person:
    """Return a person of `find_people` with the picture of the profile. `with_private`: the picture of a profile that
    visitors do not see, too. Any: a user with the columns of `find_people`."""
    is_seen = with_private or (found.public_api_access and found.is_active)
    path = (found.avatar_path or "") if is_seen else ""
    shown = found.display_name or found.username
    return people.person(PersonRow(found.pk, found.username, shown, found.is_verified, path, bool(found.mirrors_chat)))


def _number_of(rows: QuerySet[Any], column: str) -> Coalesce:
    """Return how many of `rows` point to the row by `column`; counted only for the rows of a page."""
    mine = rows.filter(**{column: OuterRef("pk")}).order_by().values(column)
    return Coalesce(Subquery(mine.annotate(number=Count("pk")).values("number"), output_field=IntegerField()), 0)


def people_called(term: str, *, with_email: bool) -> QuerySet[Any, Any]:
    """Return ids of people; every part of the union has an index. A name matches by prefix, the rest whole. The name
    may stand as `@ada`, or in the address of a profile."""
    path = term.partition("?")[0].partition("#")[0].rstrip("/")
    name = path.rpartition("/")[2].removeprefix("@") or term
    called: QuerySet[Any, Any] = Name.objects.filter(key__startswith=name.upper()).values_list("user_id")
    parts: list[QuerySet[Any, Any]] = [
        User.objects.filter(pk=term.lower()).values_list("pk"),
        LinkedAccount.objects.filter(kind=LinkedAccount.Kind.CHAT, external_id=term).values_list("user_id"),
    ]
    if folded := text_rules.folded(term):  # a term of accents has no letter left
        shown = {"display_name_folded__gt": "", "display_name_folded__startswith": folded}
        parts.append(User.objects.filter(**shown).values_list("pk"))
        parts.append(Profile.objects.filter(**shown).values_list("user_id"))
    if term.isascii() and term.isdecimal() and int(term) <= _MAX_UID:
        parts.append(User.objects.filter(uid=int(term)).values_list("pk"))
    if with_email and "@" in term:
        parts.append(EmailAddress.objects.filter(email=term.lower()).values_list("user_id"))
    return called.union(*parts)


SHOWN_APPS = 5  # next to a request
SHOWN_ROWS = 50  # of each table on the page of a person or an app
SHOWN_EVENTS = 30
OVER = ("Revoked", "Expired")


def requests(*, state: str, kind: str) -> QuerySet[AccessRequest]:
    """Return requests in turn, with key, requester (`shown_applications`, `shown_requests`: their newest rows) and
    decider. Empty `state` and `kind` match all. 3 queries for a page."""
    apps: QuerySet[Application] = Application.objects.order_by("-created", "-pk")[:SHOWN_APPS]
    asked: QuerySet[AccessRequest] = AccessRequest.objects.order_by("-created_at", "-pk")[:SHOWN_ROWS]
    found = AccessRequest.objects.select_related("user", "key", "decided_by")
    found = found.prefetch_related(Prefetch("user__applications", apps, "shown_applications"))
    found = found.prefetch_related(Prefetch("user__access_requests", asked, "shown_requests"))
    if state:
        found = found.filter(state=state)
    if kind:
        found = found.filter(kind=kind)
    return found.in_turn()


@dataclass(frozen=True)
class RequestRecord:
    """A request with what helps to answer it. `earlier`: earlier requests of the person. `key_state`: as `key_state`
    below. `has_it_already`: granting would only close the request."""

    request: AccessRequest
    applications: list[Application]
    earlier: list[AccessRequest]
    key_state: str
    is_key_over: bool
    has_it_already: bool


@dataclass(frozen=True)
class Switch:
    """A locked scope, and whether one person's apps may register it; or a permission, and whether one key has it."""

    name: str
    label: str
    is_on: bool


@dataclass(frozen=True)
class KeyRecord:
    """`state`: as `key_state`. `is_over`: revoked or expired."""

    key: ApiKey
    state: str
    is_over: bool
    permissions: list[Switch]

    @classmethod
    def of(cls, key: ApiKey, now: datetime) -> KeyRecord:
        state = key_state(key, now)
        return cls(key, state, state in OVER, [Switch(one.value, one.label, key.allows(one)) for one in Permission])


@dataclass(frozen=True)
class Event:
    """A line of the audit trail. `details`: the object of the action, where the words leave it out."""

    created_at: datetime
    words: str
    details: str
    actor: str
    is_staff: bool
    reason: str

    @classmethod
    def of(cls, event: AuditEvent) -> Event:
        values = [
            str(event.data[name]) for name in ("scope", "permission", "subject", "prefix") if event.data.get(name)
        ]
        return cls(
            created_at=event.created_at,
            words=event.in_words,
            details=", ".join(values),
            actor=event.actor_name or "The system",
            is_staff=event.actor_kind == AuditEvent.ActorKind.STAFF,
            reason=event.reason,
        )


@dataclass(frozen=True)
class AppRecord:
    """An app for staff. `live_tokens`, `live_sessions`: access tokens and refresh tokens that work. `webhooks`: the
    host and the state of each."""

    application: Application
    scopes: list[str]
    links: list[tuple[str, str]]
    user_count: int
    live_tokens: int
    live_sessions: int
    webhooks: list[tuple[str, str]]
    events: list[Event]


@dataclass(frozen=True)
class PersonRecord:
    """A person for staff; of everything the newest `SHOWN_ROWS`."""

    person: User
    aliases: list[str]
    linked_accounts: list[LinkedAccount]
    scopes: list[Switch]
    applications: list[Application]
    keys: list[KeyRecord]
    requests: list[AccessRequest]
    events: list[Event]


def of_request(request: AccessRequest, now: datetime) -> RequestRecord:
    """Return the record of a request of `requests`, whose prefetches it reads. No query."""
    owner: Any = request.user  # Any: with the lists of the prefetches
    key = request.key
    state = key_state(key, now) if key is not None else ""
    return RequestRecord(
        request=request,
        applications=owner.shown_applications,
        earlier=[other for other in owner.shown_requests if other.pk < request.pk],
        key_state=state,
        is_key_over=state in OVER,
        has_it_already=key.allows(request.subject) if key is not None else request.subject in owner.unlocked_scopes,
    )


def of_application(application: Application, now: datetime) -> AppRecord:
    """Return the record of the app. 5 queries."""
    refresh_tokens = application.refreshtoken_set.filter(expires_at__gt=now, revoked__isnull=True)
    return AppRecord(
        application=application,
        scopes=[f"{name}: {SCOPES[name].label}" for name in application.registered_scopes if name in SCOPES],
        links=[
            ("Website", application.homepage_url),
            ("Privacy", application.privacy_url),
            ("Terms", application.terms_url),
            ("Support", application.support_url),
            ("Logout", application.backchannel_logout_uri),
        ],
        user_count=application.approvals.count(),
        live_tokens=application.accesstoken_set.filter(expires__gt=now).count(),
        live_sessions=refresh_tokens.count(),
        webhooks=[(urlsplit(each.url).netloc, each.state) for each in application.webhook_endpoints.order_by("pk")],
        events=events_of(application),
    )


def of_person(person: User, now: datetime) -> PersonRecord:
    """Return the record of the person. 6 queries."""
    names = Name.objects.filter(user=person, kind=NameKind.ALIAS)
    return PersonRecord(
        person=person,
        aliases=list(names.order_by("key").values_list("name", flat=True)),
        linked_accounts=list(person.linked_accounts.order_by("kind")),
        scopes=[Switch(name, SCOPES[name].label, name in person.unlocked_scopes) for name in LOCKED_SCOPES],
        applications=list(person.applications.order_by("-created", "-pk")[:SHOWN_ROWS]),
        keys=[KeyRecord.of(key, now) for key in person.api_keys.order_by("-created_at", "-pk")[:SHOWN_ROWS]],
        requests=list(person.access_requests.select_related("key", "decided_by").in_turn()[:SHOWN_ROWS]),
        events=events_of(person),
    )


def key_state(key: ApiKey, now: datetime) -> str:
    """Return one word; the empty text where the key works."""
    if key.revoked_at is not None:
        return "Revoked"
    if key.is_expired(now):
        return "Expired"
    return "" if key.is_enabled else "Disabled"


def events_of(row: Model) -> list[Event]:
    """Return what the audit trail has on the row, the newest first. 1 query."""
    events = AuditEvent.objects.filter(object_type=row._meta.label_lower, object_id=str(row.pk))
    return [Event.of(event) for event in events.order_by("-created_at", "-pk")[:SHOWN_EVENTS]]
