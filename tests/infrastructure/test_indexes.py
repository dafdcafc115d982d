"""Indexes that migrations add and remove while the service runs, on either engine."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import connection, models
from django.db.migrations.state import ProjectState

from accounts.models import JobRun
from infrastructure.databases.indexes import AddIndexWithoutLock, RemoveIndexWithoutLock
from tests.lookup import statements

NAME = "tests_jobrun_started"

pytestmark = [pytest.mark.embedded, pytest.mark.django_db(transaction=True)]


def is_there() -> bool:
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, JobRun._meta.db_table)
    return any(name == NAME and facts["index"] for name, facts in found.items())


def test_an_index_comes_and_goes_and_an_interrupted_attempt_can_be_repeated() -> None:
    before = ProjectState.from_apps(apps)
    after = before.clone()
    adding = AddIndexWithoutLock("jobrun", models.Index(fields=["started_at"], name=NAME))
    removing = RemoveIndexWithoutLock("jobrun", NAME)
    adding.state_forwards("accounts", after)

    def add_twice() -> None:
        with connection.schema_editor(atomic=False) as editor:
            if connection.vendor == "postgresql":  # SQLite rolls an interrupted attempt back
                adding.database_forwards("accounts", editor, before, after)
            adding.database_forwards("accounts", editor, before, after)

    asked = statements.of(add_twice)
    assert is_there()
    if connection.vendor == "postgresql":
        assert all("CONCURRENTLY" in statement.sql for statement in asked)
    with connection.schema_editor(atomic=False) as editor:
        removing.database_forwards("accounts", editor, after, before)
        assert not is_there()
        removing.database_backwards("accounts", editor, before, after)
        assert is_there()
        adding.database_backwards("accounts", editor, after, before)
    assert not is_there()
