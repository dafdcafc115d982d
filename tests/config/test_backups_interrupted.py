"""Backups and restores that are killed, or that the service works beneath, and are repeated."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import Mock

import psycopg
import pytest
from django.core.management import CommandError, call_command
from redis.exceptions import RedisError

from config.operations import backups
from tests.config.test_backups import ROOT, Installation
from tests.support import databases

pytestmark = pytest.mark.live

MANY = 1500
OUTCOME = (
    "from accounts.models import JobRun; run = JobRun.objects.get(pk='backup'); print(run.last_error, run.message)"
)
PATIENCE = 300  # seconds


def content(name: str) -> bytes:
    """Of the file of that name: a part of it, or of another file, is recognized."""
    return hashlib.sha256(name.encode()).digest() * 64


def is_whole(path: Path) -> bool:
    return path.read_bytes() == content(path.name)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """With tables, accounts and many files."""
    made = Installation(
        tmp_path_factory.mktemp("source"), databases.create(os.environ["DATABASE_URL"], template="template0")
    )
    try:
        made.do("migrate", "--verbosity", "0")
        made.do("seed_demo", "--users", "5", "--yes")
        folder = made.folder / "files" / "files" / "owner"
        folder.mkdir(parents=True)
        for number in range(MANY):
            (folder / f"{number:08}.png").write_bytes(content(f"{number:08}.png"))
        yield made
    finally:
        databases.drop(os.environ["DATABASE_URL"], made.database)


@pytest.fixture(scope="module")
def backup(source: Installation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(source.do("backup", str(tmp_path_factory.mktemp("backups"))).partition(": ")[0])


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Installation]:
    """An empty database, and no files."""
    made = Installation(tmp_path / "target", databases.create(os.environ["DATABASE_URL"], template="template0"))
    try:
        yield made
    finally:
        databases.drop(os.environ["DATABASE_URL"], made.database)


def started(installation: Installation, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=installation.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def killed(process: subprocess.Popen[bytes], when: Callable[[], bool]) -> None:
    """SIGKILL, as soon as `when` holds; what it started lives on."""
    give_up_at = time.monotonic() + PATIENCE
    while not when():
        assert process.poll() is None, "It ended before it could be killed"
        assert time.monotonic() < give_up_at
    process.send_signal(signal.SIGKILL)
    process.wait()


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*.png") if path.is_file()] if folder.exists() else []


def restores_running(database: str) -> int:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND application_name = 'psql'", [database]
        ).fetchone()
    return row[0] if row else 0


def assert_all_is_there(target: Installation, source: Installation) -> None:
    assert target.digests() == source.digests()
    restored = files_below(target.folder / "files")
    assert len(restored) == MANY
    assert all(map(is_whole, restored))


def test_a_backup_that_is_killed_leaves_nothing_that_passes_for_one(source: Installation, tmp_path: Path) -> None:
    backups = tmp_path / "backups"
    killed(started(source, "backup", str(backups)), lambda: len(files_below(backups)) > MANY // 10)
    (part,) = backups.glob("*.part")
    assert not (part / "about.json").exists()
    assert "is no backup" in source.run("restore", str(part)).stderr
    made = Path(source.do("backup", str(backups)).partition(": ")[0])
    assert [path.name for path in backups.iterdir() if path.name != ".lock"] == [made.name]
    assert len(files_below(made)) == MANY
    assert all(map(is_whole, files_below(made)))


def test_two_backups_into_one_folder_do_not_meet(source: Installation, tmp_path: Path) -> None:
    backups = tmp_path / "backups"
    first = started(source, "backup", str(backups))
    give_up_at = time.monotonic() + PATIENCE
    while not list(backups.glob("*.part")):
        assert time.monotonic() < give_up_at
    first.send_signal(signal.SIGSTOP)
    second = source.run("backup", str(backups))
    elsewhere = source.run("backup", str(tmp_path / "elsewhere"))
    first.send_signal(signal.SIGCONT)
    assert (second.returncode, second.stderr) == (1, f"CommandError: Another backup into {backups} is being made.\n")
    assert elsewhere.returncode == 0
    assert first.wait(PATIENCE) == 0
    assert source.do("shell", "--no-imports", "-c", OUTCOME).startswith(f" {backups}")  # of the last one that ended
    assert len(list(backups.glob("*Z/about.json"))) == 1


def test_a_restore_that_is_killed_among_the_files_is_repeated(
    source: Installation, backup: Path, target: Installation
) -> None:
    files = target.folder / "files"
    killed(started(target, "restore", str(backup)), lambda: len(files_below(files)) > MANY // 10)
    assert len(files_below(files)) < MANY
    assert f"The database and {MANY} files are back." in target.do("restore", str(backup))
    assert_all_is_there(target, source)


def test_a_restore_that_is_killed_in_the_database_is_repeated(
    source: Installation, backup: Path, target: Installation
) -> None:
    """PostgreSQL's programs outlive the command, and must not commit what they have."""
    killed(started(target, "restore", str(backup)), lambda: restores_running(target.database) > 0)
    give_up_at = time.monotonic() + PATIENCE
    while restores_running(target.database):
        assert time.monotonic() < give_up_at
        time.sleep(0.02)
    assert f"The database and {MANY} files are back." in target.do("restore", str(backup))
    assert_all_is_there(target, source)


