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

from tests.clients.conftest import Driver
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

    def statuses(self) -> list[int]:
        """Return the status of each API request so far, in order. The log is written every second."""
        time.sleep(1.5)
        lines = [json.loads(line) for line in self.server.log.read_text().splitlines() if line.startswith("{")]
        return [line["status"] for line in lines if str(line.get("path", "")).startswith("/api/")]


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
    demo.connect(driver, "lookup:presence")
    assert driver.call("presence", chat_id=ADA)["id"] == ADA
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
