"""The libraries that `make clients` built, where programs of others would have them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.processes import clean_environment
from tests.support import clients, node, processes

HERE = Path(__file__).parent
LANGUAGES = ("python", "typescript")
KEY = "hearth_a-key-that-nobody-may-read"


class Driver:
    """A program in one language that calls the library, line by line."""

    def __init__(self, language: str, folder: Path) -> None:
        name, program = {
            "python": ("driver.py", [sys.executable]),
            "typescript": ("driver.mjs", [str(node.PROGRAM)]),
        }[language]
        (folder / name).write_text((HERE / name).read_text())
        self._errors = folder / "errors"
        with self._errors.open("w") as errors:
            self._process = subprocess.Popen(
                [*program, name],
                cwd=folder,
                env=clean_environment(PYTHONPATH=str(clients.WHEEL), NODE_DEBUG="http,net"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )

    def connect(self, base_url: str, key: str = KEY, **options: Any) -> str:
        """Make the client; return how it prints itself."""
        return str(self.answer("connect", {"base_url": base_url, "key": key, **options})["value"])

    def call(self, name: str, /, **given: Any) -> Any:
        """Return the value. AssertionError where the library raised."""
        answer = self.answer(name, given)
        assert "error" not in answer, answer
        return answer["value"]

    def refused(self, name: str, /, **given: Any) -> dict[str, Any]:
        """Return what the library raised: kind, error, status, code, miss, retry_after."""
        answer = self.answer(name, given)
        assert "error" in answer, answer
        return dict(answer["error"])

    def written(self) -> str:
        """Return what it wrote to stderr."""
        return self._errors.read_text()

    def leave(self) -> None:
        with self._process as process:
            processes.kill_group(process)

    def answer(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        """Return `value`, or `error` as `refused` has it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"call": name, "given": given}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, self.written()
        return dict(json.loads(line))


@contextmanager
def driving(language: str, folder: Path) -> Iterator[Driver]:
    """Run the program of a language in `folder`, where the TypeScript library is installed."""
    clients.link_typescript(folder / "node_modules")
    driver = Driver(language, folder)
    try:
        yield driver
    finally:
        driver.leave()


@pytest.fixture(scope="session", params=LANGUAGES)
def driver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """A program in each of the languages, whose client is made anew by each test."""
    with driving(request.param, tmp_path_factory.mktemp("driver")) as driver:
        yield driver
