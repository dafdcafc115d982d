"""Backups of the database and of the files, and the way back (`manage.py backup`, `manage.py restore`).

A backup is a folder: `database.dump` (PostgreSQL's custom format, or an SQLite file), `imagehost/` and `uploads/` with
the stored files, and `about.json`, which is written last. Files that are unchanged since the backup before it are hard
links to that one's.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any, cast

from django.conf import settings
from django.core.cache import cache
from django.core.files.storage import storages
from django.db import connection

from imagehost.storing.storage import Bucket, FolderStorage, incoming_directory
from infrastructure import redis_errors

ABOUT, DUMP = "about.json", "database.dump"
RUN = "backup"  # the name of the row in which `JobRun` has the outcome of the last backup
STORES = ("imagehost", "uploads")
PIECE = 1024 * 1024  # bytes


class BackupFailed(Exception):
    """The message is for the operator."""


class BackupRunning(BackupFailed):
    """Another backup into this folder is running; it says itself how it ends."""


def make(directory: Path, *, now: datetime, kept: int = 0) -> Path:
    """Make a backup in `directory`, named after the time. An incomplete one has another name.

    The database is copied first: a file without a row does no harm, a row without its file does. `kept`: how many
    backups stay, the new one among them; older ones are removed once it is complete. 0: all.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone(directory):
        for left in directory.glob("*Z.part"):  # of a backup that was killed
            shutil.rmtree(left)
        earlier = max(_backups(directory), default=None)
        target = directory / f"{now:%Y-%m-%dT%H%M%SZ}"
        part = directory / f"{target.name}.part"
        part.mkdir(mode=0o700)
        try:
            _fill(part, earlier, now=now)
            part.rename(target)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        for old in sorted(_backups(directory))[:-kept] if kept else ():
            # Renamed first: an incomplete one never has the name of a backup.
            shutil.rmtree(old.rename(old.with_name(f"{old.name}.part")))
    return target


def _fill(part: Path, earlier: Path | None, *, now: datetime) -> None:
    _dump(part / DUMP)
    counts = {alias: _copy_files(folder, part / alias, earlier and earlier / alias) for alias, folder in _folders()}
    about = {"made_at": now.isoformat(), "engine": connection.vendor, "files": counts}
    (part / ABOUT).write_text(json.dumps(about, indent=2) + "\n")


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Lock out another backup into `directory`: BackupRunning. The lock of a killed process is free."""
    with (directory / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupRunning(f"Another backup into {directory} is being made.") from None
        yield


def about(backup: Path) -> dict[str, Any]:
    """Return the content of `about.json`. BackupFailed where `backup` is none."""
    try:
        return dict(json.loads((backup / ABOUT).read_text()))
    except (OSError, ValueError):
        raise BackupFailed(f"{backup} is no backup: it has no {ABOUT}.") from None


def restore(backup: Path) -> int:
    """Restore the database and the files; return the number of files. Empties the cache.

    BackupFailed where the database of the settings is not empty, files would stay behind, or Redis does not answer.
    Nothing that exists is overwritten.
    """
    facts, folders = about(backup), dict(_folders())
    if facts["engine"] != connection.vendor:
        raise BackupFailed(f"It was made from {facts['engine']}, and DATABASE_URL names {connection.vendor}.")
    if any(count for alias, count in facts["files"].items() if alias not in folders):
        raise BackupFailed(
            "It holds files, which lie in S3_BUCKET now: restore without S3_BUCKET, then move them there."
        )
    if connection.introspection.table_names():
        raise BackupFailed("The database is not empty: make a new one, and name it in DATABASE_URL.")
    _empty_cache("Nothing is restored: Redis does not answer. Start it, then restore again.")
    count = sum(_put_back(backup / alias, alias, folder) for alias, folder in folders.items())
    _load(backup / DUMP)  # last: until it is there, an interrupted restore can be repeated
    _empty_cache(
        "The database and the files are back, but Redis does not answer. Empty it (redis-cli FLUSHDB), then run "
        "manage.py migrate and manage.py reconcile_files --all."
    )
    return count


def _empty_cache(message: str) -> None:
    """Empty the cache, which is newer than the backup. BackupFailed with this message where Redis does not answer."""
    try:
        cache.clear()
    except redis_errors.AWAY:
        raise BackupFailed(message) from None


def _backups(directory: Path) -> list[Path]:
    return [path.parent for path in directory.glob(f"*Z/{ABOUT}")]


def _folders() -> Iterator[tuple[str, Path]]:
    """Yield the stores that are folders. A bucket's provider keeps its versions or copies."""
    for alias in STORES:
        store: object = storages[alias]
        if isinstance(store, FolderStorage):
            yield alias, Path(store.location)


