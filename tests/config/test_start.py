"""A program of production does not start with what must not serve strangers: one sentence each, and exit code 78."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from config import serve
from tests.support import ports, programs, servers

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
PRODUCTION = {
    "BASE_URL": "https://id.example.org",
    "DATABASE_URL": "postgres://id:q7FxR2mVb9@127.0.0.1:1/id",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "EDGE_CLIENT_ADDRESS_HEADER": "X-Client-Address",
    "SECRET_KEY": "jW8vN2qLx5Rz0TfB7mYc4HsKd9GpAe3UoXi6",
    "SIGNING_KEY_ENCRYPTION_KEYS": "Vb3Xn8Qe1Zr6Kt0Ld5Wy9Hm2Jc7Gs4Pf_of_tests",
}
EDGE = "EDGE_CLIENT_ADDRESS_HEADER is not set: every client would share the edge proxy's address. Name"
WEAK = "is an example, or too easy to guess"
REFUSED: list[tuple[str, dict[str, str], list[str]]] = [
    ("edge", {"EDGE_CLIENT_ADDRESS_HEADER": ""}, [EDGE]),
    ("limits", {"RATE_LIMITS_ENABLED": "0"}, ["Every rate limit is off. Unset RATE_LIMITS_ENABLED."]),
    ("demo", {"DEMO": "1"}, ["DEMO is on at https://id.example.org: its people and apps"]),
    (
        "secrets",
        {"DATABASE_URL": "postgres://id:PASSWORD@127.0.0.1:1/id", "SECRET_KEY": "ab" * 30},
        [f"SECRET_KEY {WEAK} (60 characters). Make one", "The password in DATABASE_URL is the example's. Write"],
    ),
]
EMBEDDED_PUBLIC = {"BASE_URL": "https://id.example.org"}
STARTED: list[dict[str, str]] = [
    {},
    {**PRODUCTION, "BASE_URL": "http://127.0.0.1:8000", "DEMO": "1"},
    {**PRODUCTION, "SIGNING_KEY_ENCRYPTION_KEYS": f"{PRODUCTION['SECRET_KEY']},short"},
    {"RATE_LIMITS_ENABLED": "0", "SECRET_KEY": "short"},
]


def run(arguments: list[str], values: dict[str, str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={"VAR_DIR": str(directory), **values},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def served(values: dict[str, str], directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """granian says its version in place of a start."""
    return run(["-m", "config.serve", *(options or ("--version",))], values, directory)


def assert_refused(run: subprocess.CompletedProcess[str], sentences: list[str]) -> None:
    lines = run.stderr.splitlines()
    assert (run.returncode, run.stdout, len(lines)) == (os.EX_CONFIG, "", len(sentences)), run.stderr
    for line, sentence in zip(lines, sentences, strict=True):
        assert line.startswith(sentence)


@pytest.mark.parametrize(("word", "values", "sentences"), REFUSED)
def test_a_server_says_in_a_sentence_why_it_does_not_start(
    tmp_path: Path, word: str, values: dict[str, str], sentences: list[str]
) -> None:
    assert_refused(served({**PRODUCTION, **values}, tmp_path), sentences)
    started = served({**PRODUCTION, **values, "ALLOW_UNSAFE_START": word}, tmp_path)
    assert (started.returncode, started.stderr) == (0, "")
    assert "granian 2." in started.stdout


@pytest.mark.parametrize("program", ["run_jobs", "run_presence_gateway"])
def test_the_other_programs_say_it_too(tmp_path: Path, program: str) -> None:
    values = {**PRODUCTION, "EDGE_CLIENT_ADDRESS_HEADER": "", "RATE_LIMITS_ENABLED": "0"}
    assert_refused(run(["manage.py", program], values, tmp_path), [EDGE, "Every rate limit is off."])


def test_the_embedded_default_shows_no_demo_to_the_world(tmp_path: Path) -> None:
    run_embedded = run(["manage.py", "run_embedded"], EMBEDDED_PUBLIC, tmp_path)
    assert_refused(run_embedded, ["DEMO is on at https://id.example.org"])
    assert not (tmp_path / "db.sqlite3").exists()


@pytest.mark.parametrize("values", STARTED)
def test_what_may_serve_starts(tmp_path: Path, values: dict[str, str]) -> None:
    started = served(values, tmp_path)
    assert (started.returncode, started.stderr) == (0, "")


@pytest.mark.parametrize("options", [("--workers", "2"), ("--workers=2",)])
def test_sqlite_serves_one_worker(tmp_path: Path, options: tuple[str, ...]) -> None:
    refused = served({}, tmp_path, *options, "--interface", "wsgi", "config.wsgi:application")
    sentence = "DATABASE_URL is not set, and SQLite serves one process: there are 2 workers. Start one worker, or"
    assert_refused(refused, [sentence])
    by_environment = {"GRANIAN_WORKERS": "2"}
    assert_refused(served(by_environment, tmp_path), [sentence])


# The second way to start workers is Python's own from 3.14 on: a process between granian and them forks them.
@pytest.mark.parametrize(("interface", "way"), [("wsgi", "fork"), ("asgi", "fork"), ("wsgi", "forkserver")])
def test_a_worker_that_must_not_serve_ends_its_server(tmp_path: Path, interface: str, way: str) -> None:
    """Without `config.serve`: granian starts a worker again that has ended."""
    granian = f"""
