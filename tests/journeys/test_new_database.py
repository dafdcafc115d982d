"""A new database, whose tables are made at once, beside one that was migrated step by step."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.journeys import services
from tests.support import programs

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
STEP_BY_STEP = "--run-syncdb"  # there is nothing to synchronize, and all is left to Django
# An app whose second migration leaves a column that its model forgets.
FORGETFUL = {
    "forgetful_settings.py": "from config.settings import *\nINSTALLED_APPS += ['forgetful']\n",
    "forgetful/__init__.py": "",
    "forgetful/models.py": "from django.db import models\n\n\nclass Row(models.Model):\n    pass\n",
    "forgetful/migrations/__init__.py": "",
    "forgetful/migrations/0001_initial.py": """
from django.db import migrations, models


class Migration(migrations.Migration):
    fields = [("id", models.BigAutoField(primary_key=True)), ("forgotten", models.TextField(null=True))]
    operations = [migrations.CreateModel(name="Row", fields=fields)]
""",
    "forgetful/migrations/0002_forget.py": """
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("forgetful", "0001_initial")]
    operations = [migrations.SeparateDatabaseAndState(state_operations=[migrations.RemoveField("row", "forgotten")])]
""",
}


def migrate(directory: Path, *options: str, **values: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0", *options]
    values = {**environment, "VAR_DIR": str(directory), **values}
    return subprocess.run(command, cwd=ROOT, env=values, capture_output=True, text=True, check=False)


def dump(database_url: str) -> list[str]:
    """Return the lines of the schema and the rows, those of the applied migrations without number and time, sorted."""
    program = str(programs.found("postgres")["postgres"].resolve().with_name("pg_dump"))
    command = [program, "--no-owner", "--no-privileges", database_url]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = (re.sub(r"^\d+\t(\w+\t\d{4}_\w+)\t.*", r"\1", line) for line in lines)
    return sorted(row for row in rows if not row.startswith("\\"))


def tables(directory: Path) -> list[tuple[str, list[str]]]:
    """Return the names and parts of tables, indexes and triggers, and the applied migrations. SQLite puts a column
    last that a migration changed."""
    with closing(sqlite3.connect(directory / "db.sqlite3")) as connection:
        made = connection.execute("SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_master ORDER BY 1")
        parts = [(name, sorted(sql.removesuffix(")").split(", "))) for name, sql in made]
        applied = connection.execute("SELECT app || '.' || name FROM django_migrations ORDER BY 1")
        return [*parts, ("applied", [name for (name,) in applied])]


def test_on_postgresql_both_make_the_same(tmp_path: Path) -> None:
    server_url, redis_url = os.environ["DATABASE_URL"], os.environ["REDIS_URL"]
    with services.database(server_url) as first, services.database(server_url) as second:
        assert migrate(tmp_path, DATABASE_URL=first, REDIS_URL=redis_url).returncode == 0
        assert migrate(tmp_path, STEP_BY_STEP, DATABASE_URL=second, REDIS_URL=redis_url).returncode == 0
        made = dump(first)
        assert "accounts\t0002_triggers" in made
        assert made == dump(second)


def test_on_sqlite_both_make_the_same_and_leave_what_the_models_forget(tmp_path: Path) -> None:
    for name, text in FORGETFUL.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    values = {"DJANGO_SETTINGS_MODULE": "forgetful_settings", "PYTHONPATH": str(tmp_path)}
    assert migrate(tmp_path / "first", **values).returncode == 0
    assert migrate(tmp_path / "second", STEP_BY_STEP, **values).returncode == 0
    made = tables(tmp_path / "first")
    assert any('"forgotten" text NULL' in parts for name, parts in made if name == "table forgetful_row")
    assert made == tables(tmp_path / "second")


def test_nothing_is_left_of_one_that_fails_and_the_next_goes_on(tmp_path: Path) -> None:
    with services.database(os.environ["DATABASE_URL"]) as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE VIEW presence_lastonline AS SELECT 1 AS id")  # in the way of a table
        values = {"DATABASE_URL": url, "REDIS_URL": os.environ["REDIS_URL"]}
        assert 'relation "presence_lastonline" already exists' in migrate(tmp_path, **values).stderr
        named = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        assert connection.execute(named).fetchall() == [("django_migrations",)]
        connection.execute("DROP VIEW presence_lastonline")
        assert migrate(tmp_path, **values).returncode == 0
