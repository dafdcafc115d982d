"""How long a statement and a lock may take: those of web servers and the presence worker, and those of migrations."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection, connections
from pytest_django import Settings

from config.management.commands import migrate

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).parents[2]
SHOWN = """
from django.db import connection
from infrastructure.databases.postgresql import base
print(base.deadline)
with connection.cursor() as cursor:
    for name in ("statement_timeout", "lock_timeout"):
        cursor.execute(f"SHOW {name}")
        print(cursor.fetchone()[0])
"""
WEB, COMMAND = "import config.web.wsgi", "import django; django.setup()"
WORKER = """
import asyncio, django
django.setup()
from presence.management.commands import run_presence_gateway
run_presence_gateway._work = asyncio.sleep
run_presence_gateway.Command().handle(parent=0)
"""


def _url() -> str:
    given = connection.settings_dict
    return f"postgres://{given['USER']}@{given['HOST']}:{given['PORT']}/{given['NAME']}"


@pytest.mark.parametrize(
    ("program", "values", "shown"),
    [
        (WEB, {}, ["12", "10s", "10s"]),
        (WEB, {"DATABASE_STATEMENT_SECONDS": "5"}, ["7", "5s", "10s"]),
        (WEB, {"DATABASE_STATEMENT_SECONDS": "0"}, ["None", "0", "0"]),
        (
            WEB,
            {"DATABASE_TRANSACTION_POOLING": "1"},
            ["12", "0", "0"],
        ),  # PgBouncer refuses it: deploy/pgbouncer.ini
        (COMMAND, {}, ["None", "0", "0"]),
        (WORKER, {}, ["12", "10s", "10s"]),
    ],
)
def test_a_statement_and_a_lock_of_a_web_server_and_the_presence_worker_take_a_bounded_time(
    program: str, values: dict[str, str], shown: list[str]
) -> None:
    names = {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": _url(),
        "ALLOW_UNSAFE_START": "edge,secrets,limits",
        "CHAT_GUILD_ID": "268473310000000000",
        "CHAT_BOT_TOKEN": "of-a-bot",
    }
    done = subprocess.run(
        [sys.executable, "-c", program + SHOWN], cwd=ROOT, env={**os.environ, **names, **values}, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.stdout.split(), done.returncode) == (shown, 0), done.stderr


@pytest.fixture
def altered(settings: Settings) -> Iterator[None]:
    """A migration that alters the table of users waits."""
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "tests.config.jobs_app"]
    settings.MIGRATION_MODULES = {"jobs_app": "tests.config.altering.migrations"}
    yield
    call_command("migrate", "jobs_app", "zero", verbosity=0)


def _migrate(said: io.StringIO) -> None:
    try:
        call_command("migrate", "jobs_app", verbosity=0, stderr=said)
    finally:
        connections.close_all()


def test_a_migration_behind_a_long_transaction_holds_no_reader_up(
    altered: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "PAUSE", 0.5)
    said, longest = io.StringIO(), 0.0
    migrating = threading.Thread(target=_migrate, args=(said,))
    with psycopg.connect(_url()) as long, psycopg.connect(_url(), autocommit=True) as reader:
        long.execute("SELECT count(*) FROM accounts_user")
        reader.execute("SET statement_timeout = '20s'")
        migrating.start()
        while said.getvalue().count("A long transaction holds a lock.") < 3:
            began_at = time.monotonic()
            reader.execute("SELECT count(*) FROM accounts_user")
            longest = max(longest, time.monotonic() - began_at)
        long.rollback()
    migrating.join(60)
    assert 0.5 < longest < 5  # it waited, and no longer than a try
    with connection.cursor() as cursor:
        assert "altered" in {
            each.name for each in connection.introspection.get_table_description(cursor, "accounts_user")
        }


def test_another_error_of_a_migration_is_not_tried_again(
    altered: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE accounts_user ADD COLUMN altered integer")
    try:
        monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("It is tried again."))
        with pytest.raises(Exception, match="already exists"):
            call_command("migrate", "jobs_app", verbosity=0)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE accounts_user DROP COLUMN altered")
