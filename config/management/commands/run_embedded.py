"""manage.py run_embedded: what `make run` starts."""

import functools
import gc
import hashlib
import multiprocessing
import os
import runpy
import select
import signal
import socket
import stat
import sys
from pathlib import Path
from typing import Any, NoReturn

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import Permission
from django.contrib.staticfiles.finders import get_finders
from django.core.exceptions import ValidationError
from django.core.management import BaseCommand, CommandError, call_command, execute_from_command_line
from django.db import connection, connections
from django.db.migrations.recorder import MigrationRecorder

from config import checks
from config.operations import forks, supervisor
from config.operations.supervisor import Program
from config.web import web_worker
from lookup import leaderboards
from lookup.models import LeaderboardEntry
from oidc_provider.token import signing

if sys.platform != "win32":
    import resource

PORT_VARIABLE = "CHAT_SIMULATOR_PORT"
MOST_CONNECTIONS = 8192  # of the web server; a silent one is closed after 30 s
PATIENCE = 60.0  # seconds that the other programs and the printed address wait for the web server
_MODULE = ("-m", "granian")
# One worker: limits and caches of the embedded default live in it.
_OPTIONS = (
    *("--interface", "asgi"),
    *("--loop", "auto" if sys.platform == "win32" else "uvloop"),
    *("--workers", "1"),
    *("--http", "1"),  # where HTTP/2 is allowed too, a connection that sends nothing stays open for ever
    *("--backpressure", str(MOST_CONNECTIONS)),  # idle ones count; the default is 1,024
    *("--workers-kill-timeout", "5"),  # a connection that idles must not keep Ctrl-C waiting
    "--respawn-failed-workers",
    *("--log-level", "error"),
    "--no-ws",
    "--no-access-log",
)


class Command(BaseCommand):
    requires_system_checks = [checks.TAG]  # the rest load every view, which the web server does anyway
    help = "Prepares the embedded default (SQLite, demo data) and serves it."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.EMBEDDED:
            raise CommandError("DATABASE_URL is set: this command serves the embedded default only.")
        _raise_limit_of_open_files()
        before = signal.signal(signal.SIGINT, _leave)
        try:
            self._serve(self._prepare())
        finally:
            signal.signal(signal.SIGINT, before)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, supervisor.ENDS)

    def _prepare(self) -> str:
        """Return what to print once the service answers."""
        # The server would share a port in use with another one that allows that.
        if problem := _problem_of_port(settings.HOST, settings.PORT):
            raise CommandError(
                f"Cannot listen on {settings.HOST}:{settings.PORT} ({problem}). "
                "Stop what uses the port, or set PORT to another one."
            )
        self._find_a_port_for_the_chat_platform()
        directory = Path(settings.VAR_DIR)
        directory.mkdir(parents=True, exist_ok=True)
        if directory.stat().st_mode & stat.S_ISVTX:  # /tmp itself, which other accounts need
            raise CommandError(f"VAR_DIR is {directory}, which others share; give it a directory of its own.")
        directory.chmod(0o700)  # state and secrets are for this account
        self._migrate()
        self._collect_static_files()
        signing.ensure_signing_key()
        return self._seed() if apps.is_installed("demo") else _address()

    def _say(self, step: str) -> None:
        self.stdout.write(f"{step} …")
        self.stdout.flush()  # it may be a pipe, which would show nothing for seconds

    def _migrate(self) -> None:
        """Migrate, unless every migration is applied: loading the migrations takes a quarter of a second."""
        there = {
            (app.label, path.stem)
            for app in apps.get_app_configs()
            for path in Path(app.path, "migrations").glob("[!_]*.py")
        }
        missing = there - MigrationRecorder(connection).applied_migrations().keys()
        if missing or not Permission.objects.exists():  # a start that was ended before has made the tables only
            self._say(f"Preparing the database: {len(missing)} migrations")
            call_command("migrate", verbosity=0, interactive=False)

    def _seed(self) -> str:
        """Seed the demo data; return its accounts and addresses in words.

        The service starts without the data where names are taken or the demo's owner is banned.
        """
        from demo import seeding  # a production build has no such app

        if not seeding.path().exists():
            self._say("Making the demo data: people, files, apps and keys")
        try:
            entry = seeding.seed()
            if not LeaderboardEntry.objects.exists():
                leaderboards.rank()  # the job first runs after the server's first answer
        except ValidationError as error:
            self.stderr.write(f"The demo data could not be made: {' '.join(error.messages)}")
            return _address()
        base_url, operator, person = entry["base_url"], entry["operator"], entry["users"][0]
        return (
            f"{_address()}\n"
            f"  admin      {base_url}/admin/  as {operator['username']} / {operator['password']}\n"
            f"  a user     {base_url}/accounts/login/  as {person['username']} / {person['password']}\n"
            f"  a profile  {base_url}/{person['username']}\n"
            f"  discovery  {base_url}/.well-known/openid-configuration\n"
            f"  all of it, apps and keys too, is in {seeding.path()}; Ctrl-C stops the server"
        )

    def _find_a_port_for_the_chat_platform(self) -> None:
        """Start again with a free port where none is configured: the settings hold it, also those of the programs."""
        port = settings.CHAT.simulator_port
        if not port or not (problem := _problem_of_port("127.0.0.1", port)):
            return
        if PORT_VARIABLE in os.environ:
            raise CommandError(f"Cannot listen on 127.0.0.1:{port} ({problem}). Set {PORT_VARIABLE} to another port.")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            os.environ[PORT_VARIABLE] = str(probe.getsockname()[1])
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - our own command line

    def _collect_static_files(self) -> None:
        """Collect static files, unless no file has changed: hashing and compressing takes seconds."""
        stamp = Path(settings.VAR_DIR) / "static.stamp"
        now = _fingerprint_of_static_files()
        if stamp.exists() and stamp.read_text() == now and Path(settings.STATIC_ROOT).is_dir():
            return
        self._say("Collecting and compressing static files")
        call_command("collectstatic", verbosity=0, interactive=False, clear=True)
        stamp.write_text(now)

    def _serve(self, entry: str) -> None:
        """Start the programs, then become their supervisor, which needs none of what this process has loaded."""
        self._say("Starting the web server")
        os.chdir(settings.BASE_DIR)
        connections.close_all()
        web, others = _web_server(), _other_programs()
        if forks.IS_SAFE:
            gc.freeze()  # a collection writes to each object that it looks at, which ends the sharing of its memory
            web = _forked_web_server(web)
            others = [forks.start(each, functools.partial(_run_command, each)) for each in others]
        self.stdout.write(entry)
        self.stdout.flush()
        command = supervisor.command_of([web, *others])
        signal.pthread_sigmask(signal.SIG_BLOCK, supervisor.ENDS)  # until the supervisor listens to them
        os.execv(command[0], command)  # noqa: S606 - our own interpreter, fixed arguments


