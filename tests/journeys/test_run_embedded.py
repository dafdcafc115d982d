"""The embedded default of `make run`: demo data, limits, and a clean end."""

import contextlib
import json
import os
import resource
import signal
import socket
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter

from config import jobs
from tests.config import process_table
from tests.config.process_table import Process
from tests.journeys import processes, services
from tests.journeys.browser import TIMEOUT, Browser
from tests.journeys.people import App, Person
from tests.journeys.processes import Server
from tests.journeys.relying_party import RelyingParty, discover
from tests.support import ports
from tests.support import processes as groups

pytestmark = pytest.mark.live

LIMIT = 100
TOO_MANY = {"message": "Too many requests. Please try again later."}
JOBS = (len(jobs.SCHEDULE),) * 2  # how many there are, and how many of them have succeeded
PROGRAMS = {"web", "run_jobs", "simulate_chat_platform", "run_presence_gateway"}
Demo = dict[str, Any]  # Any: the file's JSON, as demo/seeding.py writes it


def demo_of(server: Server) -> Demo:
    """Return the content of VAR_DIR/demo.json."""
    entry: Demo = json.loads((server.log.parent / "var" / "demo.json").read_text())
    return entry


def sign_in_with_demo_data(base_url: str, entry: Demo) -> dict[str, Any]:
    """Sign in to the first demo app as the first demo user, and return the claims."""
    facts, user = entry["app"], entry["users"][0]
    app = App(
        facts["name"], facts["client_id"], facts["client_secret"], facts["redirect_uris"][0], tuple(facts["scopes"])
    )
    party = RelyingParty(base_url, app)
    with Browser(base_url) as browser, party.session:
        Person(user["username"], user["email"], user["password"]).sign_in(browser.open(party.begin()))
        callback = browser.left_for or browser.press("Allow").left_for
        claims: dict[str, Any] = party.userinfo(party.finish(callback)["access_token"]).json()
        return claims


class FromAddress(HTTPAdapter):
    """Connects from another loopback address, for the limits another client."""

    def __init__(self, address: str) -> None:
        self._address = address
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """`Any`: the arguments of the pool."""
        super().init_poolmanager(*args, **kwargs, source_address=(self._address, 0))


@pytest.fixture
def clients() -> Iterator[tuple[requests.Session, requests.Session]]:
    """Two clients, each with an address of its own."""
    with requests.Session() as one, requests.Session() as other:
        one.mount("http://", FromAddress("127.0.0.2"))
        other.mount("http://", FromAddress("127.0.0.3"))
        yield one, other


def test_the_demo_data_are_good_for_a_sign_in(demo: Server) -> None:
    entry = demo_of(demo)
    user = entry["users"][0]
    claims = sign_in_with_demo_data(demo.base_url, entry)
    assert (claims["sub"], claims["uid"], claims["email"]) == (user["id"], user["uid"], user["email"])
    assert [account["type"] for account in claims["connections"]] == ["chat", "scrobbler"]
    var = demo.log.parent / "var"
    assert [path.stat().st_mode & 0o077 for path in (var, var / "demo.json")] == [0, 0], "they are for the owner only"


def test_the_start_says_each_long_step_and_then_its_address(demo: Server) -> None:
    log = demo.log.read_text()
    steps = ("Preparing the database", "Collecting and", "Making the demo data", "Starting the web")
    places = [log.index(step) for step in (*steps, f"is at {demo.base_url}\n")]
    assert places == sorted(places)


def test_the_demo_operator_can_open_the_admin(demo: Server) -> None:
    operator = demo_of(demo)["operator"]
    with Browser(demo.base_url) as browser:
        Person(operator["username"], operator["email"], operator["password"]).sign_in(browser.open("/admin/"))
        assert browser.path == "/admin/"
        assert browser.response.status_code == 200


@pytest.mark.parametrize(("method", "endpoint"), [("POST", "token"), ("GET", "authorize")])
def test_the_hundred_and_first_request_of_a_minute_waits(
    demo: Server, clients: tuple[requests.Session, requests.Session], method: str, endpoint: str
) -> None:
    client, other_client = clients
    url = f"{demo.base_url}/api/auth/oauth2/{endpoint}"
    answers = [client.request(method, url, timeout=TIMEOUT) for _ in range(LIMIT + 2)]
    assert [answer.status_code for answer in answers] == [400] * LIMIT + [429] * 2
    refused = answers[-1]
    assert refused.json() == TOO_MANY
    assert refused.headers["Content-Type"] == "application/json"
    assert 1 <= int(refused.headers["X-Retry-After"]) <= 60
    assert refused.headers["Retry-After"] == refused.headers["X-Retry-After"]

    assert client.get(f"{demo.base_url}/api/auth/oauth2/userinfo", timeout=TIMEOUT).status_code == 401
    assert other_client.request(method, url, timeout=TIMEOUT).status_code == 400


