"""`/readyz`, which names every part, and `/readyz/host`, which a load balancer asks."""

import contextlib
import os
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from asgiref.sync import async_to_sync
from django.contrib.staticfiles.storage import ManifestStaticFilesStorage
from django.core.cache import cache
from django.core.files.storage import storages
from django.core.management import call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings
from redis.exceptions import RedisError

from accounts import jobs as leases
from accounts.models import JobRun
from config import jobs
from config.observability import outages
from config.operations import readiness
from oidc_provider.models import SigningKey
from oidc_provider.token import signing
from presence.store import store
from tests.presence import lookups
from tests.support import ports, programs, servers

pytestmark = pytest.mark.django_db(transaction=True)  # the checks read in threads of their own

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """A day after this process started."""
    with time_machine.travel(readiness.STARTED_AT + 24 * HOUR, tick=False) as clock:
        yield clock


@pytest.fixture(autouse=True)
def ready(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    settings.CHAT = replace(settings.CHAT, guild_id="")
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "tests.config.jobs_app"]
    monkeypatch.setattr(jobs, "SCHEDULE", {"tidy": HOUR, "count": MINUTE})
    folder = tmp_path_factory.mktemp("stores")  # not that of the other workers, whose marks would be in it
    backend = "imagehost.storing.storage.FolderStorage"
    own = {a: {"BACKEND": backend, "OPTIONS": {"location": folder / a}} for a in ("imagehost", "uploads")}
    settings.STORAGES = {**settings.STORAGES, **own}
    monkeypatch.setattr(readiness, "KEPT", 0)
    monkeypatch.setattr(readiness, "REMEMBERED", 0)
    monkeypatch.setattr(readiness, "LIMIT", 30)  # no test depends on how busy the machine is
    signing.ensure_signing_key()
    cache.delete_many(["files-mark-imagehost", "files-mark-uploads"])  # of another test, which had other folders


def asked(client: Client, query: str = "") -> tuple[int, dict[str, Any]]:
    """The status, and the body without the times of the parts; Any: its JSON."""
    answer = client.get(f"/readyz{query}")
    body = answer.json()
    assert body.pop("milliseconds").keys() == body["parts"].keys()
    return answer.status_code, body


_PARTS = ("database", "migrations", "signing_key", "cache", "static_files", "files", "incoming")
OFF = "off: CHAT_GUILD_ID names no chat server"


def saying(jobs_state: str = "ok", presence: str = OFF) -> tuple[int, dict[str, Any]]:
    """The whole answer of a service whose other parts are well."""
    is_ready = jobs_state == "ok"
    parts = dict.fromkeys(_PARTS, "ok")
    parts |= {"jobs": jobs_state, "presence": presence}
    return 200 if is_ready else 503, {"status": "ok" if is_ready else "unavailable", "parts": parts}


def succeed(*names: str) -> None:
    for name in names:
        call_command(name, verbosity=0)


def test_a_fresh_installation_is_ready_until_its_jobs_are_late(client: Client, clock: time_machine.Traveller) -> None:
    assert asked(client) == saying("ok")
    clock.shift(4 * MINUTE)  # three intervals and a minute
    assert asked(client) == saying("ok")
    clock.shift(SECOND)
    assert asked(client) == saying("late: count (no success yet)")
    succeed("count")
    assert asked(client) == saying("ok")


LATE = "late: tidy (no success yet), count (no success yet)"


def late(client: Client, clock: time_machine.Traveller) -> None:
    assert asked(client) == saying()
    clock.shift(4 * HOUR)


@pytest.mark.parametrize("query", ["?exclude=jobs", "?exclude=cache,jobs", "?exclude=cache&exclude=jobs,"])
def test_an_excluded_part_is_named_and_makes_nothing_unready(
    client: Client, clock: time_machine.Traveller, query: str
) -> None:
    late(client, clock)
    assert asked(client) == saying(LATE)
    status, body = asked(client, query)
    assert (status, body["status"], body["parts"]) == (200, "ok", saying(LATE)[1]["parts"])


@pytest.mark.parametrize("query", ["?exclude=", "?exclude=presence", "?exclude=cache,files"])
def test_a_late_job_counts_where_other_parts_are_excluded(
    client: Client, clock: time_machine.Traveller, query: str
) -> None:
    late(client, clock)
    assert asked(client, query) == saying(LATE)


