"""How long an event of the platform takes to be readable: 2,000 events a second for a minute, over real sockets.

Run: .venv/bin/python -m benchmarks.presence [--store redis|database] [--members 5000] [--rate 2000] [--seconds 60]
Three processes: the simulated platform, which sends; `manage.py run_presence_gateway`; and this one, which reads the
store as web processes do. Twenty times a second a probe is sent with the time in it; what is printed is how long after
that the store showed it. Also printed, as JSON: the events sent, and the worker's processor time for each.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.support import servers

ROOT = Path(__file__).resolve().parents[1]
PROBE = 268473310986240001
PROBES_A_SECOND = 20
READY_WITHIN = 120.0


def send(members: int, rate: int, seconds: int) -> None:
    """The simulated platform's process. Says where it listens, waits for a line, sends, says how much it sent."""
    from tests.support.chat_platform import Simulator

    with Simulator.started() as platform:
        ids = platform.populate(members)
        platform.add_member(PROBE)
        print(json.dumps({"api_url": platform.api_url, "token": platform.bot_token, "guild": platform.guild_id}))
        sys.stdout.flush()
        sys.stdin.readline()
        probes: list[tuple[int, int]] = []  # number, and when it was sent
        started, sent, step = time.monotonic(), 0, rate // PROBES_A_SECOND
        while (passed := time.monotonic() - started) < seconds:
            due = range(sent, int(rate * passed))
            platform.set_presences({PROBE if n % step == 0 else ids[n % len(ids)]: _presence(n) for n in due})
            probes += [(n, time.time_ns()) for n in due if n % step == 0]
            sent += len(due)
            time.sleep(0.002)
        print(json.dumps({"sent": sent, "seconds": time.monotonic() - started, "probes": probes}))
        sys.stdout.flush()
        sys.stdin.readline()


def _presence(number: int) -> dict[str, Any]:
    """About 400 bytes, as updates of the real platform have."""
    status = {"id": "custom", "name": "Custom Status", "type": 4, "state": f"probe {number}", "created_at": 1}
    game = {
        "id": "9f2e",
        "name": "A game",
        "type": 0,
        "details": "In a match",
        "application_id": "268473310000000009",
        "timestamps": {"start": number},
        "assets": {"large_image": "1234567890", "large_text": "A map"},
    }
    return {"status": "online", "client_status": {"desktop": "online"}, "activities": [status, game]}


@contextlib.contextmanager
def environment(store: str) -> Iterator[dict[str, str]]:
    """The stores of the worker and this process: PostgreSQL and Redis of their own, or a SQLite file."""
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        values = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "VAR_DIR": directory,
            "ALLOW_UNSAFE_START": "edge",
            "SECRET_KEY": "a-secret-key-of-this-measurement",
            "SIGNING_KEY_ENCRYPTION_KEYS": "an-encryption-key-of-this-measurement",
        }
        if store == "redis":
            Path(directory).chmod(0o711)  # PostgreSQL runs as another user
            bed = stack.enter_context(servers.running(Path(directory)))
            values |= {"DATABASE_URL": bed.database_url, "REDIS_URL": bed.redis_url}
        yield values


def measure(store: str, members: int, rate: int, seconds: int) -> dict[str, float]:
    with environment(store) as values, contextlib.ExitStack() as stack:
        options = ("--send", "--members", str(members), "--rate", str(rate), "--seconds", str(seconds))
        command = (sys.executable, "-m", "benchmarks.presence", *options)
        platform = stack.enter_context(_started(command, values, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        found = json.loads(_line(platform))
        values |= {"CHAT_GUILD_ID": found["guild"], "CHAT_BOT_TOKEN": found["token"], "CHAT_API_URL": found["api_url"]}
        manage = (sys.executable, str(ROOT / "manage.py"))
        subprocess.run((*manage, "migrate", "--verbosity", "0"), env=values, check=True)
        worker = stack.enter_context(_started((*manage, "run_presence_gateway"), values))
        os.environ.update(values)
        seen, cpu = _read(platform, worker, seconds)
        sent = json.loads(_line(platform))
        _say(platform, "\n")
        return _figures(latencies(sent["probes"], seen), sent, cpu)


def latencies(probes: list[tuple[int, int]], seen: list[tuple[int, int]]) -> list[float]:
    """Of every probe, in ms: until it, or a later one in its place, was seen. Both: numbers with nanoseconds."""
    found, ahead = [], iter(seen)
    number, at = next(ahead)
    for probe, sent_at in probes:
        while number < probe:
            number, at = next(ahead, (sys.maxsize, 2**63))
        found.append((at - sent_at) / 1e6)
    return found


def _read(
    platform: subprocess.Popen[str], worker: subprocess.Popen[str], seconds: int
) -> tuple[list[tuple[int, int]], float]:
    """Which probe was seen when, and the worker's processor seconds."""
    import django

    django.setup()
    from presence.store import store

    opened, give_up_at = store.opened(), time.monotonic() + READY_WITHIN
    while opened.snapshot(PROBE).record is None or opened.alive_at() is None:
        if time.monotonic() > give_up_at:
            raise SystemExit("The worker does not become ready.")
        time.sleep(0.1)
    _say(platform, "\n")
    before, seen = _cpu_seconds(worker.pid), [(-1, 0)]
    ends_at = time.monotonic() + seconds + 1
    while time.monotonic() < ends_at:
        record = opened.snapshot(PROBE).record
        state = record.presence["activities"][0]["state"] if record and record.presence else ""
        if state and int(state.split()[1]) != seen[-1][0]:
            seen.append((int(state.split()[1]), time.time_ns()))
        time.sleep(0.001)
    return seen, _cpu_seconds(worker.pid) - before


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _figures(found: list[float], sent: Mapping[str, Any], cpu: float) -> dict[str, float]:
    """Events a second, latencies of the probes in ms, and the worker's processor time for each event in µs."""
    ordered = sorted(found)
    return {
        "events": sent["sent"],
        "a_second": sent["sent"] / sent["seconds"],
        "probes": len(ordered),
        "p50": statistics.median(ordered),
        "p99": ordered[int(len(ordered) * 0.99)],
        "max": ordered[-1],
        "cpu": cpu / sent["sent"] * 1e6,
    }


@contextlib.contextmanager
def _started(command: tuple[str, ...], values: Mapping[str, str], **pipes: Any) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, env=dict(values), cwd=ROOT, text=True, **pipes)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)


def _line(process: subprocess.Popen[str]) -> str:
    return process.stdout.readline() if process.stdout else ""


def _say(process: subprocess.Popen[str], text: str) -> None:
    if process.stdin:
        process.stdin.write(text)
        process.stdin.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", choices=("redis", "database"), default="redis")
    parser.add_argument("--members", type=int, default=5000)
    parser.add_argument("--rate", type=int, default=2000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--send", action="store_true", help="be the platform: for this program alone")
    chosen = parser.parse_args()
    if chosen.send:
        send(chosen.members, chosen.rate, chosen.seconds)
    else:
        print(json.dumps(measure(chosen.store, chosen.members, chosen.rate, chosen.seconds)))
