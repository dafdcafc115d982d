"""`run_presence_gateway` as a process of its own: its end, the state after a kill, and the takeover."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import caches
from django.core.management import CommandError, call_command

from presence.store.store import LEASE, LEASE_SECONDS, PresenceStore
from presence.worker import last_seen
from tests.config import process_table
from tests.presence import outages, store_contents, workers
from tests.presence.gateway_process import ROOT, Starter
from tests.presence.workers import wait_for_status, wait_for_truth, wait_until, working
from tests.support import processes
from tests.support.chat_platform import Simulator

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

ADA, BOB, EVE = 268473310000000011, 268473310000000012, 268473310000000013


@pytest.fixture
def start(simulator: Simulator) -> Iterator[Starter]:
    """Ada is online, Bob is idle."""
    simulator.add_member(ADA, presence={"status": "online"})
    simulator.add_member(BOB, presence={"status": "idle"})
    with contextlib.closing(Starter(simulator)) as starter:
        yield starter


class TestEnd:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_a_signal_ends_it_cleanly_and_soon(
        self, start: Starter, simulator: Simulator, store: PresenceStore, number: int
    ) -> None:
        gateway = start()
        wait_for_truth(store)
        simulator.set_presence(ADA, {"status": "offline"})
        wait_for_status(store, ADA, "offline")
        exit_code, seconds = gateway.end(number)
        assert (exit_code, seconds < 20, gateway.log_entries()) == (0, True, [])
        assert store.take_lease("another worker")  # free at once
        assert set(last_seen.all_of()) == {ADA}  # the last flush is done

    def test_it_ends_with_its_parent(self, start: Starter, store: PresenceStore) -> None:
        script = (
            "import os, subprocess, sys, time\n"
            "child = subprocess.Popen([*sys.argv[1:], '--parent', str(os.getpid())])\n"
            "print(child.pid, flush=True)\n"
            "time.sleep(600)\n"
        )
        command = [sys.executable, "-c", script, *start.command()]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True) as parent:
            try:
                assert parent.stdout is not None
                child = int(parent.stdout.readline())
                wait_for_truth(store)
                parent.kill()
                process_table.wait_until_gone(child)
            finally:
                processes.kill_group(parent)


class TestRefused:
    def test_a_fatal_close_code_ends_it_for_good(
        self, start: Starter, simulator: Simulator, store: PresenceStore
    ) -> None:
        gateway = start()
        wait_for_truth(store)
        simulator.close_with(4014)
        assert gateway.process.wait(30) == 78
        last = gateway.log_entries()[-1]
        assert (last["level"], last["logger"]) == ("CRITICAL", "presence.management.commands.run_presence_gateway")
        assert "code 4014" in last["message"]
        assert simulator.counters.identifies == 1

    def test_a_wrong_token_ends_it_for_good(self, start: Starter) -> None:
        gateway = start(bot_token="MjY4.wrong.token")
        assert gateway.process.wait(30) == 78
        assert [(entry["level"], entry["message"]) for entry in gateway.log_entries()] == [
            ("CRITICAL", "Live presence has ended: The platform does not accept the bot token.")
        ]
        assert "wrong" not in gateway.log.read_text()

    def test_without_a_chat_server_there_is_nothing_to_do(self, settings: Any) -> None:
        settings.CHAT = replace(settings.CHAT, guild_id="")
        with pytest.raises(CommandError, match="CHAT_GUILD_ID") as raised:
            call_command("run_presence_gateway")
        assert raised.value.returncode == 78


class TestKilled:
    def test_nothing_stale_stays_and_last_online_is_right(
        self, start: Starter, simulator: Simulator, store: PresenceStore
    ) -> None:
        simulator.add_member(EVE, presence={"status": "online"})
        gateway = start()
        wait_for_truth(store)
        simulator.set_presence(BOB, {"status": "offline"})
        wait_for_status(store, BOB, "offline")
        bob = store.snapshot(BOB).record
        gateway.process.kill()
        gateway.process.wait()
        alive_at = store.alive_at()
        assert bob is not None
        assert alive_at is not None
        simulator.set_presence(ADA, {"status": "offline"})
        simulator.remove_member(EVE)
        start()
        wait_for_truth(store)
        assert workers.statuses(store, [ADA, BOB, EVE]) == {ADA: "offline", BOB: "offline", EVE: "absent"}
        moments = {ADA: int(alive_at), BOB: bob.last_online}
        records = {chat_id: store.snapshot(chat_id).record for chat_id in moments}
        assert {chat_id: record.last_online if record else None for chat_id, record in records.items()} == moments
        wait_until(lambda: last_seen.all_of() == moments)


def term(store: PresenceStore) -> str:
    """The token under which the last record was written."""
    return store.mark().rpartition(" ")[0]


def wait_for_stamps(store: PresenceStore, count: int) -> None:
    """The worker stamps each second, and renews its lease as often."""
    stamps: list[float | None] = []

    def is_enough() -> bool:
        if store.alive_at() not in stamps:
            stamps.append(store.alive_at())
        return len(stamps) > count

    wait_until(is_enough)


@pytest.mark.parametrize("ahead", [-4.0, 4.0])
def test_a_clock_of_a_host_takes_no_part(
    simulator: Simulator, store: PresenceStore, start: Starter, ahead: float
) -> None:
    """The standby takes no lease that is renewed, and follows within the lease's time."""
    first = start(ahead=ahead)
    wait_until(lambda: store.alive_at() is not None)
    with working(simulator, store) as second:
        wait_until(lambda: second.stats()["ready"])
        led_by = term(store)
        wait_for_stamps(store, 6)
        simulator.set_presence(ADA, {"status": "idle"})
        wait_for_status(store, ADA, "idle")
        assert (term(store), second.stats()["leader"]) == (led_by, False)
        first.process.kill()
        killed_at = time.monotonic()
        simulator.set_presence(ADA, {"status": "dnd"})
        wait_until(lambda: second.stats()["leader"])
        assert time.monotonic() - killed_at < LEASE_SECONDS + 1
        wait_for_status(store, ADA, "dnd")
        wait_for_truth(store)
        assert workers.statuses(store, [ADA, BOB, EVE]) == {ADA: "dnd", BOB: "idle", EVE: "absent"}


