"""A backup, the loss of everything, and the way back: the rehearsal of a disaster, on PostgreSQL and on SQLite."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings

from config.operations import backups
from tests.journeys import processes
from tests.support import databases, programs

pytestmark = [pytest.mark.live, pytest.mark.embedded]

ROOT = Path(__file__).parents[2]
# What is said anew by the comparison at the end, and by the start of every command.
CHANGING = {"accounts_jobrun"}
DIGESTS = """
import hashlib
from django.db import connection
for table in sorted(connection.introspection.table_names()):
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT * FROM "{table}"')
        rows = sorted(map(repr, cursor.fetchall()))
    print("DIGEST", table, len(rows), hashlib.sha256("".join(rows).encode()).hexdigest())
"""


@dataclass
class Installation:
    """The service of one test. `database`: the name of its PostgreSQL database, empty on SQLite."""

    directory: Path
    database: str = ""

    @property
    def folder(self) -> Path:
        return self.directory / "var"

    def environment(self) -> dict[str, str]:
        values = {
            "VAR_DIR": str(self.folder),
            "SECRET_KEY": "tests-of-backups",
            "SIGNING_KEY_ENCRYPTION_KEYS": "tests-of-backups",
            "DEMO": "1",
            "PATH": f"{_programs()}:{os.environ['PATH']}",
        }
        if self.database:
            values |= {
                "DATABASE_URL": databases.with_name(os.environ["DATABASE_URL"], self.database),
                "REDIS_URL": f"{os.environ['REDIS_URL'].rpartition('/')[0]}/60",
            }
        return processes.clean_environment(**values)

    def run(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """`more`: variables of the environment."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env={**self.environment(), **more},
            capture_output=True,
            text=True,
            check=False,
        )

    def do(self, *arguments: str, **more: str) -> str:
        done = self.run(*arguments, **more)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def digests(self) -> dict[str, str]:
        lines = [line.split() for line in self.do("shell", "--no-imports", "-c", DIGESTS).splitlines()]
        rows = [line[1:] for line in lines if line[:1] == ["DIGEST"]]
        return {table: f"{count} {digest}" for table, count, digest in rows if table not in CHANGING}

    def files(self) -> dict[str, bytes]:
        stored = [path for store in ("files", "uploads") for path in (self.folder / store).rglob("*") if path.is_file()]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in stored if ".marks" not in path.parts}

    def lose_everything(self) -> None:
        shutil.rmtree(self.folder)
        self.lose_database()

    def lose_database(self) -> None:
        for path in self.folder.glob("db.sqlite3*"):
            path.unlink()
        if self.database:
            databases.drop(os.environ["DATABASE_URL"], self.database)
            self.database = databases.create(os.environ["DATABASE_URL"], template="template0")


def _programs() -> Path:
    """Where pg_dump of the tests' PostgreSQL lies."""
    return programs.found("postgres")["postgres"].resolve().parent


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """One for all tests of this module: it takes a quarter of a minute. The last test loses it."""
    made = Installation(tmp_path_factory.mktemp("installation"))
    if not settings.EMBEDDED:
        made.database = databases.create(os.environ["DATABASE_URL"], template="template0")
    try:
        made.do("migrate", "--verbosity", "0")
        made.do("signing_keys", "ensure")
        made.do("seed_demo", "--users", "5", "--yes")
        for store, name in (("files/files/owner", "Ab3dE6gH.png"), ("uploads/owner", "sound.mp3")):
            (made.folder / store).mkdir(parents=True)
            (made.folder / store / name).write_bytes(os.urandom(1000))
        yield made
    finally:
        if made.database:
            databases.drop(os.environ["DATABASE_URL"], made.database)