def test_no_header_makes_another_client_and_discovery_is_never_limited(
    demo: Server, clients: tuple[requests.Session, requests.Session]
) -> None:
    client, answers = clients[0], set()
    for number in range(LIMIT + 1):
        address = f"10.0.0.{number}"
        forged = {"X-Forwarded-For": address, "X-Real-IP": address, "CF-Connecting-IP": address, "Forwarded": address}
        url = f"{demo.base_url}/api/auth/oauth2/introspect"
        answers.add(client.post(url, headers=forged, timeout=TIMEOUT).status_code)
    assert answers == {400, 429}
    url = f"{demo.base_url}/.well-known/openid-configuration"
    assert {client.get(url, timeout=TIMEOUT).status_code for _ in range(LIMIT + 20)} == {200}


def programs_of(server: Server) -> dict[int, str]:
    """Return the program of each of its processes, except the first, by process id.

    The web server may answer before the last program has been started.
    """
    give_up_at = time.monotonic() + TIMEOUT
    names: dict[int, str] = {}
    while not set(names.values()) >= PROGRAMS:
        assert time.monotonic() < give_up_at, (names, server.log.read_text())
        time.sleep(0.05)
        names = {process.pid: _name(process) for process in process_table.descendants(server.process.pid)}
    return names


def _name(process: Process) -> str:
    words = process.command.split()
    if "run_embedded" in words:  # forked from the command at first
        return next((name for name in PROGRAMS if name.startswith(process.name)), process.command)
    return "web" if "granian" in words else next((name for name in PROGRAMS if name in words), process.command)


def wait_for_jobs(server: Server) -> None:
    """Wait until every periodic job has succeeded once."""
    give_up_at = time.monotonic() + TIMEOUT
    with contextlib.closing(sqlite3.connect(server.log.parent / "var" / "db.sqlite3")) as database:
        jobs_done = "SELECT count(*), count(succeeded_at) FROM accounts_jobrun"
        while database.execute(jobs_done).fetchone() != JOBS:
            assert time.monotonic() < give_up_at, server.log.read_text()
            time.sleep(0.05)


def test_the_end_leaves_no_process_and_the_next_start_finds_everything(tmp_path: Path) -> None:
    """Ctrl-C reaches every process of the terminal's group, an init system's SIGTERM only the first."""
    with services.embedded_server(tmp_path) as server, requests.Session() as kept_open:
        before, programs = demo_of(server), programs_of(server)
        kept_open.get(f"{server.base_url}/healthz", timeout=TIMEOUT)
        os.killpg(server.process.pid, signal.SIGINT)
        server.wait_until_gone()
        assert server.process.returncode in {0, 130, -signal.SIGINT}
        process_table.wait_until_gone(*programs)
        assert "Traceback" not in server.log.read_text()
    with services.embedded_server(tmp_path, BASE_URL=server.base_url, PORT=server.base_url.rpartition(":")[2]) as again:
        assert demo_of(again) == before
        assert sign_in_with_demo_data(again.base_url, before)["sub"] == before["users"][0]["id"]
        programs = programs_of(again)
        os.kill(again.process.pid, signal.SIGTERM)
        again.wait_until_gone()
        process_table.wait_until_gone(*programs)
    services.forget(tmp_path)


def test_a_web_worker_and_a_web_server_that_are_killed_are_replaced(tmp_path: Path) -> None:
    """Two workers end at once: the server ends too, and the supervisor restarts it. The chat platform takes another
    port than the next one, which is taken."""
    with contextlib.ExitStack() as stack:
        port = _port_with_a_busy_neighbor(stack)
        with services.embedded_server(tmp_path, PORT=str(port), BASE_URL=f"http://127.0.0.1:{port}") as server:
            programs = programs_of(server)
            for place in (1, 1, 0):
                killed = _web_processes(server)[place]
                os.kill(killed, signal.SIGKILL)
                process_table.wait_until_gone(killed)
                server.wait_until_ready()
            assert {pid for pid, name in programs.items() if name != "web"} <= programs_of(server).keys()
    services.forget(tmp_path)


def _web_processes(server: Server) -> tuple[int, int]:
    """Return the process ids of the server and its worker."""
    programs, table = programs_of(server), process_table.descendants(server.process.pid)
    return next((process.parent, process.pid) for process in table if programs.get(process.parent) == "web")


