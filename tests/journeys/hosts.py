"""Several web servers of one installation, as on several hosts, behind one address."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from tests.journeys import people, processes, services
from tests.journeys.member import Member
from tests.journeys.operators import Operator
from tests.journeys.post_office import SmtpPostOffice
from tests.journeys.processes import ROOT, Server
from tests.support import ports

GRANIAN = "-m granian --interface wsgi --workers 1 --blocking-threads 4 --workers-kill-timeout 5 --log-level warning"
COMMAND_SECONDS = 300


class Front:
    """The address of the service: passes each connection to one host, and closes those to the previous host."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._target = 0
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def lead_to(self, server: Server) -> None:
        self._target = int(server.base_url.rpartition(":")[2])
        self._drop()

    def close(self) -> None:
        self._listener.close()
        self._drop()

    def _drop(self) -> None:
        for end in list(self._open):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                for source, sink in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        self._open.add(source)
        with contextlib.suppress(OSError):
            while piece := source.recv(65_536):
                sink.sendall(piece)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)
        self._open.discard(source)
        source.close()


@dataclass(frozen=True)
class Release:
    """A release: its code, and a Python with the packages of its lock file."""

    code: Path = ROOT
    python: str = sys.executable


THIS = Release()
NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass
class Installation:
    """`values`: the environment of all hosts. A host can have additional values and another release."""

    directory: Path
    front: Front
    values: dict[str, str]
    stack: contextlib.ExitStack
    logs: list[Path] = field(default_factory=list)
    is_settled: bool = False

    def host(self, name: str, release: Release = THIS, *, values: Mapping[str, str] = NOTHING) -> Server:
        """Start a web server, without waiting until it is ready."""
        (port,) = self.stack.enter_context(ports.held())
        command = [
            release.python,
            *GRANIAN.split(),
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "config.wsgi:application",
        ]
        environment = self._environment(name, values)
        log = self._log(name)
        server = processes.begin(command, environment, log, cwd=release.code, base_url=f"http://127.0.0.1:{port}")
        self.stack.callback(server.stop)
        return server

    def program(self, name: str, command: str, release: Release = THIS) -> Server:
        """Start a command of the project that keeps running. It has no address."""
        words = [release.python, "manage.py", *command.split()]
        server = processes.begin(words, self._environment(name), self._log(name), cwd=release.code, base_url="")
        self.stack.callback(server.stop)
        return server

    def do(
        self, name: str, *arguments: str, release: Release = THIS, values: Mapping[str, str] = NOTHING
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of the project on that host."""
        return subprocess.run(
            [release.python, "manage.py", *arguments],
            cwd=release.code,
            env=processes.clean_environment(**self._environment(name, values)),
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=True,
        )

    def member(self, name: str, release: Release = THIS) -> Member:
        """Create a person with an API key and an app on that host. The tables must exist."""
        operator = self.operator(name, release)
        if not self.is_settled:
            people.settle(operator)
            self.is_settled = True
        person = people.new_person(operator)
        wanted = ["--owner", person.username, "--permission", "lookup:user", "imagehost:upload", "--json"]
        key = json.loads(self.do(name, "issue_api_key", *wanted, release=release).stdout)["key"]
        member = Member(self.front.base_url, person, people.new_app(operator), key)
        self.stack.callback(member.browser.session.close)
        return member

    def operator(self, name: str, release: Release = THIS) -> Operator:
        operator = Operator(
            self._environment(name), self.directory / "console.log", cwd=release.code, python=release.python
        )
        self.stack.callback(operator.leave)
        return operator

    def errors(self) -> list[str]:
        """Return the error lines of all logs."""
        lines = [line for log in self.logs for line in log.read_text(errors="replace").splitlines()]
        return [line for line in lines if "Traceback" in line or '"level": "ERROR"' in line]

    def _log(self, name: str) -> Path:
        self.logs.append(self.directory / f"{name}-{len(self.logs)}.log")
        return self.logs[-1]

    def _environment(self, name: str, values: Mapping[str, str] = NOTHING) -> dict[str, str]:
        return {**self.values, "VAR_DIR": str(self.directory / name), **values}


@contextlib.contextmanager
def installed(directory: Path) -> Iterator[Installation]:
    """An empty database and shared folders, without running servers."""
    with contextlib.ExitStack() as stack:
        front = Front()
        stack.callback(front.close)
        office = SmtpPostOffice()
        stack.callback(office.close)
        values = {
            "BASE_URL": front.base_url,
            "FILES_DIR": str(directory / "files"),
            "UPLOADS_DIR": str(directory / "uploads"),
            "INCOMING_DIR": str(directory / "incoming"),
            "RATE_LIMITS_ENABLED": "0",
            "ALLOW_UNSAFE_START": "edge,limits",
            "DATABASE_URL": stack.enter_context(services.database(os.environ["DATABASE_URL"])),
            "REDIS_URL": services.redis_url(),
            "EMAIL_HOST": "127.0.0.1",
            "EMAIL_PORT": str(office.port),
            "SECRET_KEY": secrets.token_urlsafe(48),
            "SIGNING_KEY_ENCRYPTION_KEYS": secrets.token_urlsafe(48),
        }
        yield Installation(directory, front, values, stack)
