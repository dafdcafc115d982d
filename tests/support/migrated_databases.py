"""Migrated databases that are kept between runs: an SQLite file, or a dump of PostgreSQL.

A name holds a digest of everything that decides what the migrations do. Files are written under another name and then
renamed, so that runs at the same time read whole files only.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg

from tests.support import programs

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".venv" / "var" / "migrated"
MOST = 6  # files; the ones that were used last stay


def name(server_url: str = "") -> str:
    """Return the name of the file for the server of `server_url`, or for SQLite."""
    digest = hashlib.sha256()
    for path in sorted(_sources()):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    if not server_url:
        return f"{digest.hexdigest()[:32]}.sqlite3"
    with psycopg.connect(server_url) as connection:
        digest.update(str(connection.info.server_version).encode())
    return f"{digest.hexdigest()[:32]}.sql"


def _sources() -> set[Path]:
    """Return the migrations, what they import of this project, what makes a new database of them, the settings and the
    versions of the packages."""
    migrations = {*ROOT.glob("*/migrations/*.py"), ROOT / "config" / "operations" / "new_database.py"}
    imported = {path for migration in migrations for path in _imported(migration)}
    return {*migrations, *imported, ROOT / "config" / "settings.py", ROOT / "requirements-dev.lock"}


def _imported(path: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(path.read_text())):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for module in modules:
            place = ROOT.joinpath(*module.split("."))
            yield from (each for each in (place.with_suffix(".py"), place / "__init__.py") if each.exists())


def restore_file(file: str, target: Path) -> bool:
    """Copy the kept SQLite file to `target`; return whether there was one."""
    with contextlib.suppress(FileNotFoundError):
        shutil.copyfile(FOLDER / file, target)
        _touch(file)
        return True
    return False


def keep_file(file: str, source: Path) -> None:
    with _kept(file) as path:
        shutil.copyfile(source, path)


def restore_dump(file: str, database_url: str) -> bool:
    """Load the kept dump into an empty database; return whether there was one. All of it is loaded, or nothing."""
    if not (FOLDER / file).exists():
        return False
    options = ["--quiet", "--no-psqlrc", "--single-transaction", "--set=ON_ERROR_STOP=1", "--output", os.devnull]
    command: list[str | Path] = [_program("psql"), *options, "--file", FOLDER / file, database_url]
    if subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode:
        (FOLDER / file).unlink(missing_ok=True)
        return False
    _touch(file)
    return True


def keep_dump(file: str, database_url: str) -> None:
    """Dump the database. A server that is newer than the programs is not dumped; its next run migrates again."""
    with _kept(file) as path:
        command: list[str | Path] = [_program("pg_dump"), "--no-owner", "--no-privileges", "--file", path, database_url]
        if subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode:
            path.unlink()


def _program(program: str) -> Path:
    return programs.found("postgres")["postgres"].resolve().with_name(program)


def _touch(file: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.utime(FOLDER / file)


@contextlib.contextmanager
def _kept(file: str) -> Iterator[Path]:
    """Yield a path to write to; what is there at the end becomes `file`, and the oldest files are removed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="new-", dir=FOLDER) as directory:
        path = Path(directory) / file
        yield path
        if path.exists():
            path.replace(FOLDER / file)
    files = {path: path.stat().st_mtime for path in FOLDER.glob("*.sql*") if path.exists()}
    for path in sorted(files, key=files.__getitem__)[:-MOST]:
        path.unlink(missing_ok=True)
