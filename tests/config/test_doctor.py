"""`manage.py doctor`: each check against the real thing, healthy and with one thing changed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import JobRun
from config.doctor import Finding, Level, servers
from config.jobs import SCHEDULE
from config.management.commands import doctor
from oidc_provider.token import signing
from tests.config import edge_proxies
from tests.factories.accounts import UserFactory
from tests.journeys.post_office import SmtpPostOffice
from tests.support import redis_commands

pytestmark = pytest.mark.django_db(transaction=True)

HEADER = "X-Client-Address"
SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.fixture(autouse=True)
def folders(settings: Settings, tmp_path: Path) -> Path:
    """Both stores are folders of this test's own."""
    stores = {
        name: {"BACKEND": "imagehost.storing.storage.FolderStorage", "OPTIONS": {"location": tmp_path / name}}
        for name in ("imagehost", "uploads")
    }
    settings.STORAGES = {**settings.STORAGES, **stores}
    settings.IMAGEHOST_INCOMING = tmp_path / "incoming"
    settings.CHAT = replace(settings.CHAT, guild_id="")
    cache.delete_many(["files-mark-imagehost", "files-mark-uploads"])  # of another test, which had other folders
    return tmp_path


@pytest.fixture
def smtp() -> Iterator[SmtpPostOffice]:
    with closing(SmtpPostOffice()) as post_office:
        yield post_office


def found(name: str) -> list[Finding]:
    return list(doctor.examine(name))


def levels(name: str) -> set[Level]:
    return {finding.level for finding in found(name)}


def only(name: str) -> Finding:
    (finding,) = found(name)
    return finding


HEALTHY = [
    "database",
    "migrations",
    "signing keys",
    "secrets",
    "redis",
    "clock",
    "files",
    "disk",
    "uploads",
    "mail",
    "presence",
]


@pytest.mark.embedded
@pytest.mark.parametrize("name", HEALTHY)
def test_a_check_of_what_is_well_says_what_it_saw(name: str, settings: Settings) -> None:
    settings.OPERATOR_EMAILS = ["night@example.org"]
    signing.ensure_signing_key()
    seen = found(name)
    # The tests' own role is a superuser.
    loud = [finding for finding in seen if finding.level != Level.OK and finding.text != "the role is a superuser"]
    assert seen
    assert loud == []


def test_the_checks_leave_nothing_behind(folders: Path) -> None:
    found("files")
    found("uploads")
    assert [path for path in folders.rglob("*") if path.is_file() and path.parent.name != ".marks"] == []
    assert list(folders.rglob("doctor")) == []


