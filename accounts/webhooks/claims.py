"""Which deliveries a worker takes: claims, any number of workers at once, on any number of hosts.

The rows are the queue. A claim moves `due_at` to its own end, `claimed_until`, so the claim of a worker that crashed
ends by itself, and the same message is sent again with the same id. A worker locks an endpoint before it takes
deliveries of it: no other one counts or takes them then. Endpoints take turns, so a long queue of one delays no others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from prometheus_client import Counter

from accounts.models import WebhookDelivery, WebhookEndpoint
from accounts.models.webhooks import WebhookDeliveryQuerySet
from infrastructure.databases import batches

KEPT = timedelta(days=30)  # since it was written
CLAIM = timedelta(seconds=60)  # longer than a request may take
AT_ONCE = 4  # requests to one endpoint, or logouts of one app, of all workers together
DELIVERIES = Counter(
    "hearth_webhook_deliveries",
    "Attempts of webhooks and logouts: delivered, postponed or failed.",
    ("kind", "outcome"),
)
LOOKAHEAD = 1000  # deliveries that one statement looks at, where it looks at all


@dataclass(frozen=True)
class Backlog:
    """How many deliveries are due, and how long the first has waited."""

    due: int
    longest_wait: timedelta


def backlog(now: datetime) -> Backlog:
    """Return the backlog at `now`. 1 query, of an index that holds only unfinished deliveries."""
    found = _due(now).aggregate(due=Count("pk"), since=Min("due_at"))
    return Backlog(found["due"], now - (found["since"] or now))


def is_any_due() -> bool:
    """Return whether an attempt could begin now. 1 query, of an index that holds only unfinished deliveries."""
    return _due(timezone.now()).exists()


@transaction.atomic
def take_logouts(room: int) -> list[WebhookDelivery]:
    """Claim up to `room` logouts, the longest due first. 2 queries, or 4 where any are due."""
    if room <= 0:
        return []
    now = timezone.now()
    due = _due(now).filter(endpoint=None).order_by("due_at", "pk").select_for_update(skip_locked=True)
    found = list(due.values_list("pk", "client_id")[:LOOKAHEAD])
    rows = WebhookDelivery.objects.filter(endpoint=None, claimed_until__gt=now).values("client_id")
    at_once = defaultdict(int, rows.annotate(count=Count("pk")).values_list("client_id", "count"))
    chosen: list[int] = []
    for pk, client_id in found:
        at_once[client_id] += 1
        if at_once[client_id] <= AT_ONCE and len(chosen) < room:
            chosen.append(pk)
    return _claimed(chosen, now)


@transaction.atomic
def take_events(room: int, *, hindered: int) -> list[WebhookDelivery]:
    """Claim up to `room` events, at most `hindered` of them for endpoints that are slow or failing.

    Each comes with its endpoint. Of one person's events at one endpoint only the earliest is taken. At most 6 queries.
    """
    if room <= 0:
        return []
    now = timezone.now()
    slow = _locked(now, min(hindered, room), is_hindered=True)
    chosen = _next_of(slow, now)[: max(hindered, 0)]
    chosen = sorted([*chosen, *_next_of(_locked(now, room, is_hindered=False), now)])
    return _claimed([pk for *_, pk in chosen[:room]], now)


def put_behind_retries() -> None:
    """Let deliveries that have to wait for an earlier one's retry be due when that is. 1 query, and 1 for each retry.

    They come to be looked at once for each retry of the earlier one, not at each poll.
    """
    now = timezone.now()
    earlier = _earlier().filter(claimed_until=None).order_by("pk")
    blocked = _due(now).exclude(endpoint=None).annotate(retry_at=Subquery(earlier.values("due_at")[:1]))
    with transaction.atomic():
        rows = blocked.filter(retry_at__gt=now).order_by("due_at").select_for_update(skip_locked=True)
        by_retry: defaultdict[datetime, list[int]] = defaultdict(list)
        for pk, retry_at in rows.values_list("pk", "retry_at")[:LOOKAHEAD]:
            by_retry[retry_at].append(pk)
        for retry_at, pks in by_retry.items():
            WebhookDelivery.objects.filter(pk__in=pks).update(due_at=retry_at)


def finish_of_disabled() -> None:
    """Give up what was written for an endpoint while it was disabled. 1 query."""
    of_disabled = WebhookEndpoint.objects.filter(disabled_at__isnull=False)
    _due(timezone.now()).filter(endpoint__in=of_disabled).update(due_at=None, claimed_until=None)


def give_back(deliveries: Iterable[WebhookDelivery]) -> None:
    """End the claims, so that other workers can take the deliveries at once. 1 query for each claim's end."""
    by_end: defaultdict[datetime | None, list[int]] = defaultdict(list)
    for delivery in deliveries:
        by_end[delivery.claimed_until].append(delivery.pk)
    for until, pks in by_end.items():
        rows = WebhookDelivery.objects.filter(pk__in=pks, claimed_until=until)
        rows.update(due_at=timezone.now(), claimed_until=None)


