"""Both libraries against the running service with its limits, and the samples that use them."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.clients.conftest import Driver, driving
from tests.clients.relay import relay
from tests.journeys import services
from tests.journeys.processes import ROOT, Server, clean_environment
from tests.support import clients, node, processes

pytestmark = [pytest.mark.live, pytest.mark.once]
ADA, CLEO = "268473310986240001", "268473310986240003"
SAMPLES = ROOT / "docs" / "samples"


@dataclass
class Demo:
    """The service of `make run`. `keys`: of ada, by permission."""

    server: Server
    keys: dict[str, str]

    def connect(self, driver: Driver, permission: str, **options: Any) -> None:
        driver.connect(self.server.base_url, self.keys[permission], **options)

    def statuses(self, path: str) -> list[int]:
        """Return the status of each request of `path` so far, in order. The log is written every second."""
        time.sleep(1.5)
        lines = [json.loads(line) for line in self.server.log.read_text().splitlines() if line.startswith("{")]
        return [line["status"] for line in lines if line.get("path") == path]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    directory = tmp_path_factory.mktemp("clients")
    with services.embedded_server(directory, ACCESS_LOG="1") as server:
        said = json.loads((directory / "var" / "demo.json").read_text())
        yield Demo(server, {entry["permissions"][0]: entry["key"] for entry in said["api_keys"]})
    services.forget(directory)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a program that has installed the TypeScript library."""
    folder = tmp_path_factory.mktemp("program")
    clients.link_typescript(folder / "node_modules")
    return folder