def test_a_database_that_is_away_fails(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
    monkeypatch.setitem(connection.settings_dict, "PORT", "1")
    assert only("database").level == Level.FAILURE
    assert only("database").fix == doctor.FIX


@pytest.mark.parametrize(
    ("limit", "name", "text"),
    [
        ("FULL", "database", "connections are in use"),
        ("SLOW", "database", "a round trip takes"),
        ("SLOW", "redis", "a round trip takes"),
    ],
)
def test_a_server_at_its_limit_is_a_warning(monkeypatch: pytest.MonkeyPatch, limit: str, name: str, text: str) -> None:
    monkeypatch.setattr(servers, limit, -1)
    assert any(finding.level == Level.WARNING and text in finding.text for finding in found(name))


def test_a_redis_that_is_away_fails(settings: Settings) -> None:
    settings.CACHES = {**settings.CACHES, **redis_commands.UNREACHABLE}
    assert only("redis").level == Level.FAILURE


def test_a_redis_that_may_evict_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presence.store.redis_cache.PresenceRedisCache.eviction", lambda self: "allkeys-lru")
    assert [finding.fix for finding in found("redis") if finding.level == Level.FAILURE] == [
        "Set maxmemory-policy noeviction."
    ]


@pytest.mark.parametrize(
    ("seconds", "level"), [(1.5, Level.OK), (-2.5, Level.WARNING), (29, Level.WARNING), (31, Level.FAILURE)]
)
def test_a_clock_that_differs(monkeypatch: pytest.MonkeyPatch, seconds: float, level: Level) -> None:
    clock = servers._redis_time
    monkeypatch.setattr(servers, "_redis_time", lambda: clock() + seconds)
    assert [finding.level for finding in found("clock") if "Redis" in finding.text] == [level]


def test_a_signing_key_of_another_secret_fails(settings: Settings) -> None:
    kid = signing.ensure_signing_key().kid
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["another"]
    assert only("signing keys").text == f"{kid} cannot be decrypted"


def test_an_encryption_secret_is_needed_until_the_keys_are_encrypted_anew(settings: Settings) -> None:
    signing.ensure_signing_key()
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["new", *settings.SIGNING_KEY_ENCRYPTION_KEYS]
    waiting = only("secrets")
    assert waiting.text == "1 signing keys are not encrypted with the first secret"
    assert "signing_keys reencrypt" in waiting.fix
    signing.reencrypt()
    done = only("secrets")
    assert (done.level, done.text) == (Level.WARNING, "no signing key needs the last 1 of SIGNING_KEY_ENCRYPTION_KEYS")
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["new"]
    assert only("secrets").level == Level.OK


@pytest.mark.embedded
def test_a_secret_key_is_needed_while_a_session_is_signed_with_it(settings: Settings) -> None:
    signing.ensure_signing_key()
    client = Client()
    client.force_login(UserFactory())
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new", [settings.SECRET_KEY]
    text = "{} of the 1 sessions that end next need SECRET_KEY_FALLBACKS"
    assert (only("secrets").level, only("secrets").text) == (Level.OK, text.format(1))
    assert client.get("/dashboard/").status_code == 200
    assert (only("secrets").level, only("secrets").text) == (Level.WARNING, text.format(0))


def test_no_signing_key_fails() -> None:
    signing.forget_cached_signer()
    assert only("signing keys").text == "no key signs id_tokens"


def test_a_folder_that_cannot_be_written_fails(settings: Settings, folders: Path) -> None:
    (folders / "uploads").write_text("a file, not a folder")
    assert [finding.level for finding in found("files")] == [Level.OK, Level.FAILURE]


@pytest.mark.parametrize(("free", "level"), [(0.5, Level.FAILURE), (9, Level.WARNING), (11, Level.OK)])
def test_a_full_disk(monkeypatch: pytest.MonkeyPatch, free: float, level: Level) -> None:
    gibibyte = 2**30
    usage = type("Usage", (), {"total": 100 * gibibyte, "free": int(free * gibibyte)})
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    assert levels("disk") == {level}


@pytest.mark.parametrize(
    ("free", "levels_found"),
    [
        (999, {Level.OK, Level.FAILURE}),
        (9_000, {Level.OK, Level.WARNING}),
        (10_000, {Level.OK}),
        (0, {Level.OK, Level.FAILURE}),
    ],
)
def test_few_inodes(monkeypatch: pytest.MonkeyPatch, free: int, levels_found: set[Level]) -> None:
    found = SimpleNamespace(
        f_files=100_000, f_favail=free, f_bavail=2**20, f_bfree=2**20, f_blocks=2**20, f_frsize=2**20
    )
    monkeypatch.setattr("os.statvfs", lambda path: found)
    assert levels("disk") == levels_found


def test_a_file_system_that_makes_inodes_as_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = SimpleNamespace(f_files=0, f_favail=0, f_bavail=2**20, f_bfree=2**20, f_blocks=2**20, f_frsize=2**20)
    monkeypatch.setattr("os.statvfs", lambda path: found)
    assert levels("disk") == {Level.OK}


def test_a_mail_server_that_takes_mails(settings: Settings, smtp: SmtpPostOffice) -> None:
    settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = SMTP, "127.0.0.1", smtp.port
    settings.OPERATOR_EMAILS = ["night@example.org"]
    assert only("mail").level == Level.OK
    settings.OPERATOR_EMAILS = []
    assert [finding.level for finding in found("mail")] == [Level.OK, Level.WARNING]
    assert "OPERATOR_EMAILS" in found("mail")[1].fix


@pytest.mark.parametrize(
    "changes", [{"EMAIL_PORT": 1}, {"EMAIL_USE_TLS": True}, {"EMAIL_USE_SSL": True}, {"EMAIL_HOST_USER": "id"}]
)
def test_a_mail_server_that_does_not(settings: Settings, smtp: SmtpPostOffice, changes: dict[str, Any]) -> None:
    """It is away, speaks no TLS, knows no users."""
    settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = SMTP, "127.0.0.1", smtp.port
    settings.EMAIL_HOST_PASSWORD = "wrong"
    for name, value in changes.items():
        setattr(settings, name, value)
    assert only("mail").level == Level.FAILURE


def serve_at(url: str, settings: Settings) -> None:
    settings.BASE_URL, settings.IMAGE_CDN_URL = url, f"{url}/media"
    settings.HOSTS = [*settings.HOSTS, urlsplit(url).netloc]


@pytest.mark.parametrize(
    ("manner", "text"),
    [
        ("overwrites", "; X-Client-Address comes from the proxy alone"),
        ("sends nothing", "the proxy does not send X-Client-Address"),
        ("passes on", "the proxy passes on the X-Client-Address of clients: they may choose their address"),
        ("passes on underscores", "the proxy passes on the X_Client_Address of clients: they may choose their address"),
    ],
)
def test_the_header_of_the_edge_proxy(settings: Settings, live_server: Any, manner: str, text: str) -> None:
    settings.EDGE_CLIENT_ADDRESS_HEADER = HEADER
    with edge_proxies.running(manner, HEADER, live_server.url) as url:
        serve_at(url, settings)
        finding = only("address")
    assert finding.text.removeprefix(f"{url} answers") == text
    assert (finding.level == Level.OK) == (manner == "overwrites")


def test_the_address_of_another_service_fails(settings: Settings, live_server: Any) -> None:
    settings.EDGE_CLIENT_ADDRESS_HEADER = HEADER
    with edge_proxies.running("overwrites", HEADER, live_server.url) as url:
        serve_at(url.replace("127.0.0.1", "localhost"), settings)
        settings.HOSTS = [*settings.HOSTS, urlsplit(url).netloc]
        assert only("address").level == Level.OK
    settings.BASE_URL = "http://127.0.0.1:1"
    refused = "ConnectionRefusedError: [Errno 111] Connection refused"
    assert only("address").text == f"http://127.0.0.1:1 does not answer as this service: {refused}"
    assert only("event streams").text == f"no answer: {refused}"


def test_the_address_of_event_streams(settings: Settings, live_server: Any) -> None:
    settings.BASE_URL = live_server.url
    assert only("event streams").level == Level.OK
    settings.BASE_URL = f"{live_server.url}/docs"
    assert only("event streams").text == "the address answers 404"


def test_jobs_that_never_ran_are_a_warning_and_late_ones_a_failure() -> None:
    assert only("jobs").level == Level.WARNING
    now = timezone.now()
    JobRun.objects.update(started_at=now, succeeded_at=now)
    assert only("jobs").text == f"all {len(SCHEDULE)} are on time"
    JobRun.objects.filter(name="fold_visits").update(succeeded_at=now - timedelta(minutes=5))
    assert only("jobs").text.startswith("fold_visits: late")


def test_presence_without_a_worker_is_a_warning(settings: Settings) -> None:
    settings.CHAT = replace(settings.CHAT, guild_id="1")
    assert only("presence") == Finding(
        Level.WARNING,
        "no worker has filled the store",
        "Start manage.py run_presence_gateway (id-gateway@1.service) and read its log.",
    )


def test_the_command_ends_with_an_error_where_something_fails(settings: Settings) -> None:
    settings.BASE_URL = "http://127.0.0.1:1"
    output = io.StringIO()
    with pytest.raises(CommandError, match=r"^1 failures, 0 warnings\.$"):
        call_command("doctor", "migrations", "address", stdout=output)
    lines = output.getvalue().splitlines()
    assert lines[0] == "ok       migrations: all are applied"
    assert lines[1].startswith("failure  address: http://127.0.0.1:1 does not answer as this service: Connection")
    assert lines[2].startswith("         → Is the web server started")


def test_the_command_says_that_all_is_well() -> None:
    output = io.StringIO()
    call_command("doctor", "migrations", stdout=output)
    assert output.getvalue().splitlines()[-1] == "All is well."


def test_the_command_names_the_checks_that_there_are() -> None:
    with pytest.raises(CommandError, match=r"^There is no check 'databases'; there are: settings, database, "):
        call_command("doctor", "databases")
