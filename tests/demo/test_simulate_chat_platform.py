"""manage.py simulate_chat_platform."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
import requests
from django.conf import settings as project
from django.core.management import CommandError, call_command
from django.db import connection

from accounts.models import LinkedAccount
from demo.chat_platform import life, running
from demo.chat_platform import members as featured
from demo.management.commands import simulate_chat_platform
from tests.factories.accounts import LinkedAccountFactory
from tests.presence.workers import wait_until
from tests.support import ports

MIRA = "268473310986250001"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks around often."""
    monkeypatch.setattr(simulate_chat_platform, "LOOK_AT_ACCOUNTS", 0.05)
    monkeypatch.setattr(simulate_chat_platform, "LOOK_AT_PARENT", 0.05)
    monkeypatch.setattr(life, "TICK", 0.05)


@pytest.fixture
def port(settings: Any) -> Iterator[int]:
    """A free one, which the settings name, together with a server and a token."""
    with ports.held() as (free,):
        settings.CHAT = replace(
            project.CHAT, simulator_port=free, guild_id=running.GUILD, bot_token=running.TOKEN, oauth_client_secret="s"
        )
        yield free


def get(port: int, path: str) -> tuple[int, Any]:
    headers = {"Authorization": f"Bot {running.TOKEN}"}
    answer = requests.get(f"http://127.0.0.1:{port}{path}", headers=headers, timeout=10)
    return answer.status_code, answer.json()


def members(port: int) -> dict[str, Any]:
    """Their names by id, without the bot."""
    status, listed = get(port, f"/api/v10/guilds/{running.GUILD}/members?limit=1000")
    assert status == 200
    return {one["user"]["id"]: one["user"]["username"] for one in listed if not one["user"].get("bot")}


class Companion:
    """Does something in a thread as soon as the platform has said that it runs, then sends this process the signal.

    It is also what the command writes its lines to.
    """

    def __init__(self, act: Callable[[], None], number: int = signal.SIGTERM) -> None:
        self.act, self.number = act, number
        self.printed = ""
        self.failure: Exception | AssertionError | None = None
        self.thread = threading.Thread(target=self._work)

    def write(self, text: str) -> None:
        self.printed += text
        if not self.thread.ident:
            self.thread.start()

    def flush(self) -> None:
        """Nothing waits."""

    def _work(self) -> None:
        try:
            self.act()
        except (AssertionError, OSError, TimeoutError) as failure:  # raised again in the test
            self.failure = failure
        finally:
            connection.close()
            os.kill(os.getpid(), self.number)

    def run(self, *arguments: str) -> str:
        """What the command said."""
        call_command("simulate_chat_platform", *arguments, stdout=self)
        self.thread.join()
        if self.failure is not None:
            raise self.failure
        return self.printed


@pytest.mark.django_db(transaction=True)
class TestRunning:
    """Linked accounts are committed: the command and its companion have a connection each."""

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_it_says_where_it_is_and_ends_when_it_is_asked_to(self, port: int, number: int) -> None:
        sentence = Companion(lambda: None, number).run("--members", "7")
        assert sentence == f"Simulated chat platform with 7 members on http://127.0.0.1:{port}.\n"
        with socket.create_server(("127.0.0.1", port)):
            pass

    def test_linked_accounts_are_members_and_the_rest_is_made_up(self, port: int) -> None:
        LinkedAccountFactory(external_id=featured.ADA, name="Ada")
        LinkedAccountFactory(external_id=MIRA, name="Mira.B")
        LinkedAccountFactory(external_id="no-id", name="odd")
        LinkedAccountFactory(kind=LinkedAccount.Kind.SCROBBLER, external_id="mira-listens", name="mira-listens")

        def act() -> None:
            names = members(port)
            assert (len(names), names[featured.ADA], names[MIRA]) == (29, "ada", "mira.b")
            status, ada = get(port, f"/api/v10/users/{featured.ADA}")
            assert (status, ada["banner"][:2], ada["avatar"][:2]) == (200, "a_", "a_")
            assert get(port, f"/profiles/{featured.ADA}") == (200, featured.words.PROFILES[featured.ADA])
            unknown = {"message": "Unknown Member", "code": 10007}
            assert get(port, f"/api/v10/guilds/{running.GUILD}/members/{featured.STRANGER}") == (404, unknown)

        Companion(act).run("--members", "30")

    def test_who_is_linked_later_joins(self, port: int) -> None:
        def act() -> None:
            LinkedAccountFactory(external_id=featured.STRANGER, name="Late")
            wait_until(lambda: members(port).get(featured.STRANGER) == "passing.fox")

        Companion(act).run("--members", "3")

    def test_it_ends_with_its_parent(self, port: int) -> None:
        out = StringIO()
        call_command("simulate_chat_platform", "--members", "1", "--parent", "1", stdout=out)
        assert out.getvalue() == f"Simulated chat platform with 1 members on http://127.0.0.1:{port}.\n"


@pytest.mark.django_db
def test_a_port_that_is_taken_is_named_in_a_sentence(port: int) -> None:
    with socket.create_server(("127.0.0.1", port)), pytest.raises(CommandError) as refused:
        call_command("simulate_chat_platform")
    assert str(refused.value) == (
        f"Port {port} is taken: perhaps a simulated chat platform is running already. "
        f"Choose another one with --port or CHAT_SIMULATOR_PORT."
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--port", "-1"], "The port must be 1 to 65535."),
        (["--port", "65536"], "The port must be 1 to 65535."),
        ([], "The chat platform of the settings is no simulated one. With --port it runs all the same."),
    ],
)
def test_what_cannot_be_simulated_is_refused_with_a_sentence(
    settings: Any, arguments: list[str], sentence: str
) -> None:
    settings.CHAT = replace(project.CHAT, simulator_port=0)
    with pytest.raises(CommandError) as refused:
        call_command("simulate_chat_platform", *arguments)
    assert str(refused.value) == sentence
