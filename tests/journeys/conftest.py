"""The running service, one for each process of the test run, and the participants of its journeys."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.journeys import people, services
from tests.journeys.browser import Browser
from tests.journeys.people import App, Person
from tests.journeys.processes import Server
from tests.journeys.relying_party import RelyingParty
from tests.journeys.services import Service


@pytest.fixture(scope="session")
def service(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The service without limits; `make test-production` provides its own."""
    if given := pytestconfig.stash.get(services.GIVEN, None):
        yield given
        return
    directory = tmp_path_factory.mktemp("service")
    with services.running(directory) as running:
        yield running
    services.forget(directory)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of `make run`, with limits."""
    directory = tmp_path_factory.mktemp("demo")
    with services.embedded_server(directory) as server:
        yield server
    services.forget(directory)


@pytest.fixture(autouse=True)
def _nothing_breaks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Print the servers' logs for failed tests, and fail a test during which they log an error."""
    logs: list[Path] = []
    if "service" in request.fixturenames:
        logs += request.getfixturevalue("service").logs
    if "demo" in request.fixturenames:
        logs.append(request.getfixturevalue("demo").log)
    before = [log.stat().st_size for log in logs]
    yield
    written = "".join(log.read_bytes()[size:].decode(errors="replace") for log, size in zip(logs, before, strict=True))
    sys.stdout.write(written)
    assert "Traceback" not in written
    assert '"level": "ERROR"' not in written


@pytest.fixture(autouse=True)
def _plain_http_is_fine_on_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let both libraries accept plain http."""
    monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")


@pytest.fixture
def browser(service: Service) -> Iterator[Browser]:
    """The browser of a new visitor."""
    with Browser(service.base_url) as browser:
        yield browser


@pytest.fixture
def person(service: Service) -> Person:
    return people.new_person(service.operator)


@pytest.fixture
def app(service: Service) -> App:
    """An app with the unlocked scopes and one https redirect URL."""
    return people.new_app(service.operator)


@pytest.fixture
def party_of(service: Service) -> Iterator[Callable[[App], RelyingParty]]:
    """Create the relying party of an app."""
    made: list[RelyingParty] = []

    def make(app: App) -> RelyingParty:
        made.append(RelyingParty(service.base_url, app))
        return made[-1]

    yield make
    for party in made:
        party.session.close()


@pytest.fixture
def party(party_of: Callable[[App], RelyingParty], app: App) -> RelyingParty:
    """The relying party of `app`."""
    return party_of(app)
