"""What a process makes once: concurrent first calls share it."""

from __future__ import annotations

import contextlib
import threading

import pytest

from config.web import request_body
from infrastructure.once import once
from tests.support.threads import together

pytestmark = pytest.mark.once


def test_concurrent_first_calls_make_one() -> None:
    second = threading.Barrier(2)
    made = []

    @once
    def thing(name: str) -> object:
        with contextlib.suppress(threading.BrokenBarrierError):
            second.wait(timeout=0.2)  # for another call inside, which there must not be
        made.append(name)
        return object()

    assert len(set(together(4, lambda _: thing("lamp")))) == 1
    assert thing("lamp") is not thing("desk")
    assert made == ["lamp", "desk"]
    thing.cache_clear()
    thing("lamp")
    assert made == ["lamp", "desk", "lamp"]


def test_the_first_large_bodies_take_places_of_one_semaphore(monkeypatch: pytest.MonkeyPatch) -> None:
    """A place that is given back to another semaphore than it was taken from is an error."""
    both, real = threading.Barrier(2), threading.BoundedSemaphore

    def slowly(value: int) -> threading.BoundedSemaphore:
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(timeout=0.2)
        return real(value)

    monkeypatch.setattr(threading, "BoundedSemaphore", slowly)
    request_body._places.cache_clear()

    def send(_: int) -> None:
        with request_body.place({"CONTENT_LENGTH": "1000000"}):
            pass

    together(2, send)
    request_body._places.cache_clear()
