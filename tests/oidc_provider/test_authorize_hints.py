"""`login_hint` and `id_token_hint`."""

from __future__ import annotations

from datetime import timedelta

import lxml.html
import pytest
import time_machine
from django.test import Client

from accounts.models import User
from tests.oidc_provider.protocol import App, authorize, code_for, error_sent_back, log_in, sent_back, waiting_at


def _login_field(browser: Client) -> str:
    page = lxml.html.fromstring(browser.get("/accounts/login/").content)
    return str(page.xpath('//input[@name="login"]/@value')[0]) if page.xpath('//input[@name="login"]/@value') else ""


@pytest.mark.parametrize("hint", ["ada@example.org", '"><script>é'])
def test_a_login_hint_fills_the_login_field(app: App, hint: str) -> None:
    visitor = Client()
    assert _login_field(visitor) == ""
    authorize(visitor, app.application, login_hint=hint)
    assert _login_field(visitor) == hint


def test_the_hint_of_one_app_is_not_shown_for_the_next(app: App, other_app: App) -> None:
    visitor = Client()
    authorize(visitor, app.application, login_hint="ada")
    authorize(visitor, other_app.application)
    assert _login_field(visitor) == ""


def test_an_expired_id_token_is_a_good_hint(clock: time_machine.Traveller, browser: Client, app: App) -> None:
    hint = app.sign_in(browser)["id_token"]
    clock.shift(timedelta(hours=11))
    assert "code" in sent_back(authorize(browser, app.application, id_token_hint=hint, prompt="none"))


@pytest.mark.parametrize("prompt", ["none", "consent"])
def test_another_users_id_token_is_login_required(
    browser: Client, other_browser: Client, app: App, prompt: str
) -> None:
    hint = app.sign_in(browser)["id_token"]
    code_for(other_browser, app.application)
    answer = authorize(other_browser, app.application, id_token_hint=hint, prompt=prompt)
    assert error_sent_back(answer) == "login_required"


def test_a_hint_with_prompt_none_and_no_session_is_login_required(browser: Client, app: App) -> None:
    hint = app.sign_in(browser)["id_token"]
    assert error_sent_back(authorize(Client(), app.application, id_token_hint=hint, prompt="none")) == "login_required"


def test_another_person_than_the_hints_who_signs_in_is_login_required(
    browser: Client, other_user: User, app: App
) -> None:
    hint = app.sign_in(browser)["id_token"]
    visitor = Client()
    waiting = waiting_at(authorize(visitor, app.application, id_token_hint=hint))
    log_in(visitor, waiting, "ben")
    assert error_sent_back(visitor.post(waiting, {"decision": "allow"})) == "login_required"


@pytest.mark.parametrize("part", [1, 2])
def test_an_id_token_that_was_changed_is_no_hint(browser: Client, app: App, part: int) -> None:
    parts = app.sign_in(browser)["id_token"].split(".")
    middle = len(parts[part]) // 2
    letter = "A" if parts[part][middle] != "A" else "B"
    parts[part] = parts[part][:middle] + letter + parts[part][middle + 1 :]
    answer = authorize(browser, app.application, id_token_hint=".".join(parts))
    assert error_sent_back(answer) == "invalid_request"
