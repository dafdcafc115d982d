"""A whole sign-in with openid-client, the certified library for JavaScript."""

from collections.abc import Callable, Iterator

import pytest

from tests.journeys import people
from tests.journeys.browser import Browser
from tests.journeys.node_app import NodeApp
from tests.journeys.people import App, Person
from tests.journeys.services import Service

pytestmark = pytest.mark.live


@pytest.fixture
def started() -> Iterator[Callable[[NodeApp], NodeApp]]:
    """Ends the program with the test."""
    apps: list[NodeApp] = []

    def keep(app: NodeApp) -> NodeApp:
        apps.append(app)
        return app

    yield keep
    for app in apps:
        app.leave()


@pytest.fixture
def app(service: Service) -> App:
    return people.new_app(service.operator, scopes=people.ALL_SCOPES)


@pytest.mark.parametrize("auth_method", ["client_secret_basic", "client_secret_post"])
def test_an_app_signs_a_user_in(
    service: Service,
    browser: Browser,
    person: Person,
    app: App,
    started: Callable[[NodeApp], NodeApp],
    auth_method: str,
) -> None:
    node = started(NodeApp(service.base_url, app, auth_method=auth_method))
    person.sign_in(browser.open(node.begin()))
    result = node.finish(browser.press("Allow").left_for)
    assert result["userinfo"] == {
        "sub": person.id,
        "uid": person.uid,
        "name": person.username,
        "preferred_username": person.username,
        "profile": f"{service.base_url}/{person.username}",
        "email": person.email,
        "email_verified": True,
        "connections": [],
    }
    assert {name: result["claims"][name] for name in result["userinfo"]} == result["userinfo"]
    assert result["refreshed"]["claims"]["auth_time"] == result["claims"]["auth_time"]
    assert result["refreshed"]["refresh_token"] != result["tokens"]["refresh_token"]
    assert result["active"]["sub"] == person.id
    assert result["active"]["scope"] == " ".join(people.ALL_SCOPES)
    assert result["inactive"] == {"active": False}
