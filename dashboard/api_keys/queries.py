"""What the pages of API keys show, and commands that try a key."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db.models import Case, Q, QuerySet, Value, When

from accounts import rate_limits
from accounts.errors import KeyDisabled, KeyExpired, KeyNotFound, UsageExceeded
from accounts.models import ApiKey, AuditEvent, KeyDay, LinkedAccount, Permission, User
from dashboard.access_requests import BY_REQUEST
from dashboard.models import AccessRequest
from infrastructure.requests.errors import ApiError

DAYS = 30
SOON = timedelta(days=7)
TRAIL_LENGTH = 50
CHART_HEIGHT = 60  # units of the picture; a day is 10 wide

VERBS = {
    "api_key:issued": "Created",
    "api_key:renamed": "Renamed",
    "api_key:end_changed": "Expiry changed",
    "api_key:origins_changed": "Origins changed",
    "api_key:rotated": "Replaced by a new key",
    "api_key:enabled": "Enabled",
    "api_key:disabled": "Disabled",
    "api_key:revoked": "Revoked",
    "api_key:permission_granted": "Permission granted",
    "api_key:permission_withdrawn": "Permission removed",
}


@dataclass(frozen=True)
class State:
    """`badge`: how its badge looks (a class of the style sheet). `detail`: a sentence, or nothing."""

    word: str
    badge: str = ""
    detail: str = ""


def state_of(key: ApiKey, now: datetime) -> State:
    """Return the state, in the order in which the key check answers."""
    if key.revoked_at is not None:
        return State("Revoked", "danger", _callers_read(KeyNotFound))
    if not key.is_enabled:
        return State("Disabled", "warning", _callers_read(KeyDisabled))
    if key.is_expired(now):
        return State("Expired", "danger", _callers_read(KeyExpired))
    if not key.permissions:
        return State("No permission", "warning", "This key has no permissions yet.")
    refill_at = refill_at_of(key)
    if key.remaining_uses == 0 and (refill_at is None or refill_at > now):
        return State("Used up", "warning", _callers_read(UsageExceeded))
    if key.replaced_by_id is not None:
        return State("Replaced", "warning", "The key was replaced and works until it expires.")
    if key.expires_at is not None and key.expires_at <= now + SOON:
        return State("Expires soon", "warning")
    return State("Live", "good")


def _callers_read(error: type[ApiError]) -> str:
    return f"Its callers read “{error.error}”."


def refill_at_of(key: ApiKey) -> datetime | None:
    """Return the time from which the next request refills the quota; None: never."""
    if key.refill_interval is None:
        return None
    return (key.refilled_at or key.created_at) + key.refill_interval


@dataclass(frozen=True)
class Day:
    """A bar of the chart: its position and its value."""

    day: date
    count: int
    x: int
    y: float
    height: float


@dataclass(frozen=True)
class Requests:
    """Requests with a key on each of the last DAYS days, today last."""

    days: tuple[Day, ...]

    @property
    def today(self) -> int:
        return self.days[-1].count

    @property
    def total(self) -> int:
        return sum(day.count for day in self.days)

    @property
    def most(self) -> int:
        return max(day.count for day in self.days)


def requests_of(keys: Collection[ApiKey], today: date) -> dict[int, Requests]:
    """Return requests by key. 1 query."""
    first = today - timedelta(days=DAYS - 1)
    counts: dict[int, dict[date, int]] = defaultdict(dict)
    rows = KeyDay.objects.filter(key__in=keys, day__gte=first, day__lte=today)
    for key_id, day, count in rows.values_list("key", "day", "count"):
        counts[key_id][day] = count
    return {key.pk: _requests(counts[key.pk], first) for key in keys}


def _requests(counts: dict[date, int], first: date) -> Requests:
    most = max(counts.values(), default=0)
    days = []
    for place in range(DAYS):
        day = first + timedelta(days=place)
        count = counts.get(day, 0)
        height = max(round(CHART_HEIGHT * count / most, 1), 1.5) if count else 0
        days.append(Day(day, count, place * 10 + 1, round(CHART_HEIGHT - height, 1), height))
    return Requests(tuple(days))


@dataclass(frozen=True)
class Row:
    """A key of the list."""

    key: ApiKey
    state: State
    permissions: list[str]
    pending: list[str]
    requests: Requests


def keys_of(user: User, now: datetime) -> QuerySet[ApiKey]:
    """Return the user's keys, the newest first; revoked and expired ones at the end."""
    is_over = Q(revoked_at__isnull=False) | Q(expires_at__lte=now)
    return user.api_keys.order_by(Case(When(is_over, then=Value(1)), default=Value(0)), "-created_at", "-pk")


def rows_of(keys: Collection[ApiKey], now: datetime) -> list[Row]:
    """Return the rows of the list. 2 queries."""
    requests = requests_of(keys, now.date())
    pending: dict[int | None, list[str]] = defaultdict(list)
    for asked in AccessRequest.objects.pending().filter(key__in=keys).order_by("pk"):
        pending[asked.key_id].append(in_words(asked.subject))
    return [
        Row(key, state_of(key, now), [in_words(name) for name in key.permissions], pending[key.pk], requests[key.pk])
        for key in keys
    ]


def in_words(permission: str) -> str:
    return Permission(permission).description


@dataclass(frozen=True)
class PermissionRow:
    """A permission on the page of a key. `request`: the newest one for it."""

    name: str
    words: str
    is_held: bool
    is_self_served: bool
    request: AccessRequest | None


