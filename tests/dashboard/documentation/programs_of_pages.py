"""The programs on the pages: which there are, and how they are run."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboard.documentation import contents
from tests.support import clients, processes

LANGUAGES = ("sh", "python", "js")
BIN = Path(sys.executable).parent
TIMEOUT = 60
_BLOCK = re.compile(r"^```(\w+)(?: [^\n]*)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Place:
    """The `number`-th program in `language` on a page, from 0."""

    slug: str
    language: str
    number: int

    def __str__(self) -> str:
        return f"{self.slug or 'start'}-{self.language}-{self.number}"


def places() -> Iterator[Place]:
    """Of every page, by what stands in its source."""
    for slug, page in contents.pages().items():
        counts = dict.fromkeys(LANGUAGES, 0)
        for kind, _ in _BLOCK.findall(page.source):
            for language in LANGUAGES:
                if kind in ("request", language):
                    yield Place(slug, language, counts[language])
                    counts[language] += 1


def program(twin: str, place: Place) -> str:
    bodies: list[str] = [body for kind, body in _BLOCK.findall(twin) if kind == place.language]
    return bodies[place.number]


def examples(twin: str) -> list[Any]:
    """The JSON on a page, whatever it is."""
    return [json.loads(body) for kind, body in _BLOCK.findall(twin) if kind == "json"]


def run(text: str, language: str, directory: Path, environment: Mapping[str, str]) -> str:
    """What it printed. Fails unless the program ended well."""
    command = ["sh", "-c", 'exec "$@" 2>stderr', "sh", *_command(text, language, directory)]
    done = processes.run(command, seconds=TIMEOUT, cwd=directory, env=_environment(directory, environment))
    assert done.returncode == 0, f"{text}\n{done.stdout}{(directory / 'stderr').read_text()}"
    said = (directory / "stderr").read_text()
    if language != "sh":  # curl shows its progress
        assert said == "", f"It warns, and the page does not say why:\n{said}"
    return done.stdout


def follow(text: str, language: str, directory: Path, environment: Mapping[str, str], *, until: str) -> list[str]:
    """The lines that it prints up to one that begins with `until`; then it is ended."""
    process = subprocess.Popen(
        _command(text, language, directory),
        cwd=directory,
        env=_environment(directory, environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    guard = threading.Timer(TIMEOUT, processes.kill_group, [process])
    guard.start()
    lines: list[str] = []
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if line.startswith(until):
                break
        processes.kill_group(process)
    guard.cancel()
    return lines


def read(output: str, language: str) -> Any:
    """What a program printed as data: JSON, or a value of Python."""
    return ast.literal_eval(output) if language == "python" else json.loads(output)


def _command(text: str, language: str, directory: Path) -> list[str]:
    file = directory / {"sh": "sample.sh", "python": "sample.py", "js": "sample.mjs"}[language]
    file.write_text(text)
    interpreter = {"sh": ["sh", "-eu"], "python": [sys.executable], "js": [str(BIN / "node")]}[language]
    return [*interpreter, file.name]


def _environment(directory: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Nothing of the tests' own; programs of the directory come first."""
    path = os.pathsep.join([str(directory), str(BIN), os.environ.get("PATH", "")])
    return {
        "PATH": path,
        "HOME": str(directory),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(clients.WHEEL),
        **environment,
    }