def _address() -> str:
    return f"{settings.SITE_NAME} is at {settings.BASE_URL}"


def _problem_of_port(host: str, port: int) -> str:
    """Return why the address cannot be listened on; empty where it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does: not the last run's rest
        try:
            probe.bind((host, port))
        except OSError as error:
            return error.strerror or str(error)
    return ""


def _raise_limit_of_open_files() -> None:
    """Raise it to the connections and what is open beside them, as far as the system allows; it is often 1,024."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + 1024
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _web_server() -> Program:
    """Return the web server, still to be started.

    It replaces a worker that ends, and ends itself where two end within 5.5 seconds: the supervisor starts it again.
    """
    where = ("--host", settings.HOST, "--port", str(settings.PORT))
    return Program("web", (sys.executable, *_MODULE, *_OPTIONS, *where, "config.web.embedded:application"))


def _forked_web_server(web: Program) -> Program:
    """Start the web server and wait until it can answer: the other programs would take its time."""
    reader, writer = os.pipe()
    web = forks.start(web, functools.partial(_run_web_server, web, writer))
    os.close(writer)
    select.select([reader], [], [], PATIENCE)  # readable, too, once the server and its worker have ended
    os.close(reader)
    return web


def _run_web_server(web: Program, writer: int) -> None:
    os.environ[web_worker.READY_VARIABLE] = str(writer)
    gc.disable()  # until the worker has loaded everything
    multiprocessing.set_start_method("fork")  # from Python 3.14 on the default is another one
    sys.argv = list(web.argv[2:])
    runpy.run_module(_MODULE[1], run_name="__main__", alter_sys=True)


def _run_command(program: Program) -> None:
    execute_from_command_line(list(program.argv[1:]))


def _other_programs() -> list[Program]:
    """Return the programs of the service besides the web server."""
    manage = (sys.executable, str(settings.BASE_DIR / "manage.py"))
    names = ["run_jobs"]
    if settings.CHAT.simulator_port:
        names.append("simulate_chat_platform")
    if settings.CHAT.guild_id:
        names.append("run_presence_gateway")
    return [Program(name, (*manage, name, "--parent", str(os.getpid()))) for name in names]


def _fingerprint_of_static_files() -> str:
    """Hash names, sizes and times of every source file."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in sorted(finder.list([]), key=lambda found: found[0]):
            facts = Path(storage.path(name)).stat()
            digest.update(f"{name} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _leave(number: int, frame: object) -> NoReturn:
    """End without a traceback on Ctrl-C."""
    raise SystemExit(128 + number)
