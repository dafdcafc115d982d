"""Which deliveries a worker takes: claims, any number of workers at once, on any number of hosts.

The rows are the queue. A claim moves `due_at` to its own end, `claimed_until`, so the claim of a worker that crashed
ends by itself, and the same message is sent again with the same id. A worker locks an endpoint before it takes
deliveries of it: no other one counts or takes them then. Endpoints take turns, so a long queue of one delays no others.

No statement's work grows with the length of a queue: each looks at the first few rows of each endpoint, by index.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import BigIntegerField, Count, DateTimeField, Field, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import RawSQL
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
LOOKAHEAD = 1000  # logouts that one statement looks at, among which apps take turns
LOOK = 16  # of the first deliveries that are due at an endpoint; behind so many that have to wait, the others wait, too
STUCK_AT_ONCE = 25  # endpoints that one turn of `put_behind_retries` looks at,
PUT_BEHIND = 200  # and deliveries of each
# A delivery of an outer endpoint that may be sent now: one of the first LOOK that are due, and of its person's
# unfinished ones the first. In SQL, since Django limits no inner query that refers to an outer one.
_READY = f"""
    SELECT r.{{column}} FROM (
        SELECT q.id, q.due_at, q.endpoint_id, q.subject FROM accounts_webhookdelivery q
        WHERE q.endpoint_id = accounts_webhookendpoint.id AND q.due_at IS NOT NULL AND q.due_at <= %s
        ORDER BY q.due_at, q.id LIMIT {LOOK}
    ) r
    WHERE r.id = (
        SELECT f.id FROM accounts_webhookdelivery f
        WHERE f.endpoint_id = r.endpoint_id AND f.subject = r.subject AND f.due_at IS NOT NULL
        ORDER BY f.id LIMIT 1
    )
    ORDER BY r.due_at, r.id LIMIT 1 OFFSET %s
"""  # noqa: S608 - a number of ours


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
def take_logouts(room: int, *, hindered: int, slow: Collection[str] = ()) -> list[WebhookDelivery]:
    """Claim up to `room` logouts, at most `hindered` of them for the apps in `slow`, the longest due first.

    Apps take turns, and one that has AT_ONCE under way is passed over, so a long queue of one delays no others.
    2 queries, 1 more where there are slow apps, and 2 more where any are due.
    """
    if room <= 0:
        return []
    now = timezone.now()
    rows = WebhookDelivery.objects.filter(endpoint=None, claimed_until__gt=now).values("client_id")
    at_once = defaultdict(int, rows.annotate(count=Count("pk")).values_list("client_id", "count"))
    full = [client_id for client_id, count in at_once.items() if count >= AT_ONCE]
    due = _due(now).filter(endpoint=None).exclude(client_id__in=full)
    chosen: list[int] = []
    if slow and hindered > 0:
        chosen += _in_turn(due.filter(client_id__in=slow), at_once)[: min(hindered, room)]
    chosen += _in_turn(due.exclude(client_id__in=slow), at_once)[: room - len(chosen)]
    return _claimed(chosen, now)


def _in_turn(due: WebhookDeliveryQuerySet, at_once: Mapping[str, int]) -> list[int]:
    """Lock the first of these logouts, and return those that may be sent: of each app one, then a second one."""
    rows = due.order_by("due_at", "pk").select_for_update(skip_locked=True)
    turns: list[tuple[int, int]] = []
    counts = dict(at_once)
    for pk, client_id in rows.values_list("pk", "client_id")[:LOOKAHEAD]:
        counts[client_id] = counts.get(client_id, 0) + 1
        if counts[client_id] <= AT_ONCE:
            turns.append((counts[client_id], pk))
    return [pk for _, pk in sorted(turns, key=lambda turn: turn[0])]


@transaction.atomic
def take_events(room: int, *, hindered: int) -> list[WebhookDelivery]:
    """Claim up to `room` events, at most `hindered` of them for endpoints that are slow or failing.

    Each comes with its endpoint. Of one person's events at one endpoint only the earliest is taken. At most 6 queries,
    and 1 more on PostgreSQL.
    """
    if room <= 0:
        return []
    now = timezone.now()
    _read_by_index()
    slow = _locked(now, min(hindered, room), is_hindered=True)
    chosen = _next_of(slow, now)[: max(hindered, 0)]
    chosen = sorted([*chosen, *_next_of(_locked(now, room, is_hindered=False), now)])
    return _claimed([pk for *_, pk in chosen[:room]], now)


@transaction.atomic
def put_behind_retries() -> int:
    """Let deliveries that wait for an earlier one be due when that is, so that it is found before them; their number.

    Its attempt failed, or its worker crashed. 1 query, and 1 for each of up to STUCK_AT_ONCE endpoints that have
    something due and nothing ready, and 1 for each time at which an earlier one is due.
    """
    now = timezone.now()
    _read_by_index()
    first = Subquery(_due(now).filter(endpoint=OuterRef("pk")).order_by("due_at", "pk").values("pk")[:1])
    enabled = WebhookEndpoint.objects.filter(disabled_at=None).annotate(first=first, since=_ready(now, "due_at"))
    stuck = enabled.filter(first__isnull=False, since=None).order_by("?").values_list("pk", flat=True)[:STUCK_AT_ONCE]
    by_time: defaultdict[datetime, list[int]] = defaultdict(list)
    under_way = Q(claimed_until__gt=now)
    earlier = _earlier().exclude(under_way).order_by("pk").values("due_at")[:1]
    for endpoint in list(stuck):
        rows = _due(now).filter(endpoint=endpoint).order_by("due_at", "pk").select_for_update(skip_locked=True)
        columns = ("pk", "due_at", "earlier_at")
        for pk, due_at, earlier_at in rows.annotate(earlier_at=Subquery(earlier)).values_list(*columns)[:PUT_BEHIND]:
            if due_at is not None and earlier_at is not None and earlier_at > due_at:
                by_time[earlier_at].append(pk)
    rows_of = WebhookDelivery.objects.filter
    return sum(rows_of(pk__in=pks).update(due_at=earlier_at) for earlier_at, pks in by_time.items())


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


def _ready(now: datetime, column: str, *, turn: int = 0) -> RawSQL:
    """Return a column of what may be sent to an outer endpoint now: of the one at `turn`, in order. None: no such."""
    field: Field[Any, Any] = DateTimeField() if column == "due_at" else BigIntegerField()
    parameters = (connection.ops.adapt_datetimefield_value(now), turn)
    return RawSQL(_READY.format(column=column), parameters, output_field=field)  # noqa: S611 - names of columns


def _read_by_index() -> None:
    """Let PostgreSQL read the first rows of a queue in the order of an index, in this transaction. 1 query there.

    Where it takes a queue for short, as without statistics, it would else collect and sort the whole of it; where it
    takes it for long, it would compile the statement first, which takes longer than to run it.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true)")


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
    endpoints = _with_room(now).filter(~free if is_hindered else free).annotate(since=_ready(now, "due_at"))
    endpoints = endpoints.filter(since__isnull=False).order_by("since", "pk")
    return list(endpoints.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True)[:limit])


def _next_of(locked: Sequence[int], now: datetime) -> list[tuple[int, datetime, int]]:
    """Return what to send to locked endpoints, as turn, when it was due, and key, in order.

    Each has its first turn before one has its second. It is read anew: another worker may have sent some of it between
    the query and the lock.
    """
    if not locked:
        return []
    turns = {f"turn_{turn}": _ready(now, "id", turn=turn) for turn in range(AT_ONCE)}
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
