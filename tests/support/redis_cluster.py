"""A Redis Cluster on loopback: three primaries, each with a replica."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from redis.crc import key_slot

from tests.support import ports, processes, programs
from tests.support.servers import start_redis

SLOTS = 16384
PRIMARIES = 3
NODE_TIMEOUT = 1000  # milliseconds, after which a node that does not answer counts as away
FORM_SECONDS = 60


@dataclass
class Cluster:
    """Its nodes by number: PRIMARIES of them, then the replica of each."""

    ports: list[int]
    running: list[subprocess.Popen[bytes]]

    @property
    def url(self) -> str:
        """Of one node, which knows the others."""
        return f"redis://127.0.0.1:{self.ports[0]}/0"

    def client(self, number: int) -> Any:
        """Of one node (Any: the library's types do not say what a command answers)."""
        return redis.Redis(port=self.ports[number], socket_timeout=5, decode_responses=True)

    def id_of(self, number: int) -> str:
        return str(self.client(number).execute_command("CLUSTER MYID"))

    def primary_of(self, key: str) -> int:
        """The number of the primary that has the key's slot, as the first node that runs sees it."""
        slot = key_slot(key.encode())
        for first, last, (_, port, *_), *_ in self._ask("CLUSTER SLOTS"):
            if first <= slot <= last:
                return self.ports.index(port)
        raise AssertionError(f"No node has the slot of {key}.")

    def kill(self, number: int) -> None:
        """As a crash does."""
        processes.kill_group(self.running[number])

    def begin_to_move(self, key: str, target: int) -> None:
        """The slot of the key is on its way: keys that are not there yet are asked for at the target."""
        slot, source = key_slot(key.encode()), self.primary_of(key)
        self.client(target).execute_command("CLUSTER SETSLOT", slot, "IMPORTING", self.id_of(source))
        self.client(source).execute_command("CLUSTER SETSLOT", slot, "MIGRATING", self.id_of(target))

    def end_move(self, key: str, target: int) -> None:
        """The keys go over, and then the slot."""
        slot, source = key_slot(key.encode()), self.primary_of(key)
        while keys := self.client(source).execute_command("CLUSTER GETKEYSINSLOT", slot, 100):
            self.client(source).execute_command("MIGRATE", "127.0.0.1", self.ports[target], "", 0, 5000, "KEYS", *keys)
        for number in (target, source, *(other for other in range(PRIMARIES) if other not in {target, source})):
            self.client(number).execute_command("CLUSTER SETSLOT", slot, "NODE", self.id_of(target))

    def _ask(self, command: str) -> Any:
        for number, process in enumerate(self.running):
            if process.poll() is None:
                return self.client(number).execute_command(command)
        raise AssertionError("Every node has ended.")


@contextlib.contextmanager
def running(directory: Path) -> Iterator[Cluster]:
    """Start the nodes, make them one cluster, and stop them whatever happens."""
    program = programs.found("redis-server")["redis-server"]
    count = 2 * PRIMARIES
    with contextlib.ExitStack() as stack:
        held = stack.enter_context(ports.held(2 * count))
        nodes = []
        for number in range(count):
            options = (
                *("--cluster-enabled", "yes", "--cluster-port", str(held[count + number])),
                *("--cluster-node-timeout", str(NODE_TIMEOUT), "--cluster-config-file", "nodes.conf"),
                *("--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0"),
            )
            nodes.append(start_redis(program, directory / f"redis-{number}", held[number], stack, *options))
        cluster = Cluster(held[:count], nodes)
        _form(cluster, bus_ports=held[count:])
        yield cluster


def _form(cluster: Cluster, bus_ports: list[int]) -> None:
    for number in range(PRIMARIES):
        first, last = SLOTS * number // PRIMARIES, SLOTS * (number + 1) // PRIMARIES
        cluster.client(number).execute_command("CLUSTER ADDSLOTS", *range(first, last))
        cluster.client(number).execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
    for number in range(1, len(cluster.ports)):
        cluster.client(0).execute_command("CLUSTER MEET", "127.0.0.1", cluster.ports[number], bus_ports[number])
    everyone = len(cluster.ports)
    wait_for(lambda: all(_known(cluster, number) == everyone for number in range(everyone)))
    for number in range(PRIMARIES):
        cluster.client(PRIMARIES + number).execute_command("CLUSTER REPLICATE", cluster.id_of(number))
    wait_for(lambda: all(_is_ready(cluster, number) for number in range(everyone)))


def _known(cluster: Cluster, number: int) -> int:
    return int(_facts(cluster, number)["cluster_known_nodes"])


def _is_ready(cluster: Cluster, number: int) -> bool:
    if _facts(cluster, number)["cluster_state"] != "ok":
        return False
    replication = cluster.client(number).info("replication")
    if number < PRIMARIES:
        return len(cluster.client(number).execute_command("CLUSTER SLOTS")) == PRIMARIES
    return str(replication.get("master_link_status")) == "up"


def _facts(cluster: Cluster, number: int) -> Any:
    """Any: the library's parser makes a dict of CLUSTER INFO."""
    return cluster.client(number).execute_command("CLUSTER INFO")


def wait_for(is_so: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + FORM_SECONDS
    while not is_so():
        assert time.monotonic() < give_up_at, "The cluster did not come to it in time."
        time.sleep(0.05)
