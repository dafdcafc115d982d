"""Rows that are past their use leave in batches, each found by an index, however many there are."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import connection, models

from accounts.models import KeyDay
from imagehost.models import FileDay
from infrastructure.databases import batches
from lookup.models import LinkDay, ProfileDay, Visit, VisitBatch, VisitSalt
from oidc_provider.models import (
    AccessToken,
    Grant,
    LastUse,
    PendingRequest,
    RefreshToken,
    RequestRecord,
    UsageCount,
)
from presence.models import StoreEntry
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.imagehost import FileFactory
from tests.factories.lookup import LinkFactory, main_profile
from tests.factories.oidc_provider import ApplicationFactory
from tests.lookup import statements
from tests.lookup.statements import Statement

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
COUNT = 7  # of expired rows: four batches of two
LONG_AGO = NOW - 400 * DAY


@dataclass(frozen=True)
class Kind:
    """`make`: a row by its number and the time that decides. `index`: the one that finds the expired ones."""

    job: str
    model: type[models.Model]
    index: str
    make: Callable[[int, datetime], dict[str, Any]]


def _user() -> Any:
    return UserFactory()


def _application() -> Any:
    return ApplicationFactory()


def _token(number: int, field: str, at: datetime) -> dict[str, Any]:
    return {
        "user": _user(),
        "application": _application(),
        "scope": "openid",
        "token_checksum": f"{number:064}",
        "token_family": uuid.uuid4(),
        field: at,
    }


def _code(number: int, at: datetime, used_at: datetime | None) -> dict[str, Any]:
    return {
        "user": _user(),
        "application": _application(),
        "code": f"{number:064}",
        "redirect_uri": "https://app.example/back",
        "auth_time": 0,
        "expires": at,
        "used_at": used_at,
    }


KINDS = [
    Kind(
        "delete_expired",
        Session,
        "django_session_expire_date",
        lambda number, at: {"session_key": f"{number:032}", "session_data": "", "expire_date": at},
    ),
    Kind("delete_expired", Grant, "grant_expires", lambda number, at: _code(number, at, None)),
    Kind("delete_expired", Grant, "grant_expires", lambda number, at: _code(number, at, at)),
    Kind("delete_expired", AccessToken, "access_token_expires", lambda number, at: _token(number, "expires", at)),
    Kind(
        "delete_expired",
        RefreshToken,
        "refresh_token_expires",
        lambda number, at: {**_token(number, "expires_at", at), "token": "", "auth_time": 0},
    ),
    Kind(
        "delete_expired",
        PendingRequest,
        "oidc_provider_pendingrequest_created_at",
        lambda number, at: {
            "id": f"{number}",
            "application": _application(),
            "redirect_uri": "",
            "state": "",
            "code_challenge": "",
            "created_at": at,
        },
    ),
    Kind(
        "delete_expired",
        RequestRecord,
        "request_record_moment",
        lambda number, at: {"application": _application(), "moment": at, "kind": "CODE", "request_id": f"{number}"},
    ),
    Kind(
        "delete_expired",
        UsageCount,
        "usage_count_hour",
        lambda number, at: {"application": _application(), "hour": at, "kind": "CODE", "outcome": "ok", "count": 1},
    ),
    Kind(
        "delete_expired",
        LastUse,
        "last_use_moment",
        lambda number, at: {"application": _application(), "user": _user(), "used_at": at},
    ),
    Kind(
        "remind_of_keys",
        KeyDay,
        "accounts_keyday_day",
        lambda number, at: {"key": ApiKeyFactory(), "day": at.date(), "count": 1},
    ),
    Kind(
        "fold_visits",
        Visit,
        "lookup_visit_counted_at",
        lambda number, at: {"user": _user(), "visitor": f"{number}", "counted_at": at},
    ),
    Kind("fold_visits", VisitBatch, "lookup_visitbatch_folded_at", lambda n, at: {"token": f"{n}", "folded_at": at}),
    Kind(
        "fold_visits",
        VisitSalt,
        "lookup_visitsalt",  # its primary key
        lambda number, at: {"day": at.date() + number * DAY, "salt": "s"},
    ),
    Kind(
        "sweep_assets",
        ProfileDay,
        "lookup_profileday_day",
        lambda number, at: {"profile": main_profile(_user()), "day": at.date(), "host": "", "views": 1},
    ),
    Kind(
        "sweep_assets",
        LinkDay,
        "lookup_linkday_day",
        lambda number, at: {"link": LinkFactory(), "day": at.date(), "clicks": 1},
    ),
    Kind(
        "sweep_assets",
        FileDay,
        "imagehost_fileday_day",
        lambda number, at: {"file": FileFactory(), "day": at.date(), "views": 1},
    ),
]
NAMES = [f"{place} {kind.model.__name__} by {kind.index}" for place, kind in enumerate(KINDS)]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "SIZE", 2)


def _planned(statement: Statement) -> str:
    """How the database finds the rows. PostgreSQL reads a small table whole, unless that is switched off."""
    is_postgresql = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        if is_postgresql:
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_sort = off")
        cursor.execute(f"EXPLAIN {'' if is_postgresql else 'QUERY PLAN '}{statement.sql}", statement.values)
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


@pytest.mark.embedded
@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_many_expired_rows_leave_in_several_statements_that_use_the_index(kind: Kind) -> None:
    rows = kind.model._default_manager
    for number in range(COUNT):
        rows.create(**kind.make(number, LONG_AGO))
    rows.create(**kind.make(COUNT, NOW + DAY))
    with time_machine.travel(NOW, tick=False):
        asked = statements.of(lambda: call_command(kind.job, verbosity=0, stdout=None))
    assert rows.count() == 1
    table = kind.model._meta.db_table
    deletes = [statement for statement in asked if statement.name == f"DELETE {table}"]
    assert len(deletes) == (COUNT + 1) // 2
    found = [each for each in asked if each.name == f"SELECT {table}" and "LIMIT 2" in each.sql.replace("%s", "2")]
    plans = [_planned(statement) for statement in found if statement.sql.startswith("SELECT")]
    assert any(kind.index in plan for plan in plans), plans
    assert not [plan for plan in [*plans, *map(_planned, deletes)] if "Seq Scan" in plan or f"SCAN {table}\n" in plan]


def test_a_job_holds_its_lease_while_it_deletes(monkeypatch: pytest.MonkeyPatch) -> None:
    from accounts.management.base import JobCommand

    for number in range(COUNT):
        Session.objects.create(session_key=f"{number:032}", session_data="", expire_date=LONG_AGO)
    renewals: list[int] = []
    monkeypatch.setattr(JobCommand, "renew", lambda self: renewals.append(Session.objects.count()))
    call_command("delete_expired", stdout=None)
    assert renewals == [5, 3, 1, 0]


class TestPresence:
    def test_expired_entries_leave_in_batches(self) -> None:
        from presence.store.database_cache import PresenceDatabaseCache

        cache = PresenceDatabaseCache("presence_storeentry", {})
        for number in range(COUNT):
            StoreEntry.objects.create(cache_key=f"{number}", value="1", expires=LONG_AGO)
        StoreEntry.objects.create(cache_key="kept", value="1", expires=datetime(9999, 1, 1, tzinfo=UTC))
        renewals: list[None] = []
        asked = statements.of(lambda: cache.clear_expired(lambda: renewals.append(None)))
        assert [each.name for each in asked].count("DELETE presence_storeentry") == len(renewals) == 4
        assert "presence_storeentry_expires" in _planned(asked[0])
        assert list(StoreEntry.objects.values_list("cache_key", flat=True)) == ["kept"]


def test_a_row_that_changed_after_it_was_found_stays() -> None:
    """The session goes on in another process, between the SELECT and the DELETE."""
    for number in range(2):
        Session.objects.create(session_key=f"{number:032}", session_data="", expire_date=LONG_AGO)
    expired = Session.objects.filter(expire_date__lt=NOW)

    def go_on(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("DELETE"):
            renewed = "UPDATE django_session SET expire_date = %s WHERE session_key = %s"
            execute(renewed, [NOW + DAY, f"{0:032}"], many, context)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(go_on):
        assert batches.delete(expired, by="expire_date") == 1
    assert list(Session.objects.values_list("session_key", flat=True)) == [f"{0:032}"]