def test_the_process_for_event_streams_excludes_parts_too(
    async_client: AsyncClient, client: Client, clock: time_machine.Traveller
) -> None:
    late(client, clock)
    statuses = [
        async_to_sync(async_client.get)(f"/readyz{query}").status_code
        for query in ("", "?exclude=jobs", "?exclude=jobs,files", "?exclude=job")
    ]
    assert statuses == [503, 200, 200, 400]


def test_a_part_that_does_not_exist_cannot_be_excluded(client: Client) -> None:
    answer = client.get("/readyz?exclude=jobs,job,a<b")
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "text/plain; charset=utf-8")
    assert answer.content.decode() == (
        "exclude: no part is named a<b, job. "
        "Parts: cache, database, files, incoming, jobs, migrations, presence, signing_key, static_files.\n"
    )


def test_presence_is_named_and_makes_no_process_unready(
    client: Client, clock: time_machine.Traveller, settings: Settings
) -> None:
    settings.CHAT = replace(settings.CHAT, guild_id="268473310000000000")
    assert asked(client) == saying(presence="no worker has filled the store")
    lookups.alive(store.opened())
    clock.shift(59 * SECOND)
    assert asked(client) == saying(presence="ok")
    clock.shift(SECOND)
    assert asked(client) == saying(presence="stale: last write 60 s ago")


def test_a_store_of_presence_that_does_not_answer_is_named(
    client: Client, clock: time_machine.Traveller, settings: Settings
) -> None:
    settings.CHAT = replace(settings.CHAT, guild_id="268473310000000000")
    backend = "presence.store.redis_cache.PresenceRedisCache"
    settings.CACHES = {**settings.CACHES, "presence": {"BACKEND": backend, "LOCATION": "redis://127.0.0.1:1/0"}}
    assert asked(client) == saying(presence="not reachable")


def test_every_late_job_is_named_with_the_age_of_its_last_success(
    client: Client, clock: time_machine.Traveller
) -> None:
    succeed("tidy", "count")
    clock.shift(3 * HOUR + MINUTE + SECOND)
    assert asked(client) == saying("late: tidy (last success 181 min ago), count (last success 181 min ago)")


def test_a_job_that_fails_is_late_like_one_that_never_runs(client: Client, clock: time_machine.Traveller) -> None:
    succeed("tidy", "count")
    clock.shift(4 * MINUTE + SECOND)
    lease = leases.take(name="count", length=MINUTE, by="a test")
    assert lease is not None
    leases.fail(lease=lease, error=ValueError("No"))
    assert asked(client) == saying("late: count (last success 4 min ago)")


def test_a_process_that_just_started_gives_the_jobs_a_moment(client: Client, clock: time_machine.Traveller) -> None:
    succeed("tidy", "count")
    JobRun.objects.update(succeeded_at=timezone.now() - 30 * 24 * HOUR)  # the whole service was stopped
    clock.move_to(readiness.STARTED_AT + 2 * MINUTE - SECOND)
    assert asked(client) == saying("ok")
    clock.shift(SECOND)
    status, _ = asked(client)
    assert status == 503


