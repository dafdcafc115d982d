"""Demo data: made once, repaired where something is missing. `run_embedded`: what it refuses, prepares and starts."""

import json
import socket
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from accounts import bans
from accounts.api_keys import keys
from accounts.models import AuditEvent, LinkedAccount, User
from config import chat
from config.management.commands import run_embedded
from demo import profile_content, seeding
from imagehost.models import File, Folder
from oidc_provider.applications import applications
from oidc_provider.models import Application, Team
from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db
Entry = dict[str, Any]  # Any: a JSON value
COMMAND = "config.management.commands.run_embedded"


@pytest.fixture(autouse=True)
def _embedded(settings: Any, directory: Path) -> None:
    settings.EMBEDDED, settings.HOST, settings.PORT = True, "127.0.0.1", 0


def assert_works(entry: Entry) -> None:
    """Every password, secret and key of `entry` opens what it says."""
    for person in [entry["operator"], *entry["users"]]:
        assert User.objects.by_username(person["username"]).get().check_password(person["password"])
    for name in ("app", "second_app"):
        app = Application.objects.get(client_id=entry[name]["client_id"])
        assert app.check_secret(entry[name]["client_secret"])
    for key in entry["api_keys"]:
        found = keys.find(key["key"])
        assert found is not None
        assert found.revoked_at is None


def test_the_demo_has_folders_and_rules_once(entry: Entry) -> None:
    ada = User.objects.by_username("ada").get()
    rules = ada.folder_rules.order_by("position").values_list("kind", "pattern", "folder__name")
    expected = [("filename", "*secret*", "Private"), ("mime", "video/*", "Clips"), ("extension", "png", "Screenshots")]
    assert list(rules) == expected
    Folder.objects.get(name="Clips").delete()
    seeding.seed()
    assert list(rules.all()) == [expected[0], expected[2]]


def test_the_demo_has_everything_in_it(settings: Any, entry: Entry) -> None:
    assert json.loads(seeding.path().read_text()) == entry
    assert stat.S_IMODE(seeding.path().stat().st_mode) == 0o600
    assert_works(entry)
    assert entry["base_url"] == settings.BASE_URL
    assert (entry["operator"]["username"], entry["operator"]["uid"]) == ("keeper", 0)
    assert [(person["username"], person["uid"]) for person in entry["users"]] == [("ada", 1), ("ben", 2), ("cleo", 3)]
    ada, ben, cleo = (User.objects.get(pk=person["id"]) for person in entry["users"])
    assert entry["users"][0]["chatId"] == ada.linked_accounts.get(kind="CHAT").external_id
    assert entry["users"][1]["chatId"] is None
    assert ada.linked_accounts.filter(kind="SCROBBLER").exists()
    assert (ada.display_name, ada.unlocked_scopes, ben.unlocked_scopes) == (
        "Ada Example",
        ["email", "connections"],
        [],
    )
    assert cleo.plan == "PREMIUM"
    assert entry["app"]["scopes"] == ["openid", "identify", "email", "connections", "offline_access"]
    assert entry["app"]["redirect_uris"] == ["http://127.0.0.1:9999/callback", "https://app.example/callback"]
    assert entry["second_app"]["scopes"] == ["openid", "identify"]
    assert [key["permissions"] for key in entry["api_keys"]] == [
        ["account"],
        ["imagehost:upload"],
        ["lookup:user"],
        ["lookup:presence"],
    ]


def test_a_second_start_changes_nothing(entry: Entry) -> None:
    assert set(entry) == {"base_url", "operator", "users", "app", "second_app", "api_keys", "chat"}
    events, written = AuditEvent.objects.count(), seeding.path().stat().st_mtime_ns
    assert seeding.seed() == entry
    assert AuditEvent.objects.count() == events
    assert seeding.path().stat().st_mtime_ns == written


@pytest.mark.parametrize("content", [None, "{"])
def test_a_lost_or_broken_file_is_made_again_with_fresh_secrets(entry: Entry, content: str | None) -> None:
    seeding.path().unlink()
    if content is not None:
        seeding.path().write_text(content)
    second = seeding.seed()
    assert_works(second)
    assert stat.S_IMODE(seeding.path().stat().st_mode) == 0o600
    assert (User.objects.count(), Application.objects.count(), Team.objects.count()) == (
        4 + profile_content.MEMBERS,
        3,
        2,
    )
    assert second["app"]["client_id"] == entry["app"]["client_id"]
    assert second["app"]["client_secret"] != entry["app"]["client_secret"]
    assert second["users"][0]["password"] != entry["users"][0]["password"]
    old = keys.find(entry["api_keys"][0]["key"])
    assert old is not None
    assert old.revoked_at is not None


def test_only_what_is_missing_is_made_again(entry: Entry) -> None:
    app = Application.objects.get(client_id=entry["app"]["client_id"])
    applications.delete(application=app, by=None)
    second = seeding.seed()
    assert_works(second)
    assert second["app"]["client_id"] != entry["app"]["client_id"]
    assert {**second, "app": None} == {**entry, "app": None}


