"""The tables of a test are emptied, whoever still writes."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, transaction

from accounts import audit
from accounts.models import AuditEvent, User
from tests.factories.accounts import UserFactory
from tests.support import databases
from tests.support.threads import together, wait_for_a_blocked_statement


@pytest.mark.django_db(transaction=True)
def test_a_writer_who_waits_for_the_emptying_of_tables_does_not_end_it() -> None:
    audit.record("user:tested", by=None, on=UserFactory.create())
    order = connection.introspection.django_table_names(only_existing=True)
    first, last = sorted((model._meta.db_table for model in (User, AuditEvent)), key=order.index)
    is_held = threading.Event()

    def act(number: int) -> None:
        if number == 0:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL deadlock_timeout = '1min'")  # the other one is ended
                cursor.execute(f"SELECT FROM {last} FOR UPDATE")
                is_held.set()
                wait_for_a_blocked_statement()
                cursor.execute(f"SELECT FROM {first} FOR UPDATE")
        else:
            assert is_held.wait(10)
            databases.empty()

    together(2, act)
    assert not User.objects.exists()
    assert not AuditEvent.objects.exists()