def test_what_breaks_is_logged_whole_and_a_killed_supervisor_takes_everything_along(tmp_path: Path) -> None:
    with services.embedded_server(tmp_path) as server:
        wait_for_jobs(server)  # one that fails would be logged too
        programs = programs_of(server)
        database = sqlite3.connect(tmp_path / "var" / "db.sqlite3")
        with contextlib.closing(database), database:
            database.execute("ALTER TABLE oidc_provider_application RENAME TO hidden")
        url = f"{server.base_url}/api/auth/oauth2/authorize?client_id=a-client&code=a-secret"
        answer = requests.get(url, timeout=TIMEOUT)
        log = server.log.read_text()
        os.kill(server.process.pid, signal.SIGKILL)
        process_table.wait_until_gone(*programs)
    assert (answer.status_code, answer.json()) == (500, {"error": "errors.internal"})
    entries = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    # A job and the request log may miss the table, too, and log that under their own names.
    (entry,) = [entry for entry in entries if entry["logger"] == "django.request"]
    assert entry["level"] == "ERROR"
    assert "no such table" in entry["exception"]
    assert "a-secret" not in log
    services.forget(tmp_path)


def _refusal(values: dict[str, str]) -> str:
    """Return the output of a command that cannot start."""
    environment = processes.clean_environment(**values)
    refused = groups.run(processes.manage("run_embedded"), seconds=60, env=environment)
    assert refused.returncode == 1
    assert "Traceback" not in refused.stdout
    return refused.stdout


def test_connections_that_say_nothing_keep_nobody_out(demo: Server) -> None:
    """The server's own default ends at 1,024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, most), most))
    address = ("127.0.0.1", int(demo.base_url.rpartition(":")[2]))
    with contextlib.ExitStack() as stack:
        for _ in range(1100):
            stack.enter_context(socket.create_connection(address, timeout=5))
        assert requests.get(f"{demo.base_url}/healthz", timeout=5).status_code == 200


def test_a_port_that_is_taken_is_named(demo: Server, tmp_path: Path) -> None:
    port = int(demo.base_url.rpartition(":")[2])
    values = services.embedded_values(tmp_path, port)
    assert f"Cannot listen on 127.0.0.1:{port}" in _refusal(values)
    assert discover(demo.base_url)["issuer"] == demo.base_url


def presence_of(base_url: str, entry: Demo, chat_id: str) -> requests.Response:
    key = next(key["key"] for key in entry["api_keys"] if "lookup:presence" in key["permissions"])
    return requests.get(f"{base_url}/api/lookup/presence/{chat_id}", headers={"X-API-Key": key}, timeout=TIMEOUT)


def test_the_presence_of_a_demo_user_is_alive(demo: Server) -> None:
    """Two readings some seconds apart differ; accounts that are no members differ from unknown ones."""
    entry = demo_of(demo)
    chat_id = entry["users"][0]["chatId"]
    give_up_at = time.monotonic() + TIMEOUT
    seen: list[Demo] = []
    while len(seen) < 2:
        assert time.monotonic() < give_up_at, demo.log.read_text()
        answer = presence_of(demo.base_url, entry, chat_id)
        body = {key: value for key, value in answer.json().items() if key != "biography"}  # that comes a read later
        if answer.status_code == 200 and body not in seen:
            seen.append(body)
        time.sleep(2.5)  # 30 a minute is what the key may ask
    assert [body["id"] for body in seen] == [chat_id] * 2
    misses = [presence_of(demo.base_url, entry, entry["chat"][which]).json() for which in ("notMember", "notFound")]
    assert misses == [
        {"error": "errors.lookupNotMember", "miss": "notMember"},
        {"error": "errors.lookupChatNotFound", "miss": "notFound"},
    ]


def test_a_named_port_of_the_chat_platform_that_is_taken_is_refused(tmp_path: Path) -> None:
    with ports.held(2) as (port, taken), socket.create_server(("127.0.0.1", taken)):
        values = services.embedded_values(tmp_path, port, CHAT_SIMULATOR_PORT=str(taken))
        assert f"Cannot listen on 127.0.0.1:{taken}" in _refusal(values)


def _port_with_a_busy_neighbor(stack: contextlib.ExitStack) -> int:
    """Hold a port while another program listens on the next one."""
    while True:
        (port,) = stack.enter_context(ports.held())
        with contextlib.suppress(OSError):
            stack.enter_context(socket.create_server(("127.0.0.1", port + 1)))
            return port
