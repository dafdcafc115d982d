"""How the process hears that its server is asked to stop, where the server sets its handlers later on."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from config.leaving import Wish


@pytest.fixture
def _signals_as_before() -> Iterator[None]:
    handler, wake_up = signal.getsignal(signal.SIGTERM), signal.set_wakeup_fd(-1)
    yield
    signal.signal(signal.SIGTERM, handler)
    signal.set_wakeup_fd(wake_up)


@pytest.mark.usefixtures("_signals_as_before")
def test_it_is_heard_whoever_handles_the_signal() -> None:
    wish, heard = Wish(), list[int]()
    wish.listen_beside()
    signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    assert not wish.is_heard()
    signal.raise_signal(signal.SIGTERM)
    assert [wish.is_heard(), wish.is_heard()] == [True, True]
    assert heard == [signal.SIGTERM]


@pytest.mark.usefixtures("_signals_as_before")
def test_somebody_elses_socket_is_left_alone() -> None:
    reader, writer = socket.socketpair()
    writer.setblocking(False)  # noqa: FBT003 - the socket takes it so
    with reader, writer:
        signal.set_wakeup_fd(writer.fileno())
        wish = Wish()
        wish.listen_beside()
        assert signal.set_wakeup_fd(-1) == writer.fileno()
    assert not wish.is_heard()


def test_outside_the_main_thread_nothing_is_heard() -> None:
    wish = Wish()
    before = signal.getsignal(signal.SIGTERM)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(wish.listen_beside).result()
        pool.submit(wish.listen_before).result()
    assert not wish.is_heard()
    assert signal.getsignal(signal.SIGTERM) is before
