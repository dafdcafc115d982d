"""A private S3 server on free loopback ports, in a directory that goes away with it.

It is OpenStack Swift with its S3 interface: it comes as a package, needs no root, and refuses what S3 refuses, wrong
signatures above all.
"""

import contextlib
import errno
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tests.support import ports as held_ports
from tests.support import processes, swift_configuration
from tests.support.servers import ServerError
from tests.support.swift_configuration import SERVERS

ACCESS_KEY = "tests:tester"
SECRET_KEY = "a-secret-key-of-the-tests-alone"
VARIABLE = "TESTS_OBJECT_STORE"
ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60
STOP_SECONDS = 10


@dataclass(frozen=True)
class ObjectStore:
    endpoint_url: str
    access_key: str
    secret_key: str

    @property
    def public_url(self) -> str:
        """The address of public buckets, each under its name."""
        return f"{self.endpoint_url}/v1/AUTH_{self.access_key.partition(':')[0]}"

    def variables(self) -> dict[str, str]:
        """The environment by which test processes learn of it."""
        return {VARIABLE: json.dumps([self.endpoint_url, self.access_key, self.secret_key])}


@dataclass(frozen=True)
class OwnObjectStore(ObjectStore):
    """One whose processes are ours to stop."""

    _servers: "_Servers" = field(repr=False)

    def kill_object_server(self) -> None:
        """End it as a crash does: open requests break off, later ones are refused."""
        self._servers.tell("kill object-server")

    def restart_object_server(self) -> None:
        """On the same port, with what it has stored. Returns when it answers."""
        self._servers.tell("start object-server")
        self._servers.wait_for("object-server")


class Starting:
    """An object store on its way up."""

    def __init__(self, servers: "_Servers") -> None:
        self._servers = servers

    def ready(self) -> OwnObjectStore:
        """Wait until it answers."""
        for server in SERVERS:
            self._servers.wait_for(server)
        endpoint_url = f"http://127.0.0.1:{self._servers.ports['proxy-server']}"
        return OwnObjectStore(endpoint_url, ACCESS_KEY, SECRET_KEY, self._servers)


def given() -> ObjectStore | None:
    """The server of the run; None where pytest was called by itself."""
    facts = os.environ.get(VARIABLE)
    return ObjectStore(*json.loads(facts)) if facts else None


@contextlib.contextmanager
def running() -> Iterator[OwnObjectStore]:
    with starting(Path(tempfile.gettempdir())) as store:
        yield store.ready()


@contextlib.contextmanager
def starting(place: Path) -> Iterator[Starting]:
    """Start it while other work goes on, with its data in `place` if possible, and stop it whatever happens."""
    with contextlib.ExitStack() as stack:
        directory = Path(tempfile.mkdtemp(prefix="tests-s3-", dir=_with_attributes(place)))
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        ports = dict(zip(SERVERS, stack.enter_context(held_ports.held(len(SERVERS))), strict=True))
        swift_configuration.write(directory, ports, access_key=ACCESS_KEY, secret_key=SECRET_KEY)
        log = stack.enter_context((directory / "log").open("w+"))
        servers = _Servers(directory, ports, log)
        stack.callback(servers.stop)
        yield Starting(servers)


class _Servers:
    def __init__(self, directory: Path, ports: dict[str, int], log: IO[str]) -> None:
        self.ports = ports
        self._log = log
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.support.swift_servers",
                directory,
                *(f"{name}={port}" for name, port in ports.items()),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=ROOT,
            # Its warnings are not ours to mend.
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
            start_new_session=True,  # Ctrl-C reaches the tests first
        )

    def tell(self, what: str) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()
        if self._process.stdout.readline() != "done\n":
            raise ServerError(f"The object store has ended:\n{self._written()}")

    def wait_for(self, server: str) -> None:
        give_up_at = time.monotonic() + START_SECONDS
        while not _answers(self.ports[server]):
            if self._process.poll() is not None or time.monotonic() > give_up_at:
                raise ServerError(f"The {server} of the object store did not start:\n{self._written()}")
            time.sleep(0.05)

    def stop(self) -> None:
        """The end of its input ends it."""
        assert self._process.stdin
        assert self._process.stdout
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS)
        processes.kill_group(self._process)
        self._process.stdout.close()

    def _written(self) -> str:
        self._log.seek(0)
        return self._log.read()


def _with_attributes(first: Path) -> Path:
    """`first`, or another directory whose file system keeps extended attributes, where Swift writes its metadata."""
    for place in (first, Path("/var/tmp"), ROOT / ".venv" / "var", ROOT):  # noqa: S108
        if place.is_dir() and _keeps_attributes(place):
            return place
    raise ServerError("The object store needs a file system with user extended attributes; set TMPDIR to one.")


def _keeps_attributes(place: Path) -> bool:
    with tempfile.NamedTemporaryFile(dir=place) as file:
        try:
            os.setxattr(file.fileno(), "user.tests", b"x" * 1000)
        except OSError as error:
            if error.errno in {errno.ENOTSUP, errno.EPERM, errno.ENOSPC, errno.E2BIG}:
                return False
            raise
    return True


def _answers(port: int) -> bool:
    """Whether a server says anything at all, if only that it does not like the question."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/")
        connection.getresponse()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return True