def permissions_of(key: ApiKey) -> list[PermissionRow]:
    """Return every permission. 1 query."""
    newest = {asked.subject: asked for asked in key.access_requests.order_by("pk")}
    return [
        PermissionRow(name, name.description, key.allows(name), name.is_self_served, newest.get(name))
        for name in Permission
    ]


def may_be_asked_for(rows: Iterable[PermissionRow]) -> list[str]:
    """Return permissions that staff grant, which the key neither has nor has requested."""
    waiting = {row.name for row in rows if row.request is not None and row.request.is_pending}
    held = {row.name for row in rows if row.is_held}
    return [name for name in BY_REQUEST if name not in held | waiting]


class Limits(NamedTuple):
    """Requests a minute. `premium`: with a key whose owner has premium."""

    key: int
    premium: int
    address: int
    is_premium: bool


def limits_of(owner: User, now: datetime) -> Limits:
    """Return the limits of a key of `owner`. No query."""
    is_premium = owner.is_premium(now)
    premium = rate_limits.API_PREMIUM_KEY.amount
    key = premium if is_premium else rate_limits.API_KEY.amount
    return Limits(key, premium, rate_limits.API_ADDRESS.amount, is_premium)


@dataclass(frozen=True)
class Event:
    words: str
    detail: str
    event: AuditEvent


def trail_of(key: ApiKey) -> list[Event]:
    """Return the audit trail of the key, the newest first. 1 query."""
    events = AuditEvent.objects.filter(object_type=key._meta.label_lower, object_id=str(key.pk))
    newest = events.order_by("-created_at", "-pk")[:TRAIL_LENGTH]
    return [Event(VERBS.get(event.verb, event.verb), _detail(event), event) for event in newest]


def _detail(event: AuditEvent) -> str:
    data = event.data
    if "permission" in data:
        return in_words(data["permission"])
    if event.verb == "api_key:renamed":
        return f"The old name was “{data['old_name']}”." if data["old_name"] else "It had no name."
    if event.verb == "api_key:end_changed":
        expires_at = data["expires_at"] and datetime.fromisoformat(data["expires_at"])
        return f"It expires on {expires_at:%-d %B %Y}." if expires_at else "It does not expire."
    if event.verb == "api_key:origins_changed":
        return f"It names {', '.join(data['origins'].split())}." if data["origins"] else "It names none."
    if event.verb == "api_key:rotated":
        hours = data["overlap_hours"]
        return f"By {data['new_prefix']}, " + (f"with {hours} h to change over." if hours else "at once.")
    return ""


EXAMPLE_CHAT_ID = "80351110224678912"  # for owners without a linked chat account


@dataclass(frozen=True)
class Sample:
    """`id`: unique on a page."""

    id: str
    label: str
    command: str


def samples_of(permissions: Iterable[str], owner: User) -> list[Sample]:
    """Return a command for each permission that has one. 1 query."""
    linked = owner.linked_accounts.filter(kind=LinkedAccount.Kind.CHAT).values_list("external_id", flat=True)
    chat_id = linked.first() or EXAMPLE_CHAT_ID
    commands = {
        Permission.IMAGEHOST_UPLOAD: (
            f'curl --header "X-API-Key: $KEY" --form file=@picture.png {_url("imagehost/upload")}'
        ),
        Permission.LOOKUP_USER: (
            f'curl --header "X-API-Key: $KEY" {_url(f"lookup/user?type=username&value={owner.username}")}'
        ),
        Permission.LOOKUP_PRESENCE: f'curl --header "X-API-Key: $KEY" {_url(f"lookup/presence/{chat_id}")}',
        Permission.ACCOUNT: f'curl --header "Authorization: Bearer $KEY" {_url(f"lookup/username/{owner.username}")}',
    }
    return [
        Sample(f"sample-{place}", permission.label, commands[permission])
        for place, permission in enumerate(map(Permission, permissions))
        if permission in commands
    ]


def earlier_samples(user: User) -> list[Sample]:
    """Return a command for each earlier form; both ways of sending the key occur."""
    by_query = 'curl --get --data-urlencode "key=$KEY"'
    by_header = 'curl --header "Authorization: Bearer $KEY"'
    samples = (
        ("A profile by username, the key in the query", f"{by_query} {_url(f'lookup/username/{user.username}')}"),
        ("A profile by uid, the key in a header", f"{by_header} {_url(f'lookup/uid/{user.uid}')}"),
        ("The ten profiles with the most views", f"{by_query} --data limit=10 {_url('leaderboard/views')}"),
        ("The ten with the most badges", f"{by_query} --data limit=10 {_url('leaderboard/badges')}"),
        ("The ten oldest accounts", f"{by_query} --data limit=10 {_url('leaderboard/uid')}"),
        ("Your uploads", f"{by_header} {_url('imagehost/gallery')}"),
        ("Your folders", f"{by_header} {_url('imagehost/folders')}"),
        (
            "An upload in the earlier form, with an upload key",
            f'curl --form "key=$KEY" --form file=@picture.png {_url("imagehost/upload")}',
        ),
    )
    return [Sample(f"earlier-{place}", label, command) for place, (label, command) in enumerate(samples)]


def _url(path: str) -> str:
    return shlex.quote(f"{settings.BASE_URL}/api/{path}")
