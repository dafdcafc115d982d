"""What requests note is written by a thread within seconds, and is lost by a process that is killed alone."""

from __future__ import annotations

import logging
import multiprocessing
import os
import queue
import threading

import pytest
from django.conf import LazySettings
from django.db import DataError, OperationalError

from infrastructure import write_behind
from infrastructure.write_behind import WriteBehindBuffer

SECONDS = 10
AT_ONCE = 0.01


@pytest.fixture(autouse=True)
def _in_background(settings: LazySettings) -> None:
    settings.WRITE_NOTES_IN_BACKGROUND = True


def test_each_note_leads_to_a_write() -> None:
    written = threading.Semaphore(0)
    buffer = WriteBehindBuffer[int]("test", lambda notes: written.release(), interval=AT_ONCE)
    for number in range(3):
        buffer.note(number)
        assert written.acquire(timeout=SECONDS)
    assert not written.acquire(timeout=0.1)


def test_the_thread_outlives_an_error(caplog: pytest.LogCaptureFixture) -> None:
    written, problems = threading.Semaphore(0), [RuntimeError("broken")]

    def fail_once(notes: list[int]) -> None:
        written.release()
        if problems:
            raise problems.pop()

    buffer = WriteBehindBuffer("test", fail_once, interval=AT_ONCE)
    for number in range(2):
        buffer.note(number)
        assert written.acquire(timeout=SECONDS)
    assert "The notes of test could not be written." in caplog.text


def test_an_error_that_comes_again_and_again_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    problems: list[Exception] = [OSError("no space left"), OSError("no space left")]

    def fail(notes: list[int]) -> None:
        if problems:
            raise problems.pop()

    buffer = WriteBehindBuffer("test", fail)
    for note in range(4):
        if note == 3:
            problems.append(OSError("no space left"))
        buffer._notes.append(note)
        buffer._write_logged()
    assert [record.getMessage() for record in caplog.records] == ["The notes of test could not be written."] * 2


def test_the_thread_writes_what_comes_during_a_write() -> None:
    stored: list[list[int]] = []
    is_done = threading.Event()

    def store(notes: list[int]) -> None:
        stored.append(notes)
        if len(stored) == 1:
            buffer.note(2)  # the last one that ever comes
        else:
            is_done.set()

    buffer = WriteBehindBuffer("test", store, interval=AT_ONCE)
    buffer.note(1)
    assert is_done.wait(SECONDS)
    assert stored == [[1], [2]]


def test_the_thread_tries_again_where_the_database_was_away_although_no_note_follows() -> None:
    problems = [OperationalError("away"), OperationalError("away")]
    stored: list[int] = []
    is_done = threading.Event()

    def store(notes: list[int]) -> None:
        if problems:
            raise problems.pop()
        stored.extend(notes)
        is_done.set()

    buffer = WriteBehindBuffer("test", store, interval=AT_ONCE)
    buffer.note(1)
    assert is_done.wait(SECONDS)
    assert stored == [1]


def test_the_thread_keeps_no_connection_between_its_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: queue.Queue[str] = queue.Queue()

    class Connection:
        def close(self) -> None:
            closed.put(threading.current_thread().name)

    monkeypatch.setattr(write_behind, "connection", Connection())
    buffer = WriteBehindBuffer[int]("test", lambda notes: None, interval=AT_ONCE)
    for number in range(2):
        buffer.note(number)
        assert closed.get(timeout=SECONDS) == "test"


def test_the_end_of_a_process_writes_what_is_left() -> None:
    """As a server's worker ends, which is a child of multiprocessing."""
    context = multiprocessing.get_context("fork")
    written = context.Semaphore(0)
    buffer = WriteBehindBuffer[int]("test", lambda notes: written.release(), interval=1000)
    child = context.Process(target=buffer.note, args=(1,))
    child.start()
    child.join(SECONDS)
    assert (child.exitcode, written.acquire(block=False)) == (0, True)


def test_a_forked_process_leaves_the_notes_to_the_one_that_made_them(settings: LazySettings) -> None:
    settings.WRITE_NOTES_IN_BACKGROUND = False
    buffer = WriteBehindBuffer[int]("test", lambda notes: None)
    buffer.note(1)
    child = os.fork()
    if child == 0:
        os._exit(len(buffer))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(buffer) == 1


@pytest.mark.parametrize(
    ("error", "kept", "logged"),
    [
        (OperationalError("away"), [1, 2, 3], "2 notes of test could not be written yet."),
        (DataError("out of range"), [3], "2 notes of test could not be written."),
    ],
    ids=["away", "refuses"],
)
def test_notes_wait_for_a_database_that_is_away_and_not_for_one_that_refuses_them(
    error: Exception, kept: list[int], logged: str, settings: LazySettings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.WRITE_NOTES_IN_BACKGROUND = False
    stored: list[list[int]] = []
    problems = [error]

    def store(notes: list[int]) -> None:
        if problems:
            buffer.note(3)  # meanwhile
            raise problems.pop()
        stored.append(notes)

    buffer = WriteBehindBuffer("test", store)
    for number in (1, 2):
        buffer.note(number)
    buffer.write()
    assert [record.getMessage() for record in caplog.records] == [logged]
    buffer.write()
    buffer.write()  # nothing is left
    assert stored == [kept]


def test_notes_above_the_limit_are_dropped_and_logged(settings: LazySettings, caplog: pytest.LogCaptureFixture) -> None:
    settings.WRITE_NOTES_IN_BACKGROUND = False
    stored: list[int] = []
    problems = [OperationalError("away")]

    def store(notes: list[int]) -> None:
        if problems:
            buffer.note(9)
            raise problems.pop()
        stored.extend(notes)

    buffer = WriteBehindBuffer("test", store, limit=3)
    for number in range(5):
        buffer.note(number)
    with caplog.at_level(logging.WARNING):
        buffer.write()
        buffer.write()
    dropped = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert dropped == [f"{count} notes of test were dropped: more than 3 at once." for count in (2, 1)]
    assert stored == [0, 1, 9]


def test_notes_that_wait_are_merged(settings: LazySettings) -> None:
    settings.WRITE_NOTES_IN_BACKGROUND = False
    problems = [OperationalError("away")]

    def store(notes: list[int]) -> None:
        if problems:
            raise problems.pop()

    buffer = WriteBehindBuffer("test", store, merge=lambda notes: [sum(notes)])
    for number in range(5):
        buffer.note(number)
    buffer.write()
    assert len(buffer) == 1
