"""What requests note is written by a thread within seconds."""

from __future__ import annotations

import multiprocessing
import threading

import pytest
from django.conf import LazySettings

from accounts import background
from accounts.background import BackgroundWriter

SECONDS = 10


@pytest.fixture(autouse=True)
def _writes_at_once(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.WRITE_NOTES_IN_BACKGROUND = True
    monkeypatch.setattr(background, "INTERVAL", 0.01)


def test_each_wake_leads_to_a_write() -> None:
    written = threading.Semaphore(0)
    writer = BackgroundWriter("test", written.release)
    for _ in range(3):
        writer.wake()
        assert written.acquire(timeout=SECONDS)
    assert not written.acquire(timeout=0.1)


def test_the_thread_outlives_an_error(caplog: pytest.LogCaptureFixture) -> None:
    written, problems = threading.Semaphore(0), [RuntimeError("broken")]

    def fail_once() -> None:
        written.release()
        if problems:
            raise problems.pop()

    writer = BackgroundWriter("test", fail_once)
    for _ in range(2):
        writer.wake()
        assert written.acquire(timeout=SECONDS)
    assert "The notes of test could not be written." in caplog.text


def test_the_end_of_a_process_writes_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a server's worker ends, which is a child of multiprocessing."""
    monkeypatch.setattr(background, "INTERVAL", 1000)
    context = multiprocessing.get_context("fork")
    written = context.Semaphore(0)
    child = context.Process(target=BackgroundWriter("test", written.release).wake)
    child.start()
    child.join(SECONDS)
    assert (child.exitcode, written.acquire(block=False)) == (0, True)