def _dump(target: Path) -> None:
    if connection.vendor == "postgresql":
        options = ["--format=custom", "--no-owner", "--no-privileges", "--file", str(target)]
        with tempfile.TemporaryFile() as errors:
            with _started("pg_dump", *_database()[0], *options, errors=errors) as program:
                pass
            _check(program, errors=errors)
        return
    connection.ensure_connection()
    with closing(sqlite3.connect(target)) as copy:
        connection.connection.backup(copy)


def _load(dump: Path) -> None:
    """Load in one transaction, which this process commits: where it is killed, psql finds no COMMIT.

    `pg_restore --single-transaction` would go on, and commit after its parent has been killed.
    """
    if connection.vendor != "postgresql":
        connection.ensure_connection()
        with closing(sqlite3.connect(dump)) as copy:
            copy.backup(connection.connection)
        return
    options = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"]
    with tempfile.TemporaryFile() as errors:
        reader = _started("pg_restore", "--no-owner", "--no-privileges", "--file=-", str(dump), errors=errors)
        writer = _started("psql", *_database()[0], *options, errors=errors)
        with suppress(BrokenPipeError), writer, reader:  # a program that ended early: its exit code says why
            source, target = cast("IO[bytes]", reader.stdout), cast("IO[bytes]", writer.stdin)
            target.write(b"BEGIN;\n")
            shutil.copyfileobj(source, target, PIECE)
            if reader.wait() == 0:
                target.write(b"COMMIT;\n")
        _check(reader, writer, errors=errors)


def _database() -> tuple[list[str], dict[str, str]]:
    """Return options that name the database, all hosts and options but the password, which other users could see; and
    the password as a variable of PostgreSQL's programs."""
    from psycopg import conninfo  # the embedded default has no PostgreSQL

    given = conninfo.conninfo_to_dict(settings.BACKUP_DATABASE_URL)
    password = given.pop("password", None)
    return ["--dbname", conninfo.make_conninfo("", **given)], {"PGPASSWORD": str(password)} if password else {}


def _started(program: str, *arguments: str, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start one of PostgreSQL's programs. The environment passes the password."""
    try:
        return subprocess.Popen(  # noqa: S603 - our own words and the operator's settings
            [program, *arguments],
            env={**os.environ, **_database()[1]},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if program == "pg_restore" else subprocess.DEVNULL,
            stderr=errors,
        )
    except FileNotFoundError:
        raise BackupFailed(f"{program} is not installed on this host (Debian: postgresql-client).") from None


def _check(*programs: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
    """Raise BackupFailed where one of them failed, with what they wrote to `errors`."""
    if any(program.returncode for program in programs):
        errors.seek(0)
        raise BackupFailed(errors.read().decode(errors="replace").strip())


def _copy_files(folder: Path, target: Path, earlier: Path | None) -> int:
    """Copy the files; return how many. Files that are removed before are left out."""
    count = 0
    for key in _keys(folder):
        copy = target / key
        copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            if earlier is None or not _link(earlier / key, copy, now=(folder / key).stat()):
                shutil.copy2(folder / key, copy)
            count += 1
        except FileNotFoundError:
            continue
    return count


def _link(earlier: Path, copy: Path, *, now: os.stat_result) -> bool:
    """Link the earlier backup's file if it is unchanged, as remade previews keep their key. Return whether it is."""
    if not earlier.is_file():
        return False
    then = earlier.stat()
    if (then.st_size, then.st_mtime_ns) != (now.st_size, now.st_mtime_ns):
        return False
    try:
        os.link(earlier, copy)
    except OSError:  # of a file system without hard links, or another user's file
        return False
    return True


def _keys(folder: Path) -> Iterator[str]:
    """Yield the keys of a folder's files. Names with a leading dot are no keys."""
    for directory, names, files in os.walk(folder):
        names[:] = [name for name in names if not name.startswith(".")]
        yield from (Path(directory, file).relative_to(folder).as_posix() for file in files if not file.startswith("."))


def _put_back(source: Path, alias: str, folder: Path) -> int:
    """Store the files as uploads are: atomically, with the store's permissions. Existing files stay."""
    store, count = cast("Bucket", storages[alias]), 0
    for key in _keys(source):
        count += 1
        if (folder / key).exists():
            continue
        with tempfile.NamedTemporaryFile(dir=incoming_directory(), delete=False) as incoming:
            path = Path(incoming.name)
        try:
            shutil.copyfile(source / key, path)
            store.keep(key, path, mime="", download_name="")  # a folder keeps neither
        finally:
            path.unlink(missing_ok=True)
    return count
