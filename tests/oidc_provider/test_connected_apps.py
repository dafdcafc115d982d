"""The page of connected apps, disconnecting one there, and the end-session endpoint."""

from __future__ import annotations

import io

import lxml.html
import pytest
from django.test import Client
from PIL import Image

from accounts.models import AuditEvent, User
from oidc_provider.applications import applications, logos
from oidc_provider.authorize import approvals
from oidc_provider.models import AccessToken, Approval, Grant, RefreshToken
from tests.oidc_provider.protocol import (
    CONNECTED_APPS,
    END_SESSION,
    FORM,
    INVALID_GRANT,
    INVALID_TOKEN,
    App,
    authorize,
    code_for,
    encoded,
    error_sent_back,
    refused,
    userinfo,
)


def _disconnect_path(app: App) -> str:
    return f"{CONNECTED_APPS}{app.application.client_id}/disconnect/"


def _rows(browser: Client) -> list[str]:
    page = lxml.html.fromstring(browser.get(CONNECTED_APPS).content)
    return [" ".join(row.text_content().split()) for row in page.find_class("row")]


def _logo_path(app: App) -> str:
    return f"/apps/{app.application.client_id}/logo.png"


def test_without_apps_the_page_says_so(browser: Client) -> None:
    answer = browser.get(CONNECTED_APPS)
    assert answer.status_code == 200
    assert "No app is connected yet" in answer.content.decode()


def test_each_app_is_listed_with_what_it_may_use(browser: Client, app: App, other_app: App) -> None:
    code_for(browser, other_app.application)
    code_for(browser, app.application, scope="openid email offline_access")
    first, second = _rows(browser)
    assert "Notebook" in first
    assert "Sign in, Email address, Refresh session" in first
    assert "Other" in second
    assert "Sign in" in second
    assert "no-store" in browser.get(CONNECTED_APPS)["Cache-Control"]
    assert "Suspended" not in first
    applications.suspend(application=app.application, by=None, reason="Abuse")
    assert "Suspended" in _rows(browser)[0]


def test_disconnecting_ends_every_access(browser: Client, app: App, user: User) -> None:
    tokens = app.sign_in(browser)
    assert browser.get(_disconnect_path(app))["Location"] == CONNECTED_APPS
    assert app.is_live(tokens["access_token"])
    answer = browser.post(_disconnect_path(app))
    assert (answer.status_code, answer["Location"]) == (302, CONNECTED_APPS)
    assert refused(userinfo(tokens["access_token"])) == INVALID_TOKEN
    assert refused(app.refresh(tokens["refresh_token"])) == INVALID_GRANT
    assert app.introspect(tokens["access_token"]).json() == {"active": False}
    for model in (Approval, Grant, AccessToken, RefreshToken):
        assert not model.objects.exists()
    event = AuditEvent.objects.get(verb="approval:withdrawn")
    assert (event.actor, event.data) == (user, {"user_id": user.pk})
    _withdraw(app, user)
    assert AuditEvent.objects.filter(verb="approval:withdrawn").count() == 1


def test_an_app_that_is_not_connected_is_404(browser: Client, other_browser: Client, app: App) -> None:
    tokens = app.sign_in(browser)
    assert _rows(other_browser) == []
    assert other_browser.post(_disconnect_path(app)).status_code == 404
    assert app.is_live(tokens["access_token"])


@pytest.mark.parametrize("client_id", ["unknown", "%00", "x" * 5_000])
def test_an_unknown_app_is_404(browser: Client, client_id: str) -> None:
    assert browser.post(f"{CONNECTED_APPS}{client_id}/disconnect/").status_code == 404
    assert browser.get(f"/apps/{client_id}/logo.png").status_code == 404


def test_a_visitor_signs_in_first(client: Client, app: App) -> None:
    answer = client.post(_disconnect_path(app))
    assert (answer.status_code, answer["Location"].partition("?")[0]) == (302, "/accounts/login/")


