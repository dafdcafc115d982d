"""Starts granian where the settings are safe. Takes granian's options:

    python -m config.serve --interface wsgi --workers 2 config.wsgi:application

A worker that does not start makes granian end with exit code 1, and a service manager would restart it for ever.
This command reports problems once, with exit code 78, which `deploy/systemd/` does not restart. Each problem is one
sentence; `check --deploy` reports the ones of the settings too. ALLOW_UNSAFE_START allows single ones, for measurements
and tests.
"""

from __future__ import annotations

import argparse
import ipaddress
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.core.cache import caches
from django.core.exceptions import ImproperlyConfigured

from config.operations import parallel_calls

PROGRAMS = ("run_embedded", "run_jobs", "run_presence_gateway")  # commands of manage.py that run until they are stopped
SHORTEST_SECRET = 32  # characters
FEWEST_CHARACTERS = 8  # different ones in a secret
# Placeholders for secrets in deploy/*.example.
EXAMPLES = {"FIFTY-RANDOM-CHARACTERS", "FIFTY-OTHER-RANDOM-CHARACTERS", "PASSWORD", "RANDOM-LETTERS-AND-DIGITS"}
HOW_TO_MAKE_ONE = 'Make one with python3 -c "import secrets; print(secrets.token_urlsafe(48))".'
BESIDE_STREAMS = 1024  # connections: of probes, refusals, and those that proxies keep open
REDIS_SECONDS = 2.0  # that a start waits for Redis; one that is away keeps no service from starting


class Problem(NamedTuple):
    """`word`: its name in ALLOW_UNSAFE_START. `id`: of the system check."""

    word: str
    id: str
    sentence: str
    fix: str


def problems() -> Iterator[Problem]:
    """Yield problems of the settings. The embedded default needs no proxy, and makes its own secrets."""
    if not settings.EMBEDDED:
        if not settings.EDGE_CLIENT_ADDRESS_HEADER:
            sentence = "EDGE_CLIENT_ADDRESS_HEADER is not set: every client would share the edge proxy's address."
            fix = "Name the header that the edge proxy sets, such as X-Client-Address, and let it overwrite it."
            yield Problem("edge", "config.E002", sentence, fix)
        if not settings.RATE_LIMITS_ENABLED:
            yield Problem("limits", "config.E009", "Every rate limit is off.", "Unset RATE_LIMITS_ENABLED.")
        if settings.WEBHOOKS_TO_LOOPBACK:
            sentence = "WEBHOOKS_TO_LOOPBACK is set: strangers' webhooks would reach servers on this machine."
            yield Problem("webhooks", "config.E013", sentence, "Unset WEBHOOKS_TO_LOOPBACK.")
        yield from _weak_secrets()
    if settings.DEMO and settings.HTTPS and not is_local(str(urlsplit(settings.BASE_URL).hostname)):
        sentence = f"DEMO is on at {settings.BASE_URL}: its people and apps have passwords that others know."
        yield Problem("demo", "config.E010", sentence, "Set DEMO=0, with a database that has no demo data.")
    if settings.EMBEDDED and (workers := _workers()) > 1:
        sentence = f"DATABASE_URL is not set, and SQLite serves one process: there are {workers} workers."
        yield Problem("workers", "config.E012", sentence, "Start one worker, or set DATABASE_URL and REDIS_URL.")


def check_program() -> None:
    """End this program with exit code 78 where it has problems."""
    _refuse([*problems(), *_evicting_redis()])


def check_worker() -> None:
    """Repeat the check in a worker of a web server, but not of Redis, which may be away when a worker restarts."""
    _refuse([*problems()])


def _refuse(found: Sequence[Problem]) -> None:
    refused = [problem for problem in found if problem.word not in settings.ALLOW_UNSAFE_START]
    if not refused:
        return
    for problem in refused:
        sys.stderr.write(f"{problem.sentence} {problem.fix}\n")
    if (server := multiprocessing.parent_process()) and server.pid:  # from Python 3.14 on another one forks workers
        os.kill(server.pid, signal.SIGTERM)  # granian would start this worker again
    raise SystemExit(os.EX_CONFIG)


def _weak_secrets() -> Iterator[Problem]:
    """Check secrets. Of the encryption keys only the first encrypts, so earlier ones are not checked."""
    long = {
        "SECRET_KEY": settings.SECRET_KEY,
        "SIGNING_KEY_ENCRYPTION_KEYS": settings.SIGNING_KEY_ENCRYPTION_KEYS[0],
    }
    for name, value in long.items():
        if value in EXAMPLES or len(value) < SHORTEST_SECRET or len(set(value)) < FEWEST_CHARACTERS:
            sentence = f"{name} is an example, or too easy to guess ({len(value)} characters)."
            yield Problem("secrets", "config.E011", sentence, HOW_TO_MAKE_ONE)
    passwords = {
        "The password in DATABASE_URL": settings.DATABASES["default"].get("PASSWORD"),
        "EMAIL_HOST_PASSWORD": settings.EMAIL_HOST_PASSWORD,
    }
    for name, given in passwords.items():
        if given in EXAMPLES:
            yield Problem("secrets", "config.E011", f"{name} is the example's.", "Write the real one there.")


def _evicting_redis() -> Iterator[Problem]:
    """Check the eviction policy. A Redis that is away is no problem."""
    if not settings.REDIS_URL:
        return
    policy = parallel_calls.run([{"eviction": _eviction}], caller="start", limit=REDIS_SECONDS)["eviction"].value
    if policy:
        sentence = f"Redis evicts what it must keep, limits and live presence (maxmemory-policy {policy})."
        fix = "Set maxmemory-policy noeviction, or take a Redis of its own for the service."
        yield Problem("eviction", "", sentence, fix)


def _eviction() -> str:
    """Return the policy of a Redis that may evict, else ""."""
    from infrastructure import redis_errors  # it reads the settings

    cache: Any = caches["presence"]  # of a backend of ours, with methods of its own
    try:
        return str(cache.eviction())
    except redis_errors.AWAY:
        return ""


def is_local(host: str) -> bool:
    """Return whether a host is this machine: a loopback address, or the folder of a socket."""
    if not host or host.startswith("/") or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _workers() -> int:
    """Return the number of workers of this process's server; granian's workers have its command line."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--workers", type=int, default=int(os.environ.get("GRANIAN_WORKERS") or 1))
    return int(parser.parse_known_args(sys.argv[1:])[0].workers)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        check_program()
    except ImproperlyConfigured as error:
        sys.stderr.write(f"{error} docs/configuration.md explains it.\n")
        sys.exit(os.EX_CONFIG)
    if settings.PRESENCE_STREAMS:  # each is a connection; granian accepts 1,024 in all, and lets further ones wait
        os.environ.setdefault("GRANIAN_BACKPRESSURE", str(settings.PRESENCE_STREAMS + BESIDE_STREAMS))
    os.execv(sys.executable, [sys.executable, "-m", "granian", *sys.argv[1:]])  # noqa: S606 - the caller's own options


if __name__ == "__main__":
    main()
