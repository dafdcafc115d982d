"""One attempt of a delivery: the request, and what its answer means for the message and for the endpoint."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from cryptography.fernet import InvalidToken
from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from accounts.models import WebhookDelivery, WebhookEndpoint
from accounts.models.webhooks import LOGOUT, MAX_ANSWER, MAX_ERROR
from accounts.webhooks import claims, endpoints, signatures
from infrastructure import outbound, text_rules
from infrastructure.outbound import NotSent

# Before each further attempt: 75.6 hours in all, so that the last one is after FAILING_FOR.
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400))
JITTER = 0.1  # of a pause, at most, so that messages of one outage do not come back together
LOGOUT_PAUSES = tuple(timedelta(seconds=seconds) for seconds in (2, 5, 10, 20, 30, 45))
LOGOUT_FOR = timedelta(minutes=2)  # since it was written: then the session is long over
FAILING_FOR = timedelta(days=3)  # without a success, then an endpoint is disabled
SLOW = 2.0  # seconds of an answer
GONE = 410
UNREADABLE = "The secret of this webhook cannot be decrypted: rotate it, or write to the operators of this site."
UNSIGNED = "The logout token could not be signed."
NO_URL = "The app has no address for logouts any more."
BROKEN = "The request could not be made."
REDIRECT = "Redirects are not followed."

logger = logging.getLogger(__name__)

_KINDS = {True: "logout", False: "event"}


class Request(NamedTuple):
    """What is sent for a delivery."""

    url: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Result:
    """How an attempt ended. `status` None: there was no answer, and `error` says why. `is_final`: no retry helps."""

    delivery: WebhookDelivery
    at: datetime
    status: int | None = None
    error: str = ""
    answer: str = ""
    milliseconds: int | None = None
    is_final: bool = False

    @property
    def is_success(self) -> bool:
        if self.status is None:
            return False
        return self.status in (200, 204) if self.delivery.endpoint_id is None else 200 <= self.status < 300

    def went_to(self, endpoint: WebhookEndpoint) -> bool:
        """Return whether the request went to the address that the endpoint of the delivery has now."""
        asked = self.delivery.endpoint
        return asked is not None and asked.url == endpoint.url


def logout_request(delivery: WebhookDelivery) -> Request | Result:
    """Return the request of a logout, whose token is signed now; a result where there is none. 1 query."""
    try:
        made = import_string(settings.LOGOUT_REQUEST)(
            client_id=delivery.client_id,
            subject=delivery.subject,
            sid=str(delivery.data.get("sid", "")),
            message_id=delivery.message_id,
        )
    except DatabaseError:
        raise
    except Exception:
        logger.exception("The logout %s could not be made", delivery.message_id)
        return Result(delivery, timezone.now(), error=UNSIGNED)
    return Result(delivery, timezone.now(), error=NO_URL, is_final=True) if made is None else Request(*made)


def event_request(delivery: WebhookDelivery) -> Request:
    """Return the request of an event, signed now. InvalidToken: the secret cannot be decrypted.

    No query where the endpoint has been read with the delivery.
    """
    if delivery.endpoint is None:
        raise ValueError("A logout is no event.")
    body, endpoint = signatures.body_of(delivery), delivery.endpoint
    return Request(endpoint.url, signatures.headers_of(endpoint, delivery.message_id, body, timezone.now()), body)


def sent(delivery: WebhookDelivery, request: Request | None) -> Result:
    """Send a delivery and return how that went. `request`: of a logout. No query, no exception."""
    try:
        if request is None:
            request = event_request(delivery)
        answer = outbound.post(
            request.url, body=request.body, headers=request.headers, allows_loopback=settings.WEBHOOKS_TO_LOOPBACK
        )
    except NotSent as problem:
        return Result(delivery, timezone.now(), error=str(problem)[:MAX_ERROR])
    except InvalidToken:
        logger.error("The secret of webhook %s cannot be decrypted.", delivery.endpoint_id)
        return Result(delivery, timezone.now(), error=UNREADABLE)
    except Exception:  # a fault of ours: the message is tried again, and the others go on
        logger.exception("The attempt to deliver %s failed", delivery.message_id)
        return Result(delivery, timezone.now(), error=BROKEN)
    return Result(
        delivery,
        timezone.now(),
        status=answer.status,
        error=REDIRECT if 300 <= answer.status < 400 else "",
        answer=_excerpt(answer.body),
        milliseconds=int(answer.seconds * 1000),
        is_final=answer.status == (400 if delivery.type == LOGOUT else GONE),
    )


def _excerpt(body: bytes) -> str:
    """Return the beginning of an answer, as text without what cannot be stored or shown."""
    lines = body[: 4 * MAX_ANSWER].decode(errors="replace").splitlines()
    return "\n".join(text_rules.cleaned_line(line) for line in lines)[:MAX_ANSWER]


@transaction.atomic
def record(results: Iterable[Result]) -> None:
    """Record how attempts ended, on the deliveries and their endpoints. 2 queries, 1 for each result, and more for an
    endpoint that changes.

    Endpoints are locked before deliveries, as where their owners disable them. A failure whose claim is over changes
    nothing: another worker has it, or the owner has paused the endpoint. A success counts always. Where the owner has
    changed the address meanwhile, the result says nothing of the endpoint, and a failure is sent again at once.
    """
    results = list(results)
    pks = {pk for result in results if (pk := result.delivery.endpoint_id) is not None}
    rows = WebhookEndpoint.objects.select_for_update(no_key=True).filter(pk__in=pks).order_by("pk")
    locked = {endpoint.pk: endpoint for endpoint in rows}
    before = {pk: (endpoint.failing_since, endpoint.is_slow) for pk, endpoint in locked.items()}
    gone = set()
    for result in sorted(results, key=lambda result: result.at):
        endpoint = locked.get(result.delivery.endpoint_id or 0)
        has_moved = endpoint is not None and not result.went_to(endpoint)
        is_recorded = _record(result, has_moved=has_moved)
        if endpoint is not None and is_recorded and not has_moved:
            _note(endpoint, result)
            gone |= {endpoint.pk} if result.status == GONE else set()
    for endpoint in locked.values():
        if (endpoint.failing_since, endpoint.is_slow) != before[endpoint.pk]:
            endpoint.save(update_fields=["failing_since", "is_slow"])
        if endpoint.disabled_at is not None:
            continue
        if endpoint.pk in gone:
            endpoints.disable_for(endpoint, WebhookEndpoint.Disabled.GONE)
        elif endpoint.failing_since is not None and timezone.now() - endpoint.failing_since >= FAILING_FOR:
            endpoints.disable_for(endpoint, WebhookEndpoint.Disabled.FAILING)


def _note(endpoint: WebhookEndpoint, result: Result) -> None:
    """Set what the result says of a locked endpoint, without saving."""
    if result.milliseconds is not None:
        endpoint.is_slow = result.milliseconds > SLOW * 1000
    if result.is_success:
        endpoint.failing_since = None
    elif endpoint.failing_since is None:
        endpoint.failing_since = result.at


def _record(result: Result, *, has_moved: bool) -> bool:
    """Write the result to its delivery; False: it was a failure, and the claim is over. 1 query.

    `has_moved`: the endpoint has another address now, so that the next attempt after a failure is due at once.
    """
    delivery = result.delivery
    values: dict[str, object] = {
        "attempts": delivery.attempts + 1,
        "claimed_until": None,
        "last_at": result.at,
        "last_status": result.status,
        "last_error": result.error,
        "last_answer": result.answer,
        "last_ms": result.milliseconds,
    }
    rows = WebhookDelivery.objects.filter(pk=delivery.pk)
    if result.is_success:
        outcome, due_at = "delivered", None
        values["delivered_at"] = result.at
    else:
        due_at = None if result.is_final else _next_attempt(delivery, delivery.attempts + 1, result.at)
        due_at = result.at if has_moved else due_at
        outcome = "failed" if due_at is None else "postponed"
        rows = rows.filter(claimed_until=delivery.claimed_until)
    is_recorded = bool(rows.update(due_at=due_at, **values))
    if is_recorded:
        claims.DELIVERIES.labels(_KINDS[delivery.endpoint_id is None], outcome).inc()
    return is_recorded


def _next_attempt(delivery: WebhookDelivery, attempts: int, now: datetime) -> datetime | None:
    """Return when a delivery that has failed `attempts` times is tried again; None: it is given up."""
    is_logout = delivery.endpoint_id is None
    pauses = LOGOUT_PAUSES if is_logout else PAUSES
    if attempts > len(pauses):
        return None
    due_at = now + pauses[attempts - 1] * random.uniform(1, 1 + JITTER)  # noqa: S311 - no secret
    return None if is_logout and due_at > delivery.created_at + LOGOUT_FOR else due_at