@pytest.mark.parametrize("is_cut", [True, False])
def test_presence_goes_on_without_the_database(
    simulator: Simulator, store: PresenceStore, start: Starter, is_cut: bool
) -> None:
    """It refuses connections, or it takes them and says nothing."""
    with outages.relay(settings.DATABASES["default"]["HOST"], int(settings.DATABASES["default"]["PORT"])) as database:
        start(database={"HOST": "127.0.0.1", "PORT": database.port})
        wait_for_truth(store)
        led_by = term(store)
        database.cut() if is_cut else database.freeze()
        wait_for_stamps(store, 10)
        simulator.set_presence(ADA, {"status": "offline"})
        wait_for_status(store, ADA, "offline")
        assert term(store) == led_by


def test_a_leader_whose_lease_was_taken_writes_no_longer(simulator: Simulator, store: PresenceStore) -> None:
    """Its process stood still for longer than the lease, say."""
    with working(simulator, store) as running:
        wait_for_truth(store)
        caches["presence"].set(LEASE, store_contents.TERM, 60)
        wait_until(lambda: not running.stats()["leader"])
        store_contents.set_complete(store, store.generation() + 10**6)
        simulator.add_member(ADA, presence={"status": "online"})
        wait_until(lambda: running.worker is not None and ADA in running.worker.roster.members)
        assert workers.statuses(store, [ADA]) == {ADA: "absent"}
        store.release_lease(store_contents.TERM)
        wait_for_truth(store)
        assert workers.statuses(store, [ADA]) == {ADA: "online"}


def test_a_leader_that_loses_its_gateway_hands_over(simulator: Simulator, store: PresenceStore) -> None:
    """The two workers reach the platform by different ways, of which one is cut."""
    simulator.add_member(ADA, presence={"status": "online"})
    with Simulator.started() as other_way, working(simulator, store) as first:
        other_way.add_member(ADA, presence={"status": "online"})
        wait_for_truth(store)
        with working(other_way, store) as second:
            wait_until(lambda: second.stats()["ready"])
            simulator.gateway_is_down = True
            simulator.drop()
            wait_until(lambda: second.stats()["leader"])
            assert not first.stats()["leader"]
            other_way.set_presence(ADA, {"status": "dnd"})
            workers.wait_for_status(store, ADA, "dnd")
            wait_for_truth(store)