def test_a_damaged_dump_leaves_the_database_empty(source: Installation, backup: Path, target: Installation) -> None:
    dump = backup / "database.dump"
    whole = dump.read_bytes()
    dump.write_bytes(whole[: len(whole) * 2 // 3])
    try:
        refused = target.run("restore", str(backup))
    finally:
        dump.write_bytes(whole)
    assert (refused.returncode, refused.stderr.startswith("CommandError: pg_restore: error: ")) == (1, True)
    assert f"The database and {MANY} files are back." in target.do("restore", str(backup))
    assert_all_is_there(target, source)


def test_without_redis_nothing_is_restored(source: Installation, backup: Path, target: Installation) -> None:
    refused = target.run("restore", str(backup), REDIS_URL="redis://127.0.0.1:1/0")
    assert (refused.returncode, refused.stderr) == (
        1,
        "CommandError: Nothing is restored: Redis does not answer. Start it, then restore again.\n",
    )
    assert not files_below(target.folder / "files")
    assert f"The database and {MANY} files are back." in target.do("restore", str(backup))
    assert_all_is_there(target, source)


def test_where_redis_goes_away_during_a_restore_it_says_what_is_left_to_do(
    backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[Exception | None] = [None, RedisError("No")]
    cache, connection = Mock(**{"clear.side_effect": answers}), Mock(vendor="postgresql")
    connection.introspection.table_names.return_value = []
    for name, replaced in {"cache": cache, "connection": connection, "_put_back": Mock(return_value=1)}.items():
        monkeypatch.setattr(backups, name, replaced)
    monkeypatch.setattr(backups, "_load", loaded := Mock())
    with pytest.raises(CommandError) as refused:
        call_command("restore", str(backup))
    assert str(refused.value) == (
        "The database and the files are back, but Redis does not answer. Empty it (redis-cli FLUSHDB), then run "
        "manage.py migrate and manage.py reconcile_files --all."
    )
    assert loaded.called


def test_files_that_change_under_a_backup_are_whole_in_it_or_absent(source: Installation, tmp_path: Path) -> None:
    """Uploads come, deletions go, and a preview is made again, while it copies."""
    folder, is_over = source.folder / "files" / "files" / "owner", threading.Event()

    def work() -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            new = folder / f"new{number:05}.png"
            (folder / ".part").write_bytes(content(new.name))
            (folder / ".part").replace(new)
            (folder / ".part").write_bytes(content(f"{number % MANY:08}.png"))
            (folder / ".part").replace(folder / f"{number % MANY:08}.png")
            if number > 1:
                (folder / f"new{number - 1:05}.png").unlink()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        made = Path(source.do("backup", str(tmp_path / "backups")).partition(": ")[0])
    finally:
        is_over.set()
        worker.join()
        for left in folder.glob("new*.png"):
            left.unlink()
    copied = files_below(made)
    assert all(map(is_whole, copied))
    assert {f"{number:08}.png" for number in range(MANY)} <= {path.name for path in copied}
    assert json.loads((made / "about.json").read_text())["files"]["imagehost"] == len(copied)
