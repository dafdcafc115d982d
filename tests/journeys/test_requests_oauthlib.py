"""A whole sign-in with requests-oauthlib."""

import pytest
import requests
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

from tests.journeys.browser import Browser
from tests.journeys.people import App, Person
from tests.journeys.relying_party import TIMEOUT, discover
from tests.journeys.services import Service

pytestmark = pytest.mark.live


def test_an_app_signs_a_user_in(service: Service, browser: Browser, person: Person, app: App) -> None:
    endpoints = discover(service.base_url)
    auth = HTTPBasicAuth(app.client_id, app.client_secret)
    with OAuth2Session(app.client_id, redirect_uri=app.redirect_url, scope=list(app.scopes), pkce="S256") as session:
        url, state = session.authorization_url(endpoints["authorization_endpoint"])
        callback = person.sign_in(browser.open(url)).press("Allow").left_for
        tokens = session.fetch_token(
            endpoints["token_endpoint"],
            authorization_response=callback,
            state=state,
            client_secret=app.client_secret,
            include_client_id=True,
            timeout=TIMEOUT,
        )
        profile = session.get(endpoints["userinfo_endpoint"], timeout=TIMEOUT).json()
        refreshed = session.refresh_token(endpoints["token_endpoint"], auth=auth, timeout=TIMEOUT)

    def asked(endpoint: str, token: str) -> requests.Response:
        return requests.post(endpoints[endpoint], data={"token": token}, auth=auth, timeout=TIMEOUT)

    assert profile == {
        "sub": person.id,
        "uid": person.uid,
        "name": person.username,
        "preferred_username": person.username,
        "profile": f"{service.base_url}/{person.username}",
    }
    assert refreshed["refresh_token"] != tokens["refresh_token"]
    assert asked("introspection_endpoint", refreshed["access_token"]).json()["active"] is True
    assert asked("introspection_endpoint", refreshed["refresh_token"]).json()["token_type"] == "refresh_token"
    assert asked("revocation_endpoint", refreshed["access_token"]).status_code == 200
    assert asked("introspection_endpoint", refreshed["access_token"]).json() == {"active": False}
    assert asked("introspection_endpoint", refreshed["refresh_token"]).json()["active"] is True
