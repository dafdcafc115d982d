"""Ready code signs people in: the samples of the dashboard, and the first sign-in of the README."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.journeys import allauth_site, people, samples
from tests.journeys.browser import TIMEOUT, Browser
from tests.journeys.people import App, Person
from tests.journeys.processes import ROOT, Server
from tests.journeys.samples import Program
from tests.journeys.services import Service
from tests.support import node, ports, processes, programs

pytestmark = pytest.mark.live
SCOPES = people.PLAIN_SCOPES


@pytest.fixture
def owner(service: Service, person: Person) -> Browser:
    """The browser of the app's owner, who also signs in to the app."""
    browser = Browser(service.base_url)
    person.sign_in(browser.open("/dashboard/"))
    return browser


@pytest.fixture
def port() -> Iterator[int]:
    """The sample app that signs users in."""
    with ports.held() as (port,):
        yield port


def app_of(service: Service, person: Person, redirect_url: str) -> App:
    name = f"App of {person.username}"
    made = service.operator.do(
        "new_app", owner=person.username, name=name, redirect_urls=[redirect_url], scopes=list(SCOPES)
    )
    return App(name, made["client_id"], made["client_secret"], redirect_url, SCOPES)


def profile_of(service: Service, person: Person) -> dict[str, Any]:
    """Return the answer of userinfo."""
    names = {"name": person.username, "preferred_username": person.username}
    return {"sub": person.id, "uid": person.uid, **names, "profile": f"{service.base_url}/{person.username}"}


@pytest.mark.parametrize("stack", ["curl", "requests-oauthlib"])
def test_a_sample_for_the_terminal_signs_a_user_in(
    service: Service, browser: Browser, owner: Browser, person: Person, tmp_path: Path, stack: str
) -> None:
    app = app_of(service, person, people.REDIRECT_URL)
    name, code = samples.shown(owner, app, stack)
    with samples.saved(tmp_path, name, code), Program(samples.command_for(name), app, tmp_path) as program:
        callback = person.sign_in(browser.open(program.address())).press("Allow").left_for
        assert json.loads(program.paste(callback)) == profile_of(service, person)


@pytest.mark.parametrize("stack", ["openid-client", "authlib"])
def test_a_sample_of_a_web_app_signs_a_user_in(
    service: Service, browser: Browser, owner: Browser, person: Person, port: int, tmp_path: Path, stack: str
) -> None:
    app = app_of(service, person, f"http://127.0.0.1:{port}/signed-in")
    name, code = samples.shown(owner, app, stack)
    with samples.saved(tmp_path, name, code), Program(samples.command_for(name), app, tmp_path) as program:
        program.wait_for(port)
        origin = f"http://127.0.0.1:{port}"
        answer = samples.sign_in_through(origin, samples.start_of(origin), browser, person)
    assert answer.status_code == 200, answer.text
    assert answer.json() == profile_of(service, person)


def test_the_settings_for_django_allauth_sign_a_user_in(
    service: Service, browser: Browser, owner: Browser, person: Person, port: int, tmp_path: Path
) -> None:
    app = app_of(service, person, f"http://127.0.0.1:{port}/accounts/oidc/hearth/login/callback/")
    name, code = samples.shown(owner, app, "django-allauth")
    command = [sys.executable, str(allauth_site.__file__), name, str(port)]
    with samples.saved(tmp_path, name, code), Program(command, app, tmp_path) as program:
        program.wait_for(port)
        origin = f"http://127.0.0.1:{port}"
        answer = samples.sign_in_through(origin, "/accounts/oidc/hearth/login/", browser, person)
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"uid": person.id, "userinfo": profile_of(service, person)}


def test_the_code_for_auth_js_is_a_module_that_node_can_read(
    service: Service, owner: Browser, person: Person, tmp_path: Path
) -> None:
    """The sample has no types, so Node can parse it; running it would need Next.js."""
    app = app_of(service, person, people.REDIRECT_URL)
    _, code = samples.shown(owner, app, "authjs")
    (tmp_path / "auth.mjs").write_text(code)
    checked = processes.run([str(node.PROGRAM), "--check", "auth.mjs"], seconds=60, cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(("stack", "program", "option"), [("php", "php", "-l"), ("go-oidc", "gofmt", "-e")])
def test_code_whose_library_is_out_of_reach_can_be_parsed(
    service: Service, owner: Browser, person: Person, tmp_path: Path, stack: str, program: str, option: str
) -> None:
    """Packagist and Go's module proxy have the libraries; the tests use neither."""
    name, code = samples.shown(owner, app_of(service, person, people.REDIRECT_URL), stack)
    (tmp_path / name).write_text(code)
    path = programs.found(program)[program]
    checked = processes.run([str(path), option, name], seconds=60, cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout


SCRIPT = ROOT / "docs" / "samples" / "first_sign_in.py"


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
