"""Actions of owners on their webhooks, with the locks and versions of their forms."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence

from django.core.exceptions import ValidationError
from django.db import transaction

from accounts import users
from accounts.models import User, WebhookEndpoint
from accounts.webhooks import endpoints
from dashboard import versions
from dashboard.webhooks.queries import Owner
from oidc_provider.applications import applications, roles

ROTATED_MEANWHILE = "The secret was rotated after you opened this page. It was not rotated again."


@transaction.atomic
def create(*, owner: Owner, by: User, url: str, events: Sequence[str]) -> tuple[WebhookEndpoint, str]:
    """Add an endpoint; return it with its secret, to be shown once. Raises what `endpoints.create` raises, and
    PermissionDenied where `by` is no developer of the app any more."""
    _hold(owner, by)
    return endpoints.create(by=by, url=url, events=events, **owner.columns)


@transaction.atomic
def perform(act: Callable[..., object], *, owner: Owner, by: User, **subject: object) -> None:
    """Run an operation of `endpoints` on `subject`. Raises what it raises, and PermissionDenied as `create`."""
    _hold(owner, by)
    act(by=by, **subject)


@transaction.atomic
def change(
    *, owner: Owner, endpoint: WebhookEndpoint, by: User, version: str, url: str, events: Sequence[str]
) -> WebhookEndpoint:
    """Change address and events. Raises ValidationError: by argument, or `changed`, for an older state;
    PermissionDenied as `create`."""
    _hold(owner, by)
    current = WebhookEndpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)
    if version != version_of(current):
        raise ValidationError(versions.CHANGED, code="changed")
    return endpoints.change(endpoint=current, by=by, url=url, events=events)


@transaction.atomic
def rotate_secret(*, owner: Owner, endpoint: WebhookEndpoint, by: User, version: str) -> str:
    """Return a new secret, to be shown once. Raises ValidationError: it was rotated after the page was opened;
    PermissionDenied as `create`."""
    _hold(owner, by)
    current = WebhookEndpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)
    if version != version_of_secret(current):
        raise ValidationError(ROTATED_MEANWHILE, code="changed")
    return endpoints.rotate_secret(endpoint=current, by=by)


def _hold(owner: Owner, by: User) -> None:
    """Lock the owner. Raises PermissionDenied where `by` is no developer of the app any more."""
    if owner.application is not None:
        roles.check(application=applications.hold(owner.application), by=by)
    else:
        users.lock(owner.user.pk)


def version_of(endpoint: WebhookEndpoint) -> str:
    """Return the version for the form that changes address and events."""
    return _digest(endpoint.url, endpoint.events)


def version_of_secret(endpoint: WebhookEndpoint) -> str:
    """Return the version for the page that rotates the secret: of its ciphertext, which tells nothing of it."""
    return _digest(endpoint.secret)


def _digest(*values: object) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]
