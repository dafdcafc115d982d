"""Runs the code samples of the dashboard: saved under their names, with the secret in the environment."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import lxml.html
import requests

from dashboard.client_apps.code_samples import STACKS
from tests.journeys.browser import Browser
from tests.journeys.people import App, Person
from tests.journeys.processes import clean_environment
from tests.support import node, processes

TIMEOUT = 30
_WARNING = re.compile("warning|deprecat|insecure", re.IGNORECASE)
_QUOTED = [quoted for stack in STACKS for note in stack.notes for quoted in re.findall("“(.+?)”", note)]


def shown(browser: Browser, app: App, stack: str) -> tuple[str, str]:
    """Return the file's name and the code on the page; `browser`: of the app's owner, signed in."""
    page = browser.open(f"/dashboard/apps/{app.client_id}/code/?stack={stack}").page
    (code,) = page.xpath("//code[@id='sample-code']")
    (name,) = page.xpath("//*[@class='snippet__head']/span")
    return str(name.text_content()).partition(" · ")[0], str(code.text_content())


class Program:
    """A running sample. Leaving `with` ends it."""

    def __init__(self, command: Sequence[str], app: App, folder: Path) -> None:
        """Plain http is for loopback only; both libraries need a setting for it."""
        self._printed = ""
        insecure = {"OAUTHLIB_INSECURE_TRANSPORT": "1", "AUTHLIB_INSECURE_TRANSPORT": "1"}
        self._process = subprocess.Popen(
            [*command],
            cwd=folder,
            env=clean_environment(CLIENT_SECRET=app.client_secret, **insecure),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *error: object) -> None:
        """End it, and fail where it printed a warning that no note of its stack quotes."""
        with self._process as process:
            processes.kill_group(process)
            rest = "" if process.stdout is None or process.stdout.closed else process.stdout.read()
        printed = [line for line in (self._printed + rest).splitlines() if _WARNING.search(line)]
        assert [line for line in printed if not any(quoted in line for quoted in _QUOTED)] == []

    def address(self) -> str:
        """Return the URL that a terminal program asks the user to open."""
        assert self._process.stdout is not None
        assert "Open this address" in self._process.stdout.readline()
        return self._process.stdout.readline().strip()

    def paste(self, callback: str) -> str:
        """Enter the callback URL and return the program's last line."""
        said, _ = self._process.communicate(f"{callback}\n", timeout=TIMEOUT)
        self._printed = said
        assert self._process.returncode == 0, said
        return said.strip().splitlines()[-1]

    def wait_for(self, port: int) -> None:
        """Wait until it listens."""
        gives_up_at = time.monotonic() + TIMEOUT
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                return
            if self._process.poll() is not None or time.monotonic() > gives_up_at:
                processes.kill_group(self._process)
                raise AssertionError(self._process.communicate()[0])
            time.sleep(0.05)


@contextlib.contextmanager
def saved(folder: Path, name: str, code: str) -> Iterator[Path]:
    (folder / name).write_text(code)
    if name.endswith(".mjs"):
        (folder / "node_modules").symlink_to(node.MODULES)
    yield folder / name


def command_for(name: str) -> list[str]:
    interpreter = {"sh": "bash", "mjs": str(node.PROGRAM), "py": sys.executable}[name.rpartition(".")[2]]
    return [interpreter, name]


def start_of(origin: str) -> str:
    """Return where the button on the app's first page leads; its picture has to be there."""
    (link,) = lxml.html.fromstring(requests.get(f"{origin}/", timeout=TIMEOUT).text).xpath("//a[img]")
    (picture,) = link.xpath("img")
    assert picture.get("alt") == "Sign in with Hearth"
    assert requests.get(picture.get("src"), timeout=TIMEOUT).headers["Content-Type"] == "image/svg+xml"
    return str(link.get("href"))


def sign_in_through(origin: str, start: str, browser: Browser, person: Person) -> requests.Response:
    """Sign in to an app at `origin`, from its first page to the page after its callback."""
    with requests.Session() as visitor:
        visitor.trust_env = False
        first = visitor.get(f"{origin}{start}", allow_redirects=False, timeout=TIMEOUT)
        assert first.is_redirect, first.text
        person.sign_in(browser.open(first.headers["Location"])).press("Allow")
        return visitor.get(browser.left_for, timeout=TIMEOUT)