@pytest.fixture(scope="module")
def backup(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(installation.do("backup", str(tmp_path_factory.mktemp("backups"))).partition(": ")[0])


def test_files_of_an_earlier_backup_take_no_room_again(installation: Installation, backup: Path) -> None:
    first, second = backup, Path(installation.do("backup", str(backup.parent)).partition(": ")[0])
    for key in ("imagehost/files/owner/Ab3dE6gH.png", "uploads/owner/sound.mp3"):
        assert (first / key).samefile(second / key)
        assert (first / key).stat().st_mode & 0o077 == 0o044
    assert first.stat().st_mode & 0o077 == 0
    assert not list(backup.parent.glob("*.part"))


def test_as_many_backups_stay_as_are_to_be_kept(installation: Installation, tmp_path: Path) -> None:
    for day in ("2020-01-01", "2020-01-02", "2020-01-03"):
        (tmp_path / f"{day}T000000Z").mkdir()
        (tmp_path / f"{day}T000000Z" / "about.json").write_text("{}")
    (tmp_path / "2019-01-01T000000Z").mkdir()  # no backup of ours
    new = Path(installation.do("backup", "--keep", "2", str(tmp_path)).partition(": ")[0])
    assert {path.name for path in tmp_path.glob("2*")} == {"2019-01-01T000000Z", "2020-01-03T000000Z", new.name}


OUTCOME = (
    "from accounts.models import JobRun; run = JobRun.objects.get(pk='backup'); print(run.last_error, run.succeeded_at)"
)


def test_the_outcome_of_the_last_backup_is_known(installation: Installation, tmp_path: Path) -> None:
    installation.do("backup", str(tmp_path / "backups"))
    error, _, time = installation.do("shell", "--no-imports", "-c", OUTCOME).partition(" ")
    assert (error, time[:3]) == ("", "202")
    (tmp_path / "file").touch()
    assert installation.run("backup", str(tmp_path / "file")).returncode == 1
    assert installation.do("shell", "--no-imports", "-c", OUTCOME).startswith("FileExistsError")


def test_a_backup_has_a_database_url_of_its_own(installation: Installation, tmp_path: Path) -> None:
    """The first of two hosts is away; and DATABASE_URL is not what is copied. SQLite has no address."""
    if not installation.database:
        assert settings.EMBEDDED
        return
    url = installation.environment()["DATABASE_URL"]
    parts = urlsplit(url)
    hosts = f"127.0.0.1:1,127.0.0.1:{parts.port}"
    several = f"postgres://{parts.username}@{hosts}{parts.path}?target_session_attrs=read-write"
    made = Path(installation.do("backup", str(tmp_path), BACKUP_DATABASE_URL=several).partition(": ")[0])
    assert (made / "database.dump").stat().st_size > 10_000
    refused = installation.run("backup", str(tmp_path), BACKUP_DATABASE_URL=f"{url}_that_is_none")
    assert (refused.returncode, "_that_is_none" in refused.stderr) == (1, True)


def test_nothing_that_exists_is_overwritten(installation: Installation, backup: Path) -> None:
    before = installation.digests()
    refused = installation.run("restore", str(backup))
    assert refused.returncode == 1
    assert "The database is not empty: make a new one, and name it in DATABASE_URL." in refused.stderr
    assert installation.digests() == before


def test_a_folder_that_is_no_backup_is_refused(installation: Installation, tmp_path: Path) -> None:
    refused = installation.run("restore", str(tmp_path))
    assert (refused.returncode, "is no backup: it has no about.json." in refused.stderr) == (1, True)


def test_files_that_are_there_stay_as_they_are(installation: Installation, backup: Path) -> None:
    owner = installation.folder / "files" / "files" / "owner"
    kept, newer = owner / "Ab3dE6gH.png", owner / "Zy9xW8vU.png"
    for path in (kept, newer):
        path.write_bytes(b"after the backup")
        os.utime(path, (0, 0))  # older than what a night's comparison leaves alone
    installation.lose_database()
    printed = installation.do("restore", str(backup))
    assert "The database and 2 files are back." in printed
    assert "2 objects have no file, perhaps uploads after the backup" in printed
    assert [path.read_bytes() for path in (kept, newer)] == [b"after the backup"] * 2
    newer.unlink()


def test_files_of_folders_are_not_left_behind_for_a_bucket(installation: Installation, backup: Path) -> None:
    facts = json.loads((backup / "about.json").read_text())
    facts["files"]["a store that is no folder"] = 1
    (backup / "about.json").write_text(json.dumps(facts))
    refused = installation.run("restore", str(backup))
    assert (refused.returncode, "restore without S3_BUCKET, then move them there." in refused.stderr) == (1, True)


def test_where_there_are_no_hard_links_files_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: object, target: object) -> None:
        raise PermissionError

    monkeypatch.setattr("config.operations.backups.os.link", refuse)
    for name in ("folder", "earlier"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "key").write_bytes(b"1")
        os.utime(tmp_path / name / "key", (0, 0))
    assert backups._copy_files(tmp_path / "folder", tmp_path / "copy", tmp_path / "earlier") == 1
    assert (tmp_path / "copy" / "key").read_bytes() == b"1"


def test_what_was_lost_is_back(installation: Installation, tmp_path: Path) -> None:
    printed = installation.do("backup", str(tmp_path / "backups"))
    backup, _, rest = printed.partition(": ")
    assert rest.startswith("the database and 2 files.")
    digests, files = installation.digests(), installation.files()
    assert len(files) == 2
    assert int(digests["accounts_user"].split()[0]) >= 5
    installation.lose_everything()
    assert "The database and 2 files are back." in installation.do("restore", backup)
    assert installation.digests() == digests
    assert installation.files() == files
    assert "signs id_tokens" in installation.do("doctor", "signing keys", "migrations")
