"""An app hears of sign-outs within seconds: the receivers of the documentation at the running embedded service."""

from __future__ import annotations

import json
import queue
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest
import requests

from tests.dashboard.documentation import programs_of_pages
from tests.dashboard.documentation.programs_of_pages import Place
from tests.journeys import samples, services
from tests.journeys.browser import TIMEOUT, Browser
from tests.journeys.people import App, Person
from tests.journeys.processes import Server, clean_environment
from tests.journeys.relying_party import RelyingParty
from tests.support import node, ports, processes

pytestmark = pytest.mark.live

PAGE = "sign-in/back-channel-logout"
WITHIN = 5.0  # seconds
FILES = {"python": "logout.py", "js": "logout.mjs"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    directory = tmp_path_factory.mktemp("logouts")
    with services.embedded_server(directory, RATE_LIMITS_ENABLED="0") as server:
        yield server
    services.forget(directory)


class Receiver:
    """A running program of the page. `url`: where it listens. `heard`: its lines, with the time at which each came."""

    def __init__(self, text: str, language: str, folder: Path, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/logout"
        file = folder / FILES[language]
        file.write_text(text)
        if language == "js":
            (folder / "node_modules").symlink_to(node.MODULES)
        self._process = subprocess.Popen(
            samples.command_for(file.name),
            cwd=folder,
            env=clean_environment(PORT=str(port)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.heard: queue.SimpleQueue[tuple[float, str]] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        assert self.next() == "listening"

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.heard.put((time.monotonic(), line.rstrip("\n")))

    def next(self) -> str:
        return self.heard.get(timeout=TIMEOUT)[1]

    def after(self, began_at: float, count: int) -> set[str]:
        """The next `count` lines, none of them later than WITHIN after `began_at`."""
        found = [self.heard.get(timeout=TIMEOUT) for _ in range(count)]
        assert max(at for at, _ in found) - began_at < WITHIN
        return {line for _, line in found}

    def end(self) -> None:
        with self._process as process:
            processes.kill_group(process)


@pytest.fixture(params=["python", "js"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class World:
    """The first user of the demo owns the app, and is the person who signs in to it."""

    def __init__(self, server: Server) -> None:
        self.base_url = server.base_url
        demo = json.loads((server.log.parent / "var" / "demo.json").read_text())
        user, app = demo["users"][0], demo["app"]
        self.person = Person(user["username"], user["email"], user["password"])
        self.app = App("", app["client_id"], app["client_secret"], app["redirect_uris"][0])

    def browser(self) -> Browser:
        """A new one, signed in."""
        browser = Browser(self.base_url)
        self.person.sign_in(browser.open("/accounts/login/"))
        return browser

    def sign_in_at_app(self, browser: Browser) -> tuple[str, str]:
        """Return `sub` and `sid` of the id_token, checked by Authlib's library, which a refresh repeats."""
        party = RelyingParty(self.base_url, self.app)
        with party.session:
            browser.open(party.begin())
            callback = browser.left_for or browser.press("Allow").left_for
            tokens = party.finish(callback)
            claims = party.claims(tokens["id_token"], nonce=party.nonce)
            refreshed = party.claims(party.refresh(tokens["refresh_token"])["id_token"], nonce=None)
        assert refreshed["sid"] == claims["sid"]
        return str(claims["sub"]), str(claims["sid"])


@pytest.fixture
def world(server: Server) -> World:
    return World(server)


def set_logout_url(owner: Browser, app: App, url: str) -> None:
    """Save the settings page with the logout URL; `Browser.press` would send one of the redirect URLs."""
    owner.open(f"/dashboard/apps/{app.client_id}/settings/")
    (form,) = [form for form in owner.page.forms if "backchannel_logout_uri" in form.fields]
    form.fields["backchannel_logout_uri"] = url
    answer = owner.session.post(owner.response.url, data=list(form.form_values()), timeout=TIMEOUT)
    assert "saved." in answer.text


def disconnect(browser: Browser, app: App) -> None:
    """Press the button beside the app, which is one of several."""
    browser.open("/accounts/connected-apps/")
    (form,) = [form for form in browser.page.forms if app.client_id in (form.get("action") or "")]
    url = urljoin(browser.response.url, form.get("action"))
    answer = browser.session.post(url, data=dict(form.form_values()), timeout=TIMEOUT)
    assert "is disconnected." in answer.text


@pytest.fixture
def receiver(world: World, language: str, tmp_path: Path) -> Iterator[Receiver]:
    """The program of the page, at the logout URL that the app's owner has set."""
    owner = world.browser()
    twin = owner.session.get(f"{world.base_url}/docs/{PAGE}.md", timeout=TIMEOUT).text
    with ports.held() as (port,):
        text = programs_of_pages.program(twin, Place(PAGE, language, 0))
        text = re.sub(r"\b[0-9a-f]{32}\b", world.app.client_id, text)  # the page has the id of the newest app
        receiver = Receiver(text, language, tmp_path, port)
        try:
            set_logout_url(owner, world.app, receiver.url)
            yield receiver
        finally:
            receiver.end()


def test_each_end_of_a_session_reaches_the_receiver_within_seconds(world: World, receiver: Receiver) -> None:
    first, second, third = world.browser(), world.browser(), world.browser()
    sub, sid = world.sign_in_at_app(first)
    others = [world.sign_in_at_app(browser)[1] for browser in (second, third)]

    began_at = time.monotonic()
    first.open("/api/auth/oauth2/end-session").press("Sign out")
    assert receiver.after(began_at, 1) == {f"ended {sub} {sid}"}

    began_at = time.monotonic()
    disconnect(second, world.app)
    expected = {*(f"ended {sub} {other}" for other in others), f"ended {sub} all"}
    assert receiver.after(began_at, 3) == expected
    assert receiver.heard.empty()


def test_the_receiver_refuses_what_is_no_logout_token(world: World, receiver: Receiver) -> None:
    party = RelyingParty(world.base_url, world.app)
    browser = world.browser().open(party.begin())
    tokens = party.finish(browser.left_for or browser.press("Allow").left_for)
    for form in ({"logout_token": tokens["id_token"]}, {"logout_token": "no.token.either"}, {"other": "field"}):
        answer = requests.post(receiver.url, data=form, timeout=TIMEOUT)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (400, "no-store")
        assert receiver.next().startswith("refused")
