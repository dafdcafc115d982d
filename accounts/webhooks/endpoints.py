"""Endpoints of webhooks: made, changed, paused, with a new secret, tested, and their deliveries sent again.

Callers check that `by` may act for the person or the app.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from accounts import audit, notifications
from accounts.models import EventType, User, WebhookDelivery, WebhookEndpoint
from accounts.models.webhooks import KEPT_BESIDE
from accounts.webhooks import signatures
from infrastructure import outbound

MAX_ENDPOINTS = 5  # of a person, and of an app
TEST = "test"  # the type of a test event, which every endpoint gets
MAX_WAITING_TESTS = 5
EXISTS = "A webhook with this address and these events exists already. If its secret is lost, rotate it."


@transaction.atomic
def create(*, by: User, url: str, events: Sequence[str], **owner: Any) -> tuple[WebhookEndpoint, str]:
    """Add an endpoint; return it with its secret. `owner`: `user` or `application`, locked by the caller.

    Raises ValidationError, by argument: the address, the events, there are MAX_ENDPOINTS, or one is equal, so that a
    form that is sent twice adds one.
    """
    if WebhookEndpoint.objects.filter(**owner).count() >= MAX_ENDPOINTS:
        raise ValidationError({"url": f"There are {MAX_ENDPOINTS} webhooks already. Delete one first."})
    endpoint = WebhookEndpoint(**owner)
    _set(endpoint, url, events)
    if any(endpoint.events == other.events for other in of_owner(**owner).filter(url=url)):
        raise ValidationError({"url": EXISTS})
    secret = signatures.new_secret()
    endpoint.secret = signatures.encrypted(secret)
    endpoint.save()
    _record("webhook_added", endpoint, by, url=url, events=endpoint.events)
    return endpoint, secret


@transaction.atomic
def change(*, endpoint: WebhookEndpoint, by: User, url: str, events: Sequence[str]) -> WebhookEndpoint:
    """Change address and events; what waits goes to the new address. Raises ValidationError, by argument."""
    endpoint = _locked(endpoint)
    before = {"url": endpoint.url, "events": " ".join(endpoint.events)}
    _set(endpoint, url, events)
    if endpoint.url != before["url"]:  # how the earlier address answered says nothing of this one
        endpoint.failing_since, endpoint.is_slow = None, True
    endpoint.save(update_fields=["url", "events", "failing_since", "is_slow"])
    after = {"url": endpoint.url, "events": " ".join(endpoint.events)}
    changed = [name for name in before if before[name] != after[name]]
    if changed:
        old, new = ({name: values[name] for name in changed} for values in (before, after))
        _record("webhook_changed", endpoint, by, before=old, after=new)
    return endpoint


@transaction.atomic
def pause(*, endpoint: WebhookEndpoint, by: User) -> None:
    """Deliver nothing there until `resume`; events of that time are not kept for it. Idempotent."""
    endpoint = _locked(endpoint)
    if endpoint.disabled_at is None:
        disable(endpoint, WebhookEndpoint.Disabled.OWNER)
        _record("webhook_paused", endpoint, by)


@transaction.atomic
def resume(*, endpoint: WebhookEndpoint, by: User) -> None:
    """Deliver again, whatever ended it. Idempotent."""
    endpoint = _locked(endpoint)
    if endpoint.disabled_at is not None:
        endpoint.disabled_at, endpoint.disabled_by, endpoint.failing_since = None, "", None
        endpoint.save(update_fields=["disabled_at", "disabled_by", "failing_since"])
        _record("webhook_resumed", endpoint, by)


def disable(endpoint: WebhookEndpoint, why: WebhookEndpoint.Disabled) -> None:
    """Disable a locked endpoint, and give up what waits for it: the page can send it again. 2 queries."""
    endpoint.disabled_at, endpoint.disabled_by = timezone.now(), why
    endpoint.save(update_fields=["disabled_at", "disabled_by"])
    WebhookDelivery.objects.waiting().filter(endpoint=endpoint).update(due_at=None, claimed_until=None)


def disable_for(endpoint: WebhookEndpoint, why: WebhookEndpoint.Disabled) -> None:
    """Disable a locked endpoint because of how its receiver answers, and write to its owners. 4 or 5 queries."""
    disable(endpoint, why)
    try:
        application, user = endpoint.application, endpoint.user
    except ObjectDoesNotExist:  # a release that does not know webhooks has deleted the owner
        return
    owners: list[User] = import_string(settings.APP_OWNERS)(application) if user is None else [user]
    for owner in owners:
        notifications.send_after_commit(
            to=owner,
            subject="A webhook was disabled",
            template="dashboard/letters/webhook_disabled.txt",
            context={"endpoint": endpoint, "host": urlsplit(endpoint.url).hostname, "application": application},
            in_background=True,  # other deliveries wait for this thread
        )
    _record("webhook_disabled", endpoint, None, url=endpoint.url, why=why.value)


@transaction.atomic
def rotate_secret(*, endpoint: WebhookEndpoint, by: User) -> str:
    """Return a new secret, to be shown once. The one before signs beside it for KEPT_BESIDE; an older one no more."""
    endpoint, secret = _locked(endpoint), signatures.new_secret()
    endpoint.previous_secret, endpoint.previous_secret_until = endpoint.secret, timezone.now() + KEPT_BESIDE
    endpoint.secret = signatures.encrypted(secret)
    endpoint.save(update_fields=["secret", "previous_secret", "previous_secret_until"])
    _record("webhook_secret_rotated", endpoint, by)
    return secret


@transaction.atomic
def delete(*, endpoint: WebhookEndpoint, by: User, reason: str = "") -> None:
    """Delete it with its deliveries. Idempotent. `reason`: of staff."""
    found = WebhookEndpoint.objects.select_for_update().filter(pk=endpoint.pk).first()
    if found is not None:
        _record("webhook_deleted", found, by, reason=reason, url=found.url)
        found.delete()


@transaction.atomic
def send_test(*, endpoint: WebhookEndpoint, by: User) -> WebhookDelivery:
    """Write a test event, signed as all others. It has a subject of its own, so that it waits for no other delivery.

    Raises ValidationError: the endpoint is disabled, or tests wait already.
    """
    endpoint = _locked(endpoint)
    _check_enabled(endpoint)
    if WebhookDelivery.objects.waiting().filter(endpoint=endpoint, type=TEST).count() >= MAX_WAITING_TESTS:
        raise ValidationError("Earlier test events still wait for their delivery.")
    data = {"sent_by": by.username}
    return WebhookDelivery.objects.create(endpoint=endpoint, type=TEST, subject=uuid4().hex, data=data)


@transaction.atomic
def replay(*, delivery: WebhookDelivery, by: User) -> None:
    """Send a delivery once more, with the same id: a finished one, or now one that waits for its next attempt.

    Raises ValidationError: a worker has it, its first attempt is due, or the endpoint is disabled.
    """
    if delivery.endpoint is None:
        raise ValidationError("A logout is not sent again: its time is over.")
    endpoint, now = _locked(delivery.endpoint), timezone.now()
    _check_enabled(endpoint)
    row = WebhookDelivery.objects.filter(pk=delivery.pk)
    is_sent = row.filter(due_at=None).update(due_at=now, attempts=0, delivered_at=None, claimed_until=None)
    if not is_sent and not row.filter(due_at__gt=now, attempts__gt=0, claimed_until=None).update(due_at=now):
        raise ValidationError("This delivery is on its way already.")
    _record("webhook_replayed", endpoint, by, message_id=delivery.message_id)


def of_owner(**owner: Any) -> QuerySet[WebhookEndpoint]:
    """Return the endpoints of `user` or `application`, the oldest first."""
    return WebhookEndpoint.objects.filter(**owner).order_by("pk")


def events_of(*, is_of_app: bool) -> list[EventType]:
    """Return the events that an endpoint of an app can get, or else one of a person."""
    return [event for event in EventType if event.is_of_app == is_of_app]


def _set(endpoint: WebhookEndpoint, url: str, events: Sequence[str]) -> None:
    """Set address and events without saving. Raises ValidationError, by argument."""
    problems: dict[str, str] = {}
    problem = outbound.problem_of(url, allows_loopback=settings.WEBHOOKS_TO_LOOPBACK)
    if problem is not None:
        problems["url"] = problem
    allowed = events_of(is_of_app=endpoint.application_id is not None)
    chosen = [event.value for event in allowed if event in events]
    if not chosen or len(chosen) != len(set(events)):
        problems["events"] = "Choose at least one of the listed events."
    if problems:
        raise ValidationError(problems)
    endpoint.url, endpoint.events = url, chosen


def _check_enabled(endpoint: WebhookEndpoint) -> None:
    if endpoint.disabled_at is not None:
        raise ValidationError("This webhook is paused or disabled. Resume it first.")


def _locked(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    return WebhookEndpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)


def _record(verb: str, endpoint: WebhookEndpoint, by: User | None, **data: Any) -> None:
    """Write the event to the trail of the app or the person. It holds no secret."""
    if endpoint.application is not None:
        application = endpoint.application
        audit.record(f"application:{verb}", by=by, on=application, client_id=application.client_id, **data)
    elif endpoint.user is not None:
        audit.record(f"user:{verb}", by=by, on=endpoint.user, **data)