def test_the_samples_have_no_error_of_types(folder: Path) -> None:
    python = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", str(SAMPLES / "follow_presence.py")]
    path = {"MYPYPATH": str(clients.FOLDER / "python" / "src")}
    checked = processes.run(python, seconds=120, cwd=folder, env=clean_environment(**path))
    assert checked.returncode == 0, checked.stdout
    project = {
        "extends": str(clients.FOLDER / "typescript" / "tsconfig.json"),
        "compilerOptions": {"noEmit": True, "rootDir": "."},
        "include": ["node.d.ts", "follow_presence.ts"],
    }
    node_types = "declare const process: { env: Record<string, string>; argv: string[]; exitCode: number };"
    files = {
        "package.json": '{"type": "module"}',
        "tsconfig.json": json.dumps(project),
        "node.d.ts": node_types,
        "follow_presence.ts": (SAMPLES / "follow_presence.ts").read_text(),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    compiler = clients.FOLDER / "typescript" / "node_modules" / "typescript" / "bin" / "tsc"
    checked = processes.run([str(node.PROGRAM), str(compiler)], seconds=120, cwd=folder)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("name", ["follow_presence.py", "follow_presence.ts"])
def test_the_samples_print_the_status_of_a_user(demo: Demo, folder: Path, name: str) -> None:
    (folder / name).write_text((SAMPLES / name).read_text())
    program = sys.executable if name.endswith(".py") else str(node.PROGRAM)
    keys = {"USER_KEY": demo.keys["lookup:user"], "PRESENCE_KEY": demo.keys["lookup:presence"]}
    with subprocess.Popen(
        [program, name, demo.server.base_url, "ada"],
        cwd=folder,
        env=clean_environment(PYTHONPATH=str(clients.WHEEL), **keys),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as sample:
        assert sample.stdout is not None
        lines = [sample.stdout.readline() for _ in range(2)]
        processes.kill_group(sample)
    assert [line.partition(": ")[0] for line in lines] == ["ada", "ada"]
    assert {line.partition(": ")[2].strip() for line in lines} <= {"online", "idle", "dnd", "offline", "streaming"}


def test_each_call_returns_what_the_service_says(demo: Demo, driver: Driver) -> None:
    demo.connect(driver, "lookup:user")
    found = driver.call("user", type="username", value="ada", badges=True, links=False)
    assert (found["error"], found["user"]["username"]) == (None, "ada")
    assert set(found) == {"error", "user", "badges"}
    missing = driver.refused("user", type="username", value="nobody-has-this-name")
    assert (missing["status"], missing["kind"]) == (404, "AnswerError")
    several = driver.call("users", type="username", values=["ben", "nobody-has-this-name"], links=True)["results"]
    assert [set(result) for result in several] == [{"error", "user", "links"}, {"error"}]
    demo.connect(driver, "lookup:presence")
    assert driver.call("presence", chat_id=ADA)["id"] == ADA
    assert [result["id"] for result in driver.call("presences", chat_ids=[CLEO, ADA])["results"]] == [CLEO, ADA]
    demo.connect(driver, "account")
    assert [entry["rank"] for entry in driver.call("leaderboard", board="badges", limit=2)] == [1, 2]
    picture = io.BytesIO()
    Image.new("RGB", (8, 8), "teal").save(picture, "PNG")
    demo.connect(driver, "imagehost:upload")
    stored = driver.call("upload", file=base64.b64encode(picture.getvalue()).decode(), name="picture.png")
    assert (stored["ok"], stored["mime"]) == (True, "image/png")


def test_a_stream_goes_on_over_a_connection_that_is_cut(demo: Demo, driver: Driver) -> None:
    with relay(demo.server.base_url) as between:
        driver.connect(between.base_url, demo.keys["lookup:presence"])
        cut = threading.Timer(2, between.break_connections)
        cut.start()
        events = driver.call("presence_events", chat_id=CLEO, count=4)
        cut.join()
    assert {event["name"] for event in events} == {"presence"}
    assert all(event["data"]["id"] == CLEO for event in events)
    assert between.heard.count(b"GET /api/lookup/presence/") == 2
    assert b"last-event-id: " in between.heard.lower()


def test_a_stream_of_several_members_names_the_member_of_each_event(demo: Demo, driver: Driver) -> None:
    demo.connect(driver, "lookup:presence")
    events = driver.call("presences_events", chat_ids=[ADA, CLEO], count=3)
    assert [event["data"]["id"] for event in events[:2]] == [ADA, CLEO]
    assert [event["data"]["presence"]["id"] for event in events[:2]] == [ADA, CLEO]
    assert {event["name"] for event in events} == {"presence"}


def test_the_service_answers_304_and_the_program_gets_the_whole_answer(demo: Demo, driver: Driver) -> None:
    demo.connect(driver, "lookup:user")
    before = demo.statuses("/api/lookup/user")
    found = [driver.call("user", type="uid", value="2", badges=True) for _ in range(3)]
    assert found[0]["user"]["username"] == "ben"
    assert found == [found[0]] * 3
    assert demo.statuses("/api/lookup/user")[len(before) :] == [200, 304, 304]


@pytest.mark.parametrize(
    ("language", "permission", "call", "given", "path"),
    [
        ("python", "lookup:user", "users", {"type": "uid", "values": ["1"] * 50}, "/api/lookup/users"),
        ("typescript", "lookup:presence", "presences", {"chat_ids": [ADA] * 50}, "/api/lookup/presence"),
    ],
    ids=["python", "typescript"],
)
def test_a_program_that_asks_too_often_is_held_back_before_the_service_refuses_it(
    demo: Demo, tmp_path: Path, language: str, permission: str, call: str, given: dict[str, Any], path: str
) -> None:
    """Each call counts as five of the thirty requests of a key."""
    before = demo.statuses(path)
    with driving(language, tmp_path) as driver:
        demo.connect(driver, permission, patience=1)
        asked = [driver.answer(call, given) for _ in range(7)]
    assert asked[0]["value"]["error"] is None
    assert asked[6]["error"]["kind"] == "WaitTooLongError"
    assert 0 < asked[6]["error"]["retry_after"] <= 60
    assert set(demo.statuses(path)[len(before) :]) <= {200, 304}
