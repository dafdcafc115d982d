"""The first sign-in of the README."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from tests.journeys import processes
from tests.journeys.browser import TIMEOUT, Browser
from tests.journeys.people import Person
from tests.journeys.processes import Server

pytestmark = pytest.mark.live

SCRIPT = processes.ROOT / "docs" / "samples" / "first_sign_in.py"


def test_the_first_sign_in_ends_on_a_page_with_the_code_and_a_command_that_exchanges_it(demo: Server) -> None:
    path = demo.log.parent / "var" / "demo.json"
    user = json.loads(Path(path).read_text())["users"][0]
    with subprocess.Popen([sys.executable, SCRIPT, path], stdout=subprocess.PIPE, text=True) as script:
        assert script.stdout is not None
        address = script.stdout.readline().removeprefix("Open ").strip()
        callback = allowed(demo.base_url, address, Person(user["username"], user["email"], user["password"]))
        wrong = requests.get(callback.replace("state=", "state=x"), timeout=TIMEOUT)
        page = requests.get(callback, timeout=TIMEOUT)
        command = shlex.split(script.stdout.read().partition("\n\n")[2].replace("\\\n", ""))
    assert (wrong.status_code, page.status_code, script.returncode) == (400, 200, 0)
    (code,) = [word.removeprefix("code=") for word in command if word.startswith("code=")]
    assert code in page.text
    assert command[0] == "curl"
    tokens = json.loads(subprocess.run([*command, "-s"], capture_output=True, check=True, timeout=TIMEOUT).stdout)
    assert {"access_token", "id_token", "refresh_token"} <= set(tokens)


def allowed(base_url: str, address: str, person: Person) -> str:
    """Sign in, allow, and return the URL of the callback."""
    with Browser(base_url) as browser:
        person.sign_in(browser.open(address))
        return browser.left_for or browser.press("Allow").left_for
