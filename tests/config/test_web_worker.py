"""A worker of the web server: its shutdown flag, its memory, and its end."""

from __future__ import annotations

import mmap
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from config.web.web_worker import MADV_COLLAPSE, ShutdownFlag
from tests.journeys.processes import Server, clean_environment
from tests.support import ports


@pytest.fixture
def _signals_as_before() -> Iterator[None]:
    handler, wake_up = signal.getsignal(signal.SIGTERM), signal.set_wakeup_fd(-1)
    yield
    signal.signal(signal.SIGTERM, handler)
    signal.set_wakeup_fd(wake_up)


@pytest.mark.usefixtures("_signals_as_before")
def test_it_is_set_whatever_handles_the_signal() -> None:
    flag, heard = ShutdownFlag(), list[int]()
    flag.watch_wakeup_pipe()
    signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    assert not flag.is_set()
    signal.raise_signal(signal.SIGTERM)
    assert [flag.is_set(), flag.is_set()] == [True, True]
    assert heard == [signal.SIGTERM]


@pytest.mark.usefixtures("_signals_as_before")
def test_a_foreign_wakeup_socket_stays() -> None:
    reader, writer = socket.socketpair()
    writer.setblocking(False)  # noqa: FBT003 - the socket takes it so
    with reader, writer:
        signal.set_wakeup_fd(writer.fileno())
        flag = ShutdownFlag()
        flag.watch_wakeup_pipe()
        assert signal.set_wakeup_fd(-1) == writer.fileno()
    assert not flag.is_set()


def test_outside_the_main_thread_nothing_is_set() -> None:
    flag = ShutdownFlag()
    before = signal.getsignal(signal.SIGTERM)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(flag.watch_wakeup_pipe).result()
        pool.submit(flag.wrap_handlers).result()
    assert not flag.is_set()
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.once
def test_what_a_worker_has_loaded_lies_in_huge_pages_where_the_kernel_has_them(tmp_path: Path) -> None:
    code = "import config.wsgi; print(open('/proc/self/smaps_rollup').read())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=clean_environment(DJANGO_SETTINGS_MODULE="config.settings", VAR_DIR=str(tmp_path)),
        capture_output=True,
        text=True,
        check=True,
    )
    kilobytes = {name: int(found) for name, found in re.findall(r"^(\w+): +(\d+) kB$", done.stdout, re.M)}
    assert kilobytes["Rss"] > 50_000
    if kernel_makes_huge_pages():
        assert kilobytes["AnonHugePages"] > 20_000


def kernel_makes_huge_pages() -> bool:
    size = 4 * 2**21
    with mmap.mmap(-1, size) as memory:
        memory.write(bytes(range(256)) * (size // 256))
        try:
            memory.madvise(MADV_COLLAPSE)
        except OSError:
            return False
    return True


@pytest.mark.live
@pytest.mark.parametrize("interface", ["wsgi", "asgi"])
def test_a_worker_ends_with_a_server_that_was_killed(tmp_path: Path, interface: str) -> None:
    with ports.held() as (port,), (tmp_path / "log").open("wb") as log:
        options = ["--interface", interface, "--workers", "1", "--port", str(port), f"config.{interface}:application"]
        process = subprocess.Popen(
            [sys.executable, "-m", "granian", *options],
            env=clean_environment(VAR_DIR=str(tmp_path)),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        server = Server(f"http://127.0.0.1:{port}", process, tmp_path / "log")
        try:
            wait_until_it_answers(server)
            process.kill()
            server.wait_until_gone()
        finally:
            if server.is_anything_left():
                os.killpg(process.pid, signal.SIGKILL)


def wait_until_it_answers(server: Server) -> None:
    give_up_at = time.monotonic() + 120
    while True:
        try:
            requests.get(f"{server.base_url}/healthz", timeout=30)
            return
        except requests.ConnectionError:
            assert server.process.poll() is None
            assert time.monotonic() < give_up_at
            time.sleep(0.1)
