"""Waits for events, and asks continuously while something else happens."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator

import requests

TIMEOUT = 60  # seconds for an answer; far more than a loaded machine takes
PATIENCE = 120.0  # seconds for an event; the same


def until(is_true: Callable[[], bool], seconds: float = PATIENCE) -> float:
    """Wait, and return how many seconds it took. AssertionError after `seconds`."""
    began_at = time.monotonic()
    while not is_true():
        assert time.monotonic() - began_at < seconds, f"Not true after {seconds:.0f} seconds"
        time.sleep(0.05)
    return time.monotonic() - began_at


@contextlib.contextmanager
def asking(ask: Callable[[requests.Session], requests.Response], threads: int = 2) -> Iterator[Counter[int | str]]:
    """Ask continuously meanwhile. At the end the counter has the answers by status and the errors by class."""
    found: Counter[int | str] = Counter()
    lock = threading.Lock()
    is_over = threading.Event()

    def ask_on() -> None:
        with requests.Session() as session:
            while not is_over.is_set():
                try:
                    outcome: int | str = ask(session).status_code
                except requests.RequestException as error:
                    outcome = type(error).__name__
                with lock:
                    found[outcome] += 1

    running = [threading.Thread(target=ask_on) for _ in range(threads)]
    for thread in running:
        thread.start()
    try:
        yield found
    finally:
        is_over.set()
        for thread in running:
            thread.join()