def delete_past_use(now: datetime, *, after_batch: Callable[[], None] = lambda: None) -> int:
    """Delete finished deliveries that are older than KEPT, as `batches.delete` does; return their number."""
    old = WebhookDelivery.objects.filter(created_at__lt=now - KEPT, due_at=None)
    return batches.delete(old, by="created_at", after_batch=after_batch)


def _due(now: datetime) -> WebhookDeliveryQuerySet:
    return WebhookDelivery.objects.waiting().filter(due_at__lte=now)


def _earlier() -> WebhookDeliveryQuerySet:
    """Return the unfinished deliveries before an outer one: of its person, at its endpoint."""
    same = WebhookDelivery.objects.waiting().filter(endpoint=OuterRef("endpoint"), subject=OuterRef("subject"))
    return same.filter(pk__lt=OuterRef("pk"))


def _ready(now: datetime) -> QuerySet[WebhookDelivery]:
    """Return what may be sent to an outer endpoint now, in order."""
    # The first unfinished one, not the lack of an earlier one: PostgreSQL cannot make a join of all rows of that.
    same = WebhookDelivery.objects.waiting().filter(endpoint=OuterRef("endpoint"), subject=OuterRef("subject"))
    first = Subquery(same.order_by("pk").values("pk")[:1])
    return _due(now).filter(endpoint=OuterRef("pk"), pk=first).order_by("due_at", "pk")


def _with_room(now: datetime) -> QuerySet[WebhookEndpoint]:
    """Return endpoints with their number of requests `in_flight`, if there may be more of them."""
    in_flight = WebhookDelivery.objects.filter(endpoint=OuterRef("pk"), claimed_until__gt=now).order_by()
    count = in_flight.values("endpoint").annotate(count=Count("pk")).values("count")
    endpoints = WebhookEndpoint.objects.filter(disabled_at=None)
    return endpoints.annotate(in_flight=Coalesce(Subquery(count), 0)).filter(in_flight__lt=AT_ONCE)


def _locked(now: datetime, limit: int, *, is_hindered: bool) -> list[int]:
    """Lock endpoints that have something to send, the longest due first; leave out those that others have locked."""
    if limit <= 0:
        return []
    free = Q(is_slow=False, failing_since=None)
    endpoints = _with_room(now).filter(~free if is_hindered else free).filter(Exists(_ready(now)))
    endpoints = endpoints.annotate(since=Subquery(_ready(now).values("due_at")[:1])).order_by("since", "pk")
    return list(endpoints.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True)[:limit])


def _next_of(locked: Sequence[int], now: datetime) -> list[tuple[int, datetime, int]]:
    """Return what to send to locked endpoints, as turn, when it was due, and key, in order.

    Each has its first turn before one has its second. It is read anew: another worker may have sent some of it between
    the query and the lock.
    """
    if not locked:
        return []
    turns = {f"turn_{turn}": Subquery(_ready(now).values("pk")[turn : turn + 1]) for turn in range(AT_ONCE)}
    endpoints = _with_room(now).filter(pk__in=locked).annotate(**turns)
    pks = {
        pk: turn
        for in_flight, *row in endpoints.values_list("in_flight", *turns)
        for turn, pk in enumerate(row[: AT_ONCE - in_flight])
        if pk is not None
    }
    rows = _due(now).filter(pk__in=pks).values_list("pk", "due_at")
    return sorted((pks[pk], due_at, pk) for pk, due_at in rows if due_at is not None)


def _claimed(pks: list[int], now: datetime) -> list[WebhookDelivery]:
    """Claim rows that this transaction has locked; return them with their endpoints, in order. 2 queries."""
    if not pks:
        return []
    until = now + CLAIM
    _due(now).filter(pk__in=pks).update(due_at=until, claimed_until=until)
    rows = WebhookDelivery.objects.filter(pk__in=pks, claimed_until=until).select_related("endpoint")
    return sorted(rows, key=lambda row: pks.index(row.pk))