def test_a_file_of_another_database_is_made_again(entry: Entry) -> None:
    Application.objects.all().delete()
    File.objects.all().delete()
    User.objects.all().delete()
    kind, external_id, name = seeding.PEOPLE[0].linked[0]
    LinkedAccount.objects.create(user=UserFactory(), kind=kind, external_id=external_id, name=name)
    second = seeding.seed()
    assert_works(second)
    assert second["users"][0]["id"] != entry["users"][0]["id"]
    assert second["users"][0]["chatId"] is None  # an account that another user has linked stays theirs


def test_a_renamed_demo_user_stays_the_same_user_at_another_address(settings: Any, entry: Entry) -> None:
    ada = User.objects.get(pk=entry["users"][0]["id"])
    ada.username = "ada2"
    ada.save()
    settings.BASE_URL = "http://127.0.0.1:8999"
    assert seeding.seed() == {**entry, "base_url": "http://127.0.0.1:8999"}
    seeding.path().unlink()
    assert seeding.seed()["users"][0]["username"] == "ada2"


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The commands that it calls and the command line that the process becomes."""
    called: list[Any] = []
    monkeypatch.setattr(f"{COMMAND}.os.execv", lambda program, arguments: called.append(arguments))
    monkeypatch.setattr(f"{COMMAND}.os.chdir", lambda directory: None)
    monkeypatch.setattr(f"{COMMAND}.connections.close_all", lambda: None)
    monkeypatch.setattr(f"{COMMAND}.forks.start", lambda program, run: replace(program, pid=1))
    monkeypatch.setattr(f"{COMMAND}.call_command", lambda name, **options: called.append(name))
    return called


def test_run_embedded_refuses_a_production_database(settings: Any) -> None:
    settings.EMBEDDED = False
    with pytest.raises(CommandError, match="DATABASE_URL"):
        call_command("run_embedded")


def test_run_embedded_refuses_a_busy_port_before_it_does_anything(settings: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings.PORT = taken.getsockname()[1]
        with pytest.raises(CommandError, match=r"Cannot listen on 127\.0\.0\.1"):
            call_command("run_embedded")
    assert not seeding.path().exists()


def test_run_embedded_does_not_close_a_directory_that_others_share(directory: Path) -> None:
    directory.chmod(0o1777)
    with pytest.raises(CommandError, match="a directory of its own"):
        call_command("run_embedded")
    assert stat.S_IMODE(directory.stat().st_mode) == 0o1777


def test_a_banned_demo_owner_does_not_stop_the_service(
    entry: Entry, called: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    applications.delete(application=Application.objects.get(client_id=entry["app"]["client_id"]), by=None)
    bans.ban(user=User.objects.get(pk=entry["users"][0]["id"]), by=None, reason="Test")
    call_command("run_embedded")
    assert called[-1][1:-1] == ["-m", "config.operations.supervisor"]
    assert "The demo data could not be made: This account is banned." in capsys.readouterr().err


def test_run_embedded_prepares_everything_and_becomes_the_supervisor(
    settings: Any, entry: Entry, directory: Path, called: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    settings.CHAT, _ = chat.options(directory, has_demo=True, web_port=40_000)
    settings.STATIC_ROOT = directory / "static"
    settings.STATIC_ROOT.mkdir()
    call_command("run_embedded")
    call_command("run_embedded")
    printed = capsys.readouterr().out
    assert entry["operator"]["password"] in printed
    assert entry["users"][0]["password"] in printed
    assert [name for name in called if isinstance(name, str)] == ["collectstatic"]  # all is migrated
    supervisor = next(line for line in called if isinstance(line, list))
    assert supervisor[1:-1] == ["-m", "config.operations.supervisor"]
    web, *others = json.loads(supervisor[-1])
    assert web["argv"][1:5] == ["-m", "granian", "--interface", "asgi"]
    assert web["argv"][-1] == "config.web.embedded:application"
    assert {program["pid"] for program in (web, *others)} == {1 if sys.platform == "linux" else None}
    names = ["run_jobs", "simulate_chat_platform", "run_presence_gateway"]
    assert [other["argv"][2] for other in others] == names
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_a_start_migrates_where_a_migration_is_missing(entry: Entry, called: list[Any]) -> None:
    MigrationRecorder(connection).record_unapplied("accounts", "0001_models")
    call_command("run_embedded")
    assert called[0] == "migrate"


@pytest.mark.parametrize(
    ("guild_id", "port", "names"),
    [("", 0, ["run_jobs"]), ("1" * 18, 0, ["run_jobs", "run_presence_gateway"])],
    ids=["no chat platform", "a real one"],
)
def test_only_what_is_needed_is_started(settings: Any, guild_id: str, port: int, names: list[str]) -> None:
    settings.CHAT = replace(settings.CHAT, guild_id=guild_id, simulator_port=port)
    assert [program.name for program in run_embedded._other_programs()] == names
