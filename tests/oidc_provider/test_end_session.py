"""The end-session endpoint: advertised, but not enabled for apps."""

from __future__ import annotations

import lxml.html
import pytest
from django.test import Client

from tests.oidc_provider.protocol import END_SESSION, FORM, App, encoded

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
