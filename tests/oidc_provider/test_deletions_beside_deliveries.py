"""Who is deleted while a worker records a delivery to their webhooks.

The waiting is seen in PostgreSQL's list of locks; SQLite has one writer at a time.
"""

from __future__ import annotations

import threading

import pytest
from django.db import transaction
from django.utils import timezone

from accounts import users
from accounts.models import EventType, User, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import attempts, claims, outbox
from accounts.webhooks.attempts import Result
from accounts.webhooks.outbox import Message
from oidc_provider.applications import applications
from oidc_provider.models import Application
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.support.threads import GIVE_UP, together, wait_for_a_blocked_statement

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("deleted", ["app", "person", "owner of the app"])
def test_a_deletion_waits_for_the_worker_that_has_the_webhook(deleted: str) -> None:
    owner: User = UserFactory.create()
    app: Application = ApplicationFactory.create(user=owner)
    whose = {"user": owner} if deleted == "person" else {"application": app}
    endpoint = WebhookEndpoint.objects.create(url="https://hooks.example.com/", events=[], secret="x", **whose)
    outbox.post([Message(endpoint.pk, EventType.FILE_EXPIRED)])
    (claimed,) = claims.take_events(1, hindered=1)
    is_between = threading.Event()

    def act(number: int) -> None:
        if number == 1:
            assert is_between.wait(GIVE_UP)
            if deleted == "app":
                applications.delete(application=app, by=owner)
            else:
                users.delete(user=owner, by=None)
            return
        with transaction.atomic():
            list(WebhookEndpoint.objects.select_for_update(no_key=True))  # as `record` begins
            is_between.set()
            wait_for_a_blocked_statement()
            attempts.record([Result(claimed, timezone.now(), status=200)])

    together(2, act)
    assert not WebhookEndpoint.objects.exists()
    assert not WebhookDelivery.objects.exists()
