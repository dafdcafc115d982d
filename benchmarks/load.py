"""The load generator: `load.js` under Node, fed with prebuilt requests."""

from __future__ import annotations

import json
import subprocess
import urllib.parse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import processors
from tests.support import node, processes

PROGRAM = Path(__file__).with_name("load.js")
CONNECTIONS = 16
HOST = "id.example.org"


class LoadError(Exception):
    """Answers were refused, or the generator failed; the message says how."""


@dataclass(frozen=True)
class Load:
    """What one run sends. `file`: as `write` made it; `once`: the run ends with the last request."""

    file: Path
    seconds: float
    warm_up: float = 1.0
    connections: int = CONNECTIONS
    once: bool = False
    expect: int = 200


@dataclass(frozen=True)
class Answers:
    """Latencies in ms; `generator_cpu`: processor seconds of the generator itself."""

    count: int
    seconds: float
    p50: float
    p99: float
    received: int
    generator_cpu: float


def request(
    path: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    form: Mapping[str, str] | None = None,
    json_body: str = "",
) -> bytes:
    """The bytes of one HTTP/1.1 request."""
    body = urllib.parse.urlencode(form).encode() if form is not None else json_body.encode()
    lines = {"Host": HOST, **(headers or {})}
    if form is not None:
        lines |= {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(len(body))}
    if json_body:
        lines |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body


def write(file: Path, requests: Iterable[bytes]) -> None:
    """Write the requests, each after its length in four bytes."""
    with file.open("wb") as output:
        for each in requests:
            output.write(len(each).to_bytes(4, "big") + each)


def send(load: Load, port: int, *, measuring: Callable[[], None]) -> Answers:
    """Send the requests to a server on loopback. `measuring` is called when the warm-up is over.

    LoadError where an answer has another status than the expected one.
    """
    options = {
        "port": port,
        "connections": load.connections,
        "warmUp": load.warm_up,
        "seconds": load.seconds,
        "file": str(load.file),
        "once": load.once,
        "expect": load.expect,
    }
    process = subprocess.Popen(
        [str(node.PROGRAM), str(PROGRAM), json.dumps(options)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env=node.environment(),
        start_new_session=True,
        preexec_fn=processors.end_with_parent,  # noqa: PLW1509 - it takes no lock
    )
    try:
        with process:
            assert process.stdout is not None  # noqa: S101 - it is a pipe
            if process.stdout.readline() == "measuring\n":
                measuring()
            line = process.stdout.readline()
    finally:
        processes.kill_group(process)
    if not line:
        raise LoadError("The load generator ended without a result.")
    return _checked(json.loads(line))


def _checked(found: dict[str, Any]) -> Answers:
    """Any: the generator's figures."""
    if found["failed"] or not found["answered"]:
        raise LoadError(f"{found['failed']} answers were refused: {found['refusals']}; such as:\n{found['example']}")
    return Answers(
        count=found["answered"],
        seconds=found["seconds"],
        p50=found["p50"],
        p99=found["p99"],
        received=found["received"],
        generator_cpu=found["own_cpu"],
    )
