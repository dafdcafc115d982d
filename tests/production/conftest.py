"""Who takes part in these tests, which `make test-production` alone collects."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys import people
from tests.journeys.browser import Browser
from tests.journeys.people import Person
from tests.journeys.services import GIVEN, Service
from tests.production.callers import Caller
from tests.production.plugin import SHAPE
from tests.production.shape import Shape

SHOWN = 5_000  # characters of each log, at most


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """True: without a production shape there is nothing to test."""
    return None if SHAPE in config.stash else True


@pytest.fixture(scope="session")
def shape(pytestconfig: pytest.Config) -> Shape:
    return pytestconfig.stash[SHAPE]


@pytest.fixture(scope="session")
def service(pytestconfig: pytest.Config) -> Service:
    return pytestconfig.stash[GIVEN]


@pytest.fixture(scope="session")
def caller(shape: Shape, service: Service) -> Caller:
    return Caller.of(shape, people.new_person(service.operator))


@pytest.fixture
def person(service: Service) -> Person:
    return people.new_person(service.operator)


@pytest.fixture
def browser(shape: Shape) -> Iterator[Browser]:
    with Browser(shape.base_url) as browser:
        yield browser


@pytest.fixture(autouse=True)
def _logs(shape: Shape, service: Service) -> Iterator[None]:
    """Print what each program logs, which pytest shows for a failed test; fail a test that makes the service log a
    traceback."""
    before = {log: log.stat().st_size for log in shape.logs()}
    yield
    written = {log: _written_since(before.get(log, 0), log) for log in shape.logs()}
    for log, text in written.items():
        if text:
            sys.stdout.write(f"--- {log.name}\n{text[-SHOWN:]}\n")
    assert not [log.name for log in service.logs if "Traceback" in written[log]]


def _written_since(size: int, log: Path) -> str:
    """A server that was started again has a new log, which may be shorter."""
    content = log.read_bytes()
    return content[size if size <= len(content) else 0 :].decode(errors="replace")