def test_a_job_that_is_scheduled_no_longer_is_not_asked_for(
    client: Client, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    succeed("tidy", "count")
    clock.shift(10 * MINUTE)
    monkeypatch.setattr(jobs, "SCHEDULE", {"tidy": HOUR})
    assert asked(client) == saying("ok")


def test_the_jobs_cost_one_query(db: None) -> None:
    jobs.late(timezone.now())
    with CaptureQueriesContext(connection) as queries:
        jobs.late(timezone.now())
    assert len(queries) == 1


def test_a_part_that_hangs_holds_no_answer_and_only_one_thread(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on, began = threading.Event(), list[str]()

    def hang() -> str:
        began.append("hang")
        goes_on.wait(30)
        return ""

    monkeypatch.setattr(readiness, "LIMIT", 0.9)
    monkeypatch.setattr(readiness, "GROUPS", ({"first": hang, "second": lambda: ""}, {"third": lambda: "is wrong"}))
    try:
        for _ in range(3):
            began_at = time.perf_counter()
            status, body = asked(client)
            assert time.perf_counter() - began_at < 2
            assert (status, body["status"]) == (503, "unavailable")
            assert body["parts"] == {"first": readiness.NO_ANSWER, "second": readiness.NO_ANSWER, "third": "is wrong"}
        assert began == ["hang"]
    finally:
        goes_on.set()


@pytest.mark.embedded
def test_a_check_that_fails_takes_no_other_along(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> str:
        raise LookupError("a fault of ours")

    monkeypatch.setattr(readiness, "GROUPS", ({"first": fail, "second": lambda: ""},))
    status, body = asked(client)
    assert (status, body["parts"]) == (503, {"first": readiness.NO_ANSWER, "second": "ok"})
    assert "The check first failed." in caplog.text


def test_a_host_without_collected_static_files_is_not_ready(
    client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.STATIC_ROOT = tmp_path
    storage = ManifestStaticFilesStorage()
    monkeypatch.setattr(readiness, "staticfiles_storage", storage)
    status, body = asked(client)
    advice = "not collected: run manage.py collectstatic --noinput on this host, then restart"
    assert (status, body["parts"]["static_files"]) == (503, advice)
    storage.hashed_files = {"a.css": "a.1.css"}
    assert asked(client) == saying()


def test_the_process_for_event_streams_needs_no_static_files_and_no_folders(
    async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(readiness.GROUPS[1], "static_files", lambda: "not collected")
    monkeypatch.setitem(readiness.GROUPS[2], "files", lambda: "not shared")
    answer = async_to_sync(async_client.get)("/readyz")
    assert answer.status_code == 200
    assert not {"static_files", "files", "incoming"} & (
        answer.json()["parts"].keys() | answer.json()["milliseconds"].keys()
    )


@pytest.mark.parametrize(("alias", "variable"), [("imagehost", "FILES_DIR"), ("uploads", "UPLOADS_DIR")])
def test_a_host_whose_folder_the_others_do_not_share_is_not_ready(
    client: Client, settings: Settings, tmp_path: Path, alias: str, variable: str
) -> None:
    assert asked(client) == saying()
    backend = {"BACKEND": "imagehost.storing.storage.FolderStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, alias: backend}
    status, body = asked(client)
    advice = f"{variable} is not the folder of the other hosts: share it, or set S3_BUCKET"
    assert (status, body["parts"]["files"]) == (503, advice)


def test_a_host_that_cannot_write_its_folder_is_not_ready(client: Client, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "files").write_text("no folder")
    backend = {"BACKEND": "imagehost.storing.storage.FolderStorage", "OPTIONS": {"location": tmp_path / "files"}}
    settings.STORAGES = {**settings.STORAGES, "imagehost": backend}
    status, body = asked(client)
    assert (status, body["parts"]["files"]) == (503, "FILES_DIR: Not a directory")


@pytest.mark.parametrize(("alias", "variable"), [("imagehost", "FILES_DIR"), ("uploads", "UPLOADS_DIR")])
def test_a_host_that_may_only_read_the_shared_folder_is_not_ready(
    client: Client, monkeypatch: pytest.MonkeyPatch, alias: str, variable: str
) -> None:
    """As on a file system that is mounted read-only: root may write wherever that is possible."""
    assert asked(client) == saying()
    folder = getattr(storages[alias], "location")  # noqa: B009 - Django's type has none
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != str(folder) and may(path, mode))
    status, body = asked(client)
    assert (status, body["parts"]["files"]) == (503, f"{variable} cannot be written")


def test_without_redis_the_folders_are_not_called_unreachable(client: Client, settings: Settings) -> None:
    default = {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1/0"}
    settings.CACHES = {**settings.CACHES, "default": default}
    status, body = asked(client)
    assert (status, body["parts"]["cache"]) == (503, "not reachable")
    assert body["parts"]["files"] == "Redis is not reachable, in which hosts compare their folders"


def test_a_full_disk_for_uploads_is_named(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=250 * 1024 * 1024))
    assert asked(client) == saying()
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=250 * 1024 * 1024 - 1))
    status, body = asked(client)
    sentence = "INCOMING_DIR is full: 249 MB are left, and an upload takes up to 250"
    assert (status, body["parts"]["incoming"]) == (503, sentence)


@pytest.mark.live
def test_a_full_redis_is_named(
    client: Client, settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with contextlib.ExitStack() as stack:
        (port,) = stack.enter_context(ports.held(1))
        program = programs.found("redis-server")["redis-server"]
        servers.start_redis(program, tmp_path / "redis", port, stack, "--maxmemory", "1")
        default = {**settings.CACHES["default"], "LOCATION": f"redis://127.0.0.1:{port}/0"}
        settings.CACHES = {**settings.CACHES, "default": default}
        status, body = asked(client)
        assert (status, body["parts"]["cache"]) == (503, "Redis is full (maxmemory) and refuses to write")
        with pytest.raises(RedisError) as refused:
            cache.set("a", "b")
        assert outages.server_of(refused.value) == "Redis (full)"


def test_a_state_is_given_again_for_two_seconds(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asks: list[str] = []

    def check() -> str:
        asks.append("first")
        return ""

    monkeypatch.setattr(readiness, "GROUPS", ({"first": check},))
    monkeypatch.setattr(readiness, "KEPT", 30)
    assert [asked(client)[0] for _ in range(3)] == [200] * 3
    assert asks == ["first"]
    monkeypatch.setattr(readiness, "KEPT", 0)
    asked(client)
    assert asks == ["first"] * 2


def test_a_busy_host_says_what_it_found_last(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    is_busy, goes_on = False, threading.Event()

    def check() -> str:
        return "" if not is_busy or goes_on.wait(30) else "never"

    monkeypatch.setattr(readiness, "GROUPS", ({"first": check},))
    monkeypatch.setattr(readiness, "REMEMBERED", 30)
    assert asked(client)[0] == 200
    is_busy = True
    monkeypatch.setattr(readiness, "LIMIT", 0.1)
    try:
        assert asked(client)[0] == 200
        monkeypatch.setattr(readiness, "REMEMBERED", 0)
        status, body = asked(client)
        assert (status, body["parts"]) == (503, {"first": readiness.NO_ANSWER})
    finally:
        goes_on.set()


class TestHost:
    """`/readyz/host`."""

    @pytest.fixture(autouse=True)
    def _fresh(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """As in a process that has just started."""
        monkeypatch.setattr(readiness, "_migrated", threading.Event())

    def ask(self, client: Client) -> tuple[int, dict[str, str]]:
        answer = client.get("/readyz/host")
        assert "no-store" in answer.headers["Cache-Control"]
        return answer.status_code, answer.json()["parts"]

    def test_it_waits_for_the_migrations_and_then_asks_no_database(self, client: Client) -> None:
        recorder = MigrationRecorder(connection)
        (last,) = recorder.migration_qs.filter(app="sessions").order_by("-id")[:1]
        recorder.record_unapplied(last.app, last.name)
        try:
            assert self.ask(client) == (503, {"static_files": "ok", "migrations": "1 migrations are waiting"})
        finally:
            recorder.record_applied(last.app, last.name)
        assert self.ask(client) == (200, {"static_files": "ok", "migrations": "ok"})
        recorder.record_unapplied(last.app, last.name)
        try:
            with CaptureQueriesContext(connection) as queries:
                assert self.ask(client) == (200, {"static_files": "ok"})
            assert len(queries) == 0
        finally:
            recorder.record_applied(last.app, last.name)

    def test_what_all_hosts_share_takes_none_of_them_out(self, client: Client, settings: Settings) -> None:
        """Late jobs, no signing key, and a Redis that is away."""
        assert self.ask(client)[0] == 200
        default = {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1/0"}
        settings.CACHES = {**settings.CACHES, "default": default}
        SigningKey.objects.all().delete()
        assert asked(client)[0] == 503
        assert self.ask(client)[0] == 200

    def test_a_host_without_static_files_is_out(
        self,
        client: Client,
        async_client: AsyncClient,
        settings: Settings,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        settings.STATIC_ROOT = tmp_path
        monkeypatch.setattr(readiness, "staticfiles_storage", ManifestStaticFilesStorage())
        status, parts = self.ask(client)
        assert (status, parts["static_files"][:13]) == (503, "not collected")
        assert async_to_sync(async_client.get)("/readyz/host").status_code == 200  # it serves no pages
