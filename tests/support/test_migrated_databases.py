"""Migrated databases that are kept between runs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import databases, migrated_databases


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(migrated_databases, "FOLDER", tmp_path / "migrated")
    return tmp_path / "migrated"


@pytest.fixture
def empty_url() -> Iterator[str]:
    server_url = os.environ["DATABASE_URL"]
    name = databases.create(server_url, template="template0")
    yield databases.with_name(server_url, name)
    databases.drop(server_url, name)


def test_a_change_of_what_makes_the_tables_gives_another_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "project"
    migration = root / "lookup" / "migrations" / "0001_initial.py"
    rules, other = root / "accounts" / "text_rules.py", root / "accounts" / "users.py"
    creation, settings = (root / "config" / name for name in ("operations/new_database.py", "settings.py"))
    for path in (migration, rules, other, creation, settings, root / "requirements-dev.lock"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    migration.write_text("from accounts import text_rules\n")
    monkeypatch.setattr(migrated_databases, "ROOT", root)
    first = migrated_databases.name()
    other.write_text("changed = True")
    assert migrated_databases.name() == first
    for path in (migration, rules, creation):
        before = migrated_databases.name()
        path.write_text(path.read_text() + "changed = True\n")
        assert migrated_databases.name() != before


def test_a_kept_file_is_restored_and_the_oldest_are_removed(folder: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    assert migrated_databases.restore_file("0.sqlite3", target) is False
    for number in range(migrated_databases.MOST + 1):
        source.write_text(str(number))
        migrated_databases.keep_file(f"{number}.sqlite3", source)
        os.utime(folder / f"{number}.sqlite3", (number, number))
    assert migrated_databases.restore_file("0.sqlite3", target) is False
    assert migrated_databases.restore_file("1.sqlite3", target) is True
    assert target.read_text() == "1"
    assert len(list(folder.iterdir())) == migrated_databases.MOST


def test_a_restored_dump_is_what_was_migrated(folder: Path, empty_url: str) -> None:
    template = databases.with_name(os.environ["DATABASE_URL"], os.environ[databases.VARIABLE])
    migrated_databases.keep_dump("first.sql", template)
    assert migrated_databases.restore_dump("first.sql", empty_url) is True
    migrated_databases.keep_dump("second.sql", empty_url)
    first, second = (_without_keys(folder / name) for name in ("first.sql", "second.sql"))
    assert "CREATE TABLE public.accounts_user" in first
    assert second == first


def _without_keys(dump: Path) -> str:
    """Return the dump without the random word that newer programs put around it, and without casts: PostgreSQL writes
    those of a constraint in another way once it has read them."""
    lines = [line for line in dump.read_text().splitlines() if "restrict " not in line]
    return re.sub(r"::(?:character varying|text)(?:\[\])?|[()]", "", "\n".join(lines))


def test_a_broken_dump_is_removed_and_leaves_the_database_empty(folder: Path, empty_url: str) -> None:
    folder.mkdir()
    (folder / "broken.sql").write_text("CREATE TABLE half (id integer);\nCREATE TABLE;\n")
    assert migrated_databases.restore_dump("broken.sql", empty_url) is False
    assert not list(folder.iterdir())
    (folder / "whole.sql").write_text("CREATE TABLE half (id integer);\n")
    assert migrated_databases.restore_dump("whole.sql", empty_url) is True
