"""How the process hears that its server is asked to stop, where the server sets its handlers later on."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from config.graceful_shutdown import ShutdownFlag


@pytest.fixture
def _signals_as_before() -> Iterator[None]:
    handler, wake_up = signal.getsignal(signal.SIGTERM), signal.set_wakeup_fd(-1)
    yield
    signal.signal(signal.SIGTERM, handler)
    signal.set_wakeup_fd(wake_up)


@pytest.mark.usefixtures("_signals_as_before")
def test_it_is_set_whoever_handles_the_signal() -> None:
    flag, heard = ShutdownFlag(), list[int]()
    flag.watch_wakeup_pipe()
    signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    assert not flag.is_set()
    signal.raise_signal(signal.SIGTERM)
    assert [flag.is_set(), flag.is_set()] == [True, True]
    assert heard == [signal.SIGTERM]


@pytest.mark.usefixtures("_signals_as_before")
def test_somebody_elses_socket_is_left_alone() -> None:
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
