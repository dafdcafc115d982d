"""The test databases: migrated or restored once for a run, then copied for each worker."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from tests.support import migrated_databases

VARIABLE = "TESTS_TEMPLATE"  # a database on the server of DATABASE_URL, or an SQLite file
ROOT = Path(__file__).parents[2]
MIGRATE_SECONDS = 900  # twenty on a quiet machine; this only ends a run that hangs
MIGRATED = {"auth_permission", "django_content_type", "django_migrations"}  # tables that the migrations have filled


def with_name(server_url: str, name: str) -> str:
    """`server_url` with another database."""
    return urlunsplit(urlsplit(server_url)._replace(path=f"/{name}"))


def create(server_url: str, *, template: str = "template1") -> str:
    """Create a database on the server of `server_url`; its name."""
    name = _new_name()
    statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))
    return name


def _new_name() -> str:
    return f"test_{secrets.token_hex(6)}"


def drop(server_url: str, name: str) -> None:
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def migrated_template(directory: Path, server_url: str = "") -> dict[str, str]:
    """Make a migrated database, on PostgreSQL or (without `server_url`) in a file; return the environment naming it.

    The migrations run where no database of an earlier run is kept for them.
    """
    kept = migrated_databases.name(server_url)
    if server_url:
        template = create(server_url)
        url = with_name(server_url, template)
        if not migrated_databases.restore_dump(kept, url):
            _migrate(directory, {"DATABASE_URL": url, "REDIS_URL": "redis://127.0.0.1:1/0"})
            migrated_databases.keep_dump(kept, url)
        return {VARIABLE: template}
    file = directory / "db.sqlite3"
    if not migrated_databases.restore_file(kept, file):
        _migrate(directory, {})
        migrated_databases.keep_file(kept, file)
    return {VARIABLE: str(file)}


def _migrate(directory: Path, engine: dict[str, str]) -> None:
    values = {"VAR_DIR": str(directory), "SECRET_KEY": "tests", "SIGNING_KEY_ENCRYPTION_KEYS": "tests", **engine}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks"]
    environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    subprocess.run(command, cwd=ROOT, env={**environment, **values}, timeout=MIGRATE_SECONDS, check=True)


def empty() -> None:
    """Delete the rows that a test has committed, once what its reads of presence began in the background has ended.

    Django's flush takes twenty times as long: on PostgreSQL it makes new files of every table and index, and then it
    fills in the content types and permissions again.

    A server or a thread that still writes for the test can meet this in a deadlock. Then it is tried again.
    """
    from django.db import OperationalError  # pytest loads this file before Django is set up

    from presence.answer import refreshing

    refreshing.settle()
    for attempts_left in (2, 1, 0):
        try:
            _delete_rows()
            break
        except OperationalError as error:
            if not attempts_left or not isinstance(error.__cause__, psycopg.errors.DeadlockDetected):
                raise


def _delete_rows() -> None:
    from django.db import connection, transaction

    with connection.constraint_checks_disabled(), transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL session_replication_role = replica")  # checks no foreign keys
        for table in connection.introspection.django_table_names(only_existing=True):
            if table not in MIGRATED:
                cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")


@contextlib.contextmanager
def copied(settings: dict[str, Any], template: str) -> Iterator[None]:
    """Point `settings`, those of Django's connection, at a copy of `template` (Any: as Django has them)."""
    if settings["ENGINE"].endswith("sqlite3"):
        settings["NAME"] = shutil.copy(template, Path(settings["NAME"]).with_name(f"{_new_name()}.sqlite3"))
        yield
        return
    server_url = os.environ["DATABASE_URL"]
    settings["NAME"] = create(server_url, template=template)
    try:
        yield
    finally:
        drop(server_url, settings["NAME"])