def test_disconnecting_from_another_site_is_refused(user: User, app: App, browser: Client) -> None:
    tokens = app.sign_in(browser)
    browser.handler.enforce_csrf_checks = True
    assert browser.post(_disconnect_path(app)).status_code == 403
    assert app.is_live(tokens["access_token"])


def test_a_logo_is_served_as_the_png_that_we_made(client: Client, app: App) -> None:
    assert client.get(_logo_path(app)).status_code == 404
    picture = io.BytesIO()
    Image.new("RGB", (300, 300), "red").save(picture, "JPEG")
    picture.seek(0)
    logos.change(application=app.application, png=logos.encode(picture), by=None)
    answer = client.get(_logo_path(app))
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert Image.open(io.BytesIO(answer.content)).size == (256, 256)
    assert "Set-Cookie" not in answer


def _withdraw(app: App, user: User) -> None:
    approvals.disconnect(user=user, application=app.application, by=user)


def test_the_flow_connects_again(browser: Client, app: App, user: User) -> None:
    code_for(browser, app.application, scope="openid identify")
    _withdraw(app, user)
    assert error_sent_back(authorize(browser, app.application, prompt="none")) == "consent_required"
    assert app.sign_in(browser, "openid")["scope"] == "openid"
    assert Approval.objects.get().scopes == ["openid"]


def test_other_people_and_other_apps_stay_connected(
    browser: Client, other_browser: Client, app: App, other_app: App, user: User
) -> None:
    app.sign_in(browser)
    of_ben, of_other_app = app.sign_in(other_browser), other_app.sign_in(browser)
    _withdraw(app, user)
    assert app.refresh(of_ben["refresh_token"]).status_code == 200
    assert other_app.refresh(of_other_app["refresh_token"]).status_code == 200
    assert Approval.objects.count() == 2


GET_AND_POST = pytest.mark.parametrize("method", ["GET", "POST"])


def _is_signed_in(browser: Client) -> bool:
    return "_auth_user_id" in browser.session


@GET_AND_POST
def test_a_person_sees_a_page_with_their_own_sign_out_button(browser: Client, method: str) -> None:
    answer = browser.generic(method, END_SESSION, content_type=FORM)
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/html")
    page = lxml.html.fromstring(answer.content)
    assert "Only you can end it" in page.text_content()
    form = next(form for form in page.forms if form.action == "/accounts/logout/")
    assert (form.method, "csrfmiddlewaretoken" in form.fields) == ("POST", True)
    assert _is_signed_in(browser)
    browser.post("/accounts/logout/")
    assert not _is_signed_in(browser)


@GET_AND_POST
def test_a_visitor_sees_that_there_is_nothing_to_end(client: Client, db: None, method: str) -> None:
    answer = client.generic(method, END_SESSION, content_type=FORM)
    assert answer.status_code == 200
    assert "You are signed out" in answer.content.decode()


@GET_AND_POST
def test_a_program_gets_invalid_client(browser: Client, method: str) -> None:
    answer = browser.generic(method, END_SESSION, content_type=FORM, headers={"accept": "application/json"})
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/json")
    assert "WWW-Authenticate" not in answer
    body = answer.json()
    assert body == {"error": "invalid_client", "error_description": body["error_description"]}
    assert _is_signed_in(browser)


@GET_AND_POST
def test_an_app_neither_ends_the_session_nor_redirects(app: App, browser: Client, method: str) -> None:
    fields = encoded(
        {
            "id_token_hint": app.sign_in(browser)["id_token"],
            "post_logout_redirect_uri": "https://evil.example/",
            "client_id": app.application.client_id,
            "state": "x",
        }
    )
    browser.handler.enforce_csrf_checks = True
    path = f"{END_SESSION}?{fields}" if method == "GET" else END_SESSION
    answer = browser.generic(method, path, fields, content_type=FORM)
    assert answer.status_code == 200
    assert "evil.example" not in answer.content.decode()
    assert _is_signed_in(browser)
