"""The lists `tests/mutants/*.toml`, one for each app: a table `[[fault]]` for each fault.

They hold faults about money, rights, secrets, edges of time windows and races.

`name`: what is wrong with the program, as a sentence. `file`: the module. `find` and `replace`: a text that occurs
there exactly once, and what takes its place. `tests`: files or node ids, of which at least one test must fail.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LISTS = Path(__file__).parent


class StaleFaultError(Exception):
    """The code or the tests that a fault names have changed."""


@dataclass(frozen=True)
class Fault:
    app: str
    name: str
    file: str
    find: str
    replace: str
    tests: list[str]

    def mutated(self) -> str:
        """The text of `file` with the fault in it."""
        path = ROOT / self.file
        text = path.read_text() if path.exists() else ""
        if text.count(self.find) != 1 or self.find == self.replace:
            raise StaleFaultError(f"{self.app}: {self.name}: {text.count(self.find)} places in {self.file}, not 1")
        return text.replace(self.find, self.replace)

    def check(self) -> None:
        """Raise StaleFaultError where the code or a test is not there."""
        self.mutated()
        missing = [test for test in self.tests if not (ROOT / test.partition("::")[0]).exists()]
        if missing or not self.tests:
            raise StaleFaultError(f"{self.app}: {self.name}: no such tests: {missing}")


def listed() -> Iterator[Fault]:
    """All faults, by app."""
    for path in sorted(LISTS.glob("*.toml")):
        for row in tomllib.loads(path.read_text())["fault"]:
            yield Fault(app=path.stem, **row)
