"""The whole production shape: two hosts with web, event streams, jobs and a gateway worker each, behind nginx."""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.journeys.post_office import SmtpPostOffice
from tests.production import edge, engines
from tests.production.edge import Edge
from tests.production.engines import Engines
from tests.production.service_programs import START_SECONDS, Program
from tests.support import keeper, ports, processes
from tests.support.chat_platform import Simulator

ROOT = Path(__file__).parents[2]
HOSTS = ("a", "b")
WITHOUT_LIMITS = {"RATE_LIMITS_ENABLED": "0", "ALLOW_UNSAFE_START": "limits"}


@dataclass(frozen=True)
class Shape:
    """`values`: the environment of each host. `programs`: by name, such as `web-a`."""

    directory: Path
    values: dict[str, dict[str, str]]
    programs: dict[str, Program]
    engines: Engines
    edge: Edge
    platform: Simulator
    post_office: SmtpPostOffice

    @property
    def base_url(self) -> str:
        return f"https://{edge.NAME}:{self.edge.port}"

    @property
    def plain_url(self) -> str:
        return f"http://{edge.NAME}:{self.edge.plain_port}"

    def both(self, name: str) -> list[Program]:
        """The two programs of a kind, such as `web`."""
        return [self.programs[f"{name}-{host}"] for host in HOSTS]

    def logs(self) -> list[Path]:
        """What every program and every engine writes, nginx too."""
        return sorted(self.directory.glob("*.log"))

    def trusting(self) -> dict[str, str]:
        """The environment of clients that trust the certificate: requests, Node, curl and Python's own."""
        names = ("REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
        return dict.fromkeys(names, str(self.edge.authority))

    def shell(self, host: str) -> str:
        """A shell command that sets the environment of a host."""
        file = self.directory / f"environment-{host}"
        file.touch(mode=0o600)
        file.write_text("".join(f"{name}={shlex.quote(value)}\n" for name, value in self.values[host].items()))
        return f"set -a; . {file}"

    def manage(self, host: str, *arguments: str, **more: str) -> str:
        """Run a command of the service on a host, and return what it writes. AssertionError where it fails.

        `more`: variables in place of the host's.
        """
        return _manage({**self.values[host], **more}, *arguments)

    def is_ready(self) -> bool:
        """Whether every program that listens is ready and nginx sends requests to each of them."""
        kinds = {"web": "/healthz", "streams": "/api/lookup/presence/1/events"}
        return all(
            all(program.is_ready() for program in self.both(kind))
            and {self.edge.answered_by(path) for _ in HOSTS} == {program.port for program in self.both(kind)}
            for kind, path in kinds.items()
        )


@contextlib.contextmanager
def running(**more: str) -> Iterator[Shape]:
    """Start all of it, in a directory that is removed at the end. `more`: variables of the service."""
    with contextlib.ExitStack() as stack:
        directory = Path(tempfile.mkdtemp(prefix="production-"))
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        directory.chmod(0o755)  # readable for the user that PostgreSQL runs as
        stack.enter_context(keeper.watching(directory))
        office = SmtpPostOffice()
        stack.callback(office.close)
        platform = stack.enter_context(Simulator.started())
        https, http, *free = stack.enter_context(ports.held(2 + 2 * len(HOSTS)))
        found = stack.enter_context(engines.running(directory))
        home = directory / "nginx"
        common = {
            **_service(f"https://{edge.NAME}:{https}"),
            **found.variables(),
            **_chat(platform),
            "SSL_CERT_FILE": str(edge.authority_in(home)),  # for the doctor, which asks through nginx
            "EMAIL_HOST": "127.0.0.1",
            "EMAIL_PORT": str(office.port),
            **more,
        }
        values = {host: _values_of(host, directory, common) for host in HOSTS}
        _install(values)
        programs = _programs(values, found.web_database_url, directory, free)
        for program in programs.values():
            program.start()
            stack.callback(program.stop)
        web, streams = ([one.port for one in programs.values() if one.unit == unit] for unit in ("id-web", "id-events"))
        front = edge.start(home, https, http, web, streams, stack)
        for program in programs.values():
            program.wait_until_ready()
        yield Shape(directory, values, programs, found, front, platform, office)


def _service(base_url: str) -> dict[str, str]:
    return {
        "BASE_URL": base_url,
        "ALLOWED_HOSTS": edge.NAME,  # without the port: of requests that do not come through nginx
        "EDGE_CLIENT_ADDRESS_HEADER": "X-Client-Address",
        "SECRET_KEY": secrets.token_urlsafe(48),
        "SIGNING_KEY_ENCRYPTION_KEYS": secrets.token_urlsafe(48),
        "METRICS_TOKEN": secrets.token_urlsafe(24),
        "OPERATOR_EMAILS": "operators@example.org",
    }


def _chat(platform: Simulator) -> dict[str, str]:
    return {
        "CHAT_GUILD_ID": platform.guild_id,
        "CHAT_BOT_TOKEN": platform.bot_token,
        "CHAT_API_URL": platform.api_url,
    }


def _values_of(host: str, directory: Path, common: Mapping[str, str]) -> dict[str, str]:
    """With a disk of its own, and nothing of the shell but what programs need to start."""
    disk = directory / f"host-{host}"
    disk.mkdir()
    shell = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return {**shell, **common, "VAR_DIR": str(disk)}


def _install(values: dict[str, dict[str, str]]) -> None:
    """What docs/installation.md asks for before the first start: once for the database, and on each host."""
    with ThreadPoolExecutor() as pool:
        collected = [pool.submit(_manage, each, "collectstatic", "--noinput") for each in values.values()]
        _manage(values[HOSTS[0]], "migrate", "--noinput")
        _manage(values[HOSTS[0]], "signing_keys", "ensure")
        for each in collected:
            each.result()


def _manage(values: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    done = processes.run(command, seconds=START_SECONDS, cwd=ROOT, env=values)
    assert done.returncode == 0, f"{' '.join(arguments)} failed:\n{done.stdout[-4000:]}"
    return done.stdout


def _programs(
    values: dict[str, dict[str, str]], web_database_url: str, directory: Path, free: list[int]
) -> dict[str, Program]:
    """`web_database_url`, `free`: the database and the ports of web and event streams."""
    made = {}
    for host, each in values.items():
        for name, unit, port in (
            ("web", "id-web", free.pop()),
            ("streams", "id-events", free.pop()),
            ("jobs", "id-jobs", 0),
            ("gateway", "id-gateway@", 0),
        ):
            own = {**each, "DATABASE_URL": web_database_url} if port else each
            made[f"{name}-{host}"] = Program(unit, own, directory / f"{name}-{host}.log", port)
    return made
