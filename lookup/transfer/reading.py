"""Lines of a file, read and judged one at a time: no database."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, BinaryIO, NoReturn

from lookup.transfer import consistency
from lookup.transfer.form import LINE, VERSION
from lookup.values import Problem, Problems, joined

MAX_BYTES = 8 * 1024 * 1024  # of a line
_NEWER = f"A newer release made this export: this one reads versions up to {VERSION}. Import it there."
_BOM = b"\xef\xbb\xbf"

Json = dict[str, Any]  # Any: what the shapes made of JSON
Located = tuple[str, Json]  # an entry with its path


class LineRefused(Exception):
    """`problems`: paths, "" for the whole line, and sentences."""

    def __init__(self, problems: Problems) -> None:
        super().__init__(problems)
        self.problems = problems


@dataclass(frozen=True)
class Line:
    """One user as the file says it. `warnings`: what is taken in another way than it stands there. `listed`: the
    entries of `tables.Table.of`, by table, once they have been asked for."""

    number: int
    data: Json
    warnings: list[Problem] = field(default_factory=list)
    listed: dict[str, list[Located]] = field(default_factory=dict)

    @cached_property
    def user(self) -> Json:
        return dict(self.data["user"])

    @cached_property
    def profile(self) -> Json:
        return dict(self.data["profile"])

    @cached_property
    def user_id(self) -> str:
        return str(self.data["user"]["id"])

    @cached_property
    def profile_id(self) -> str:
        return str(self.data["profile"]["profileId"])

    def rows(self, include: str) -> list[Json]:
        """The entries of an include that is a list."""
        return list(self.data[include])

    def comments(self) -> list[Json]:
        return list(self.data["comments"]["items"])


class _Doubled(dict[str, Any]):
    """An object that has a name twice."""

    name = ""


def lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines that hold something, with their numbers from 1. Of one that is too long, only the beginning."""
    number = 0
    while line := file.readline(MAX_BYTES + 2):
        number += 1
        whole = line
        while whole and not whole.endswith(b"\n"):
            whole = file.readline(MAX_BYTES)
        if number == 1:
            line = line.removeprefix(_BOM)
        if line := line.strip(b" \t\r\n"):
            yield number, line


def read(number: int, text: bytes) -> Line:
    """LineRefused, with every problem that was found."""
    value = _parsed(text)
    problems: Problems = []
    if not isinstance(value, dict):
        raise LineRefused([("", "Must be an object.")])
    if isinstance(version := value.get("version"), int | float) and version > VERSION:
        raise LineRefused([("version", _NEWER)])
    data = LINE.read(value, "", problems)
    problems = problems or list(consistency.problems(data))
    if problems:
        raise LineRefused(problems)
    return Line(number, data, list(consistency.warnings(data)))


def _parsed(text: bytes) -> Any:
    """Any: JSON."""
    if len(text) > MAX_BYTES:
        raise LineRefused([("", f"Has more than {MAX_BYTES} bytes.")])
    doubled: list[_Doubled] = []

    def make(pairs: list[tuple[str, Any]]) -> Json:
        found = dict(pairs)
        if len(found) < len(pairs):
            found = _Doubled(found)
            found.name = Counter(name for name, _ in pairs).most_common(1)[0][0]
            doubled.append(found)
        return found

    try:
        value = json.loads(text.decode(), object_pairs_hook=make, parse_constant=_refuse_constant)
        names = list(_doubled_names(value, "")) if doubled else []
    except UnicodeDecodeError:
        raise LineRefused([("", "Is not UTF-8.")]) from None
    except json.JSONDecodeError as error:
        raise LineRefused([("", f"Is not JSON: {error.msg} at character {error.pos + 1}.")]) from None
    except RecursionError:
        raise LineRefused([("", "Is not JSON that can be read: it is nested too deep.")]) from None
    except ValueError as error:  # a constant, or more digits than Python reads
        said = error.args[0] if isinstance(error, _NoNumber) else "a number has too many digits."
        raise LineRefused([("", f"Is not JSON that can be read: {said}")]) from None
    if names:
        raise LineRefused([(path, "Stands there twice.") for path in names])
    return value


class _NoNumber(ValueError):
    pass


def _refuse_constant(name: str) -> NoReturn:
    raise _NoNumber(f"{name} is no number of JSON.")


def _doubled_names(value: Any, path: str) -> Iterator[str]:
    """Any: JSON."""
    if isinstance(value, _Doubled):
        yield joined(path, value.name)
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, entry in entries:
        yield from _doubled_names(entry, joined(path, name))
