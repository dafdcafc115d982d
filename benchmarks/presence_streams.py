"""What a held event stream costs in memory and processor time, and what it costs other requests.

Run: .venv/bin/python -m benchmarks.presence_streams [--rounds N]
Starts the service on SQLite with one worker: granian WSGI with 4 and with 40 blocking threads, and the ASGI process. It
prints the worker's resident memory and threads for each idle stream and the processor time of all of them in a second;
then, for both WSGI servers in turn, the requests/s and the processor time of a plain user lookup, without streams and
with STREAMS of them held (Linux alone).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

STREAMS, MANY = 30, 500
OF_MANY, EACH = 100, 100  # streams of many, and members of each: no two streams share one
IDLE_SECONDS, LOAD_SECONDS, CLIENTS = 20, 5, 8
TERM = "the benchmark's own term"
FIRST_ID = 268473310986240001
SERVERS = {
    "WSGI, 4 threads": ("--interface", "wsgi", "--blocking-threads", "4", "config.wsgi:application"),
    "WSGI, 40 threads": ("--interface", "wsgi", "--blocking-threads", "40", "config.wsgi:application"),
    "ASGI": ("--interface", "asgi", "config.asgi:application"),
}
TICKS = os.sysconf("SC_CLK_TCK")


class Worker:
    """A running server and its process in which Django runs."""

    def __init__(self, port: int, process: subprocess.Popen[bytes]) -> None:
        self.port = port
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        self._pid = max((int(pid) for pid in children), key=_kilobytes)

    def kilobytes(self) -> int:
        return _kilobytes(self._pid)

    def threads(self) -> int:
        return len(list(Path(f"/proc/{self._pid}/task").iterdir()))

    def processor_seconds(self) -> float:
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


def _kilobytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


@contextlib.contextmanager
def running(command: tuple[str, ...]) -> Iterator[Worker]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ("--workers", "1", "--workers-kill-timeout", "5", "--log-level", "error", "--no-ws", "--port", str(port))
    environment = {**os.environ, "BASE_URL": f"http://127.0.0.1:{port}"}  # no other host is served
    process = subprocess.Popen([sys.executable, "-m", "granian", *options, *command], env=environment)
    try:
        while not _answers(port):
            time.sleep(0.1)
        worker = Worker(port, process)
        with Connection(port, MANY) as connection:  # whose place no other needs
            connection.hold()  # everything is loaded now
        yield worker
    finally:
        process.terminate()
        process.wait()


def _answers(port: int) -> bool:
    try:
        Connection(port, 0).close()
    except OSError:
        return False
    return True


class Connection:
    """One client, with a key of its own for each five."""

    def __init__(self, port: int, number: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._number = number

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def look_up(self) -> bytes:
        """The status of a plain request."""
        head, _, body = self._ask("/api/lookup/user?type=uid&value=0").partition(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        while len(body) < length:
            body += self._received()
        return head[9:12]

    def hold(self, members: int = 1) -> None:
        """Open a stream, and read its first event. `members`: more than one for a stream of many."""
        path = f"/api/lookup/presence/{FIRST_ID + self._number}/events"
        if members > 1:
            first = FIRST_ID + self._number * members
            path = f"/api/lookup/presence/events?ids={','.join(str(first + number) for number in range(members))}"
        answer = self._ask(path)
        while b"data:" not in answer:
            if answer[9:12] != b"200":
                raise SystemExit(answer.decode())
            answer += self._received()

    def _received(self) -> bytes:
        if received := self._socket.recv(65_536):
            return received
        raise SystemExit("The server hung up.")

    def _ask(self, path: str) -> bytes:
        """The answer's head, and what came with it."""
        host = f"127.0.0.1:{self._socket.getpeername()[1]}"
        head = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nX-API-Key: key-{self._number // 5}\r\n\r\n"
        self._socket.sendall(head.encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self._received()
        return answer


@contextlib.contextmanager
def held(worker: Worker, count: int, members: int = 1) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for number in range(count):
            stack.enter_context(Connection(worker.port, number)).hold(members)
        yield


def idle(name: str, count: int, members: int = 1) -> None:
    with running(SERVERS[name]) as worker:
        before, threads = worker.kilobytes(), worker.threads()
        with held(worker, count, members):
            time.sleep(2)
            start = worker.processor_seconds()
            time.sleep(IDLE_SECONDS)
            share = (worker.processor_seconds() - start) / IDLE_SECONDS
            grown, more = worker.kilobytes() - before, worker.threads() - threads
        print(
            f"{name}: {count} idle streams of {members}, {before / 1024:.0f} MB before, {grown / count:.0f} kB and "
            f"{more / count:.2f} threads each, {share * 1000:.1f} ms of processor time a second for all"
        )


def load(worker: Worker) -> tuple[float, float]:
    """Requests/s of CLIENTS clients, and processor time of the worker for each request in µs."""
    counts, failed = [0] * CLIENTS, [0] * CLIENTS
    is_over = threading.Event()

    def ask(client: int) -> None:
        with Connection(worker.port, client) as connection:
            while not is_over.is_set():
                failed[client] += connection.look_up() != b"200"
                counts[client] += 1

    clients = [threading.Thread(target=ask, args=(client,)) for client in range(CLIENTS)]
    start, before = time.perf_counter(), worker.processor_seconds()
    for thread in clients:
        thread.start()
    time.sleep(LOAD_SECONDS)
    is_over.set()
    for thread in clients:
        thread.join()
    if any(failed):
        raise SystemExit(f"{sum(failed)} lookups failed.")
    seconds, used = time.perf_counter() - start, worker.processor_seconds() - before
    return sum(counts) / seconds, used / sum(counts) * 1e6


def compare(rounds: int) -> None:
    """Both servers run at the same time, and take turns."""
    with running(SERVERS["WSGI, 4 threads"]) as four, running(SERVERS["WSGI, 40 threads"]) as forty:
        found: dict[str, list[tuple[float, float]]] = {}
        for _ in range(rounds):
            found.setdefault("4 threads", []).append(load(four))
            found.setdefault("40 threads", []).append(load(forty))
            with held(forty, STREAMS):
                found.setdefault(f"40 threads, {STREAMS} streams held", []).append(load(forty))
    base = found["4 threads"]
    for name, results in found.items():
        ratio = statistics.median(mine[0] / other[0] for mine, other in zip(results, base, strict=True))
        cost = statistics.median(mine[1] / other[1] for mine, other in zip(results, base, strict=True))
        rate, used = (statistics.median(column) for column in zip(*results, strict=True))
        print(
            f"{name}: {rate:.0f} lookups/s (ratio {ratio:.2f}), {used:.0f} µs of processor time each (ratio {cost:.2f})"
        )


def prepare() -> None:
    """Keys of an owner each, members, and a stamp that says that the store holds the truth."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.utils import timezone

    from accounts.models import Permission
    from presence.store import store
    from presence.store.store import Record
    from tests.factories.accounts import ApiKeyFactory

    call_command("migrate", verbosity=0)
    permissions = [Permission.LOOKUP_PRESENCE.value, Permission.LOOKUP_USER.value]
    for number in range(MANY // 5 + 1):
        ApiKeyFactory(secret=f"key-{number}", permissions=permissions)
    opened, now = store.opened(), timezone.now().timestamp()
    presence = {"status": "online", "client_status": {"desktop": "online"}, "activities": []}
    members = ((FIRST_ID + number, f"member{number}") for number in range(OF_MANY * EACH))
    opened.take_lease(TERM)
    opened.write(
        {
            chat_id: Record({"user": {"id": str(chat_id), "username": name}}, presence, 1, now, None).to_text()
            for chat_id, name in members
        },
        (),
        token=TERM,
    )
    for number in range(OF_MANY * EACH):
        opened.keep_banner(FIRST_ID + number, store.Banner(None, now + 3600))
    opened.set_complete(1, token=TERM)

    def stamp() -> None:
        while opened.renew_lease(TERM) and opened.stamp(time.time(), generation=1, token=TERM):
            time.sleep(2)

    opened.stamp(time.time(), generation=1, token=TERM)
    threading.Thread(target=stamp, daemon=True).start()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="benchmark-") as directory:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "VAR_DIR": directory,
            "RATE_LIMITS_ENABLED": "0",
            "ALLOW_UNSAFE_START": "edge,limits",
            "PRESENCE_STREAMS": str(OF_MANY * EACH // 10 + 1),
            "CHAT_PROFILE_URL": "",
        }
        (Path(directory) / "static").mkdir()
        prepare()
        idle("WSGI, 40 threads", STREAMS)
        idle("ASGI", STREAMS)
        idle("ASGI", MANY)
        idle("ASGI", OF_MANY, EACH)
        compare(rounds)


if __name__ == "__main__":
    main()
