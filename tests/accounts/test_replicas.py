"""What is known of replicas without one; tests/config/test_replicas.py has a standby."""

from __future__ import annotations

import pytest
from django.core.exceptions import MiddlewareNotUsed
from django.db import connection
from django.http import HttpResponse

from accounts.databases import replicas
from accounts.models import User
from config.web.middleware import ReplicaMiddleware
from tests.factories.accounts import UserFactory


def test_without_replicas_no_request_is_watched_for_writes() -> None:
    assert not replicas.is_on()
    with pytest.raises(MiddlewareNotUsed):
        ReplicaMiddleware(lambda _: HttpResponse())


@pytest.mark.embedded
@pytest.mark.django_db
def test_statements_that_may_write_are_noticed() -> None:
    user = UserFactory()
    writes = replicas.Writes()
    with connection.execute_wrapper(writes):
        list(User.objects.filter(pk=user.pk))
        User.objects.filter(pk=user.pk).exists()
        assert not writes.is_any
        User.objects.filter(pk=user.pk).update(display_name="Ada")
        assert writes.is_any