import multiprocessing, runpy
multiprocessing.set_start_method("{way}")
runpy.run_module("granian", run_name="__main__", alter_sys=True)
"""
    with ports.held() as (port,):
        options = ["--interface", interface, "--port", str(port), "--workers", "1", "--respawn-failed-workers"]
        values = {**PRODUCTION, "RATE_LIMITS_ENABLED": "0"}
        ended = run(["-c", granian, *options, f"config.{interface}:application"], values, tmp_path)
    assert ended.stderr.count("Every rate limit is off.") == 1
    assert "Traceback" not in ended.stderr + ended.stdout


def test_a_setting_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    values = {**PRODUCTION, "SECRET_KEY": ""}
    sentence = "The environment variable SECRET_KEY must be set. docs/configuration.md explains it."
    assert_refused(served(values, tmp_path), [sentence])


@contextlib.contextmanager
def redis(directory: Path, *options: str) -> Iterator[str]:
    """The address of a Redis with these options."""
    program = programs.found("postgres", "redis-server")["redis-server"]
    with contextlib.ExitStack() as stack:
        (port,) = stack.enter_context(ports.held())
        servers.start_redis(program, directory / "redis", port, stack, *options)
        yield f"redis://127.0.0.1:{port}/0"


@pytest.mark.parametrize("program", [["-m", "config.serve", "--version"], ["manage.py", "run_jobs"]])
def test_a_redis_that_evicts_is_refused(tmp_path: Path, program: list[str]) -> None:
    with redis(tmp_path, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru") as url:
        refused = run(program, {**PRODUCTION, "REDIS_URL": url}, tmp_path)
        allowed = served({**PRODUCTION, "REDIS_URL": url, "ALLOW_UNSAFE_START": "eviction"}, tmp_path)
    sentence = "Redis evicts what it must keep, limits and live presence (maxmemory-policy allkeys-lru). Set"
    assert_refused(refused, [sentence])
    assert (allowed.returncode, allowed.stderr) == (0, "")


@pytest.mark.parametrize(
    "options",
    [
        ("--maxmemory", "100mb", "--maxmemory-policy", "noeviction"),
        ("--maxmemory-policy", "allkeys-lru"),  # without a limit nothing is evicted
    ],
)
def test_a_redis_that_does_not_evict_is_none_to_refuse(tmp_path: Path, options: tuple[str, ...]) -> None:
    with redis(tmp_path, *options) as url:
        started = served({**PRODUCTION, "REDIS_URL": url}, tmp_path)
    assert (started.returncode, started.stderr) == (0, "")


def test_a_redis_that_hangs_keeps_no_service_from_starting(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        started = served({**PRODUCTION, "REDIS_URL": url}, tmp_path)
    assert (started.returncode, started.stderr) == (0, "")


@pytest.mark.parametrize(
    ("streams", "given", "passed_on"),
    [(0, {}, None), (1000, {}, "2024"), (1000, {"GRANIAN_BACKPRESSURE": "9"}, "9")],
)
def test_streams_leave_connections_for_others(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, streams: int, given: dict[str, str], passed_on: str | None
) -> None:
    """Each stream keeps one for an hour, and granian accepts 1,024 in all unless it is told."""
    settings.PRESENCE_STREAMS = streams
    environ = dict(given)
    monkeypatch.setattr(serve, "check_program", lambda: None)
    monkeypatch.setattr(os, "environ", environ)
    monkeypatch.setattr(os, "execv", lambda program, arguments: None)
    serve.main()
    assert environ.get("GRANIAN_BACKPRESSURE") == passed_on


def test_each_secret_of_the_examples_is_known() -> None:
    files = [ROOT / "deploy" / name for name in ("environment.example", "compose.env.example")]
    found = set()
    for line in "\n".join(file.read_text() for file in files).splitlines():
        name, _, value = line.partition("=")
        if re.fullmatch(r"[A-Z_]*(PASSWORD|SECRET_KEY|ENCRYPTION_KEYS)", name) and value:
            found.add(value)
        found |= set(re.findall(r"://[a-z]+:([^@]+)@", value))
    assert found <= serve.EXAMPLES  # which has those of earlier releases, too
