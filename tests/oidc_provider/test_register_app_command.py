"""`register_app`: an app by command, whose secret works and is printed once."""

from __future__ import annotations

import io
import json

from django.core.management import call_command
from django.test import Client

from accounts.models import User
from oidc_provider.models import Application, SigningKey
from tests.oidc_provider.protocol import App

URL = "https://app.example.org/callback"


def _command(*arguments: str) -> str:
    output = io.StringIO()
    call_command("register_app", *arguments, stdout=output)
    return output.getvalue()


def test_the_app_it_registers_can_sign_people_in(signing_key: SigningKey, user: User, browser: Client) -> None:
    facts = json.loads(
        _command("--owner", "ada", "--name", "Notes", "--redirect", URL, "--scope", "openid", "identify", "--json")
    )
    application = Application.objects.get()
    assert facts == {
        "client_id": application.client_id,
        "client_secret": facts["client_secret"],
        "redirect_uris": [URL],
        "scopes": ["openid", "identify"],
    }
    assert application.user == user
    assert App(application, facts["client_secret"]).sign_in(browser, "openid identify")["token_type"] == "Bearer"


def test_for_people_it_prints_one_fact_a_line(user: User) -> None:
    lines = _command("--owner", "Ada", "--name", "Notes", "--redirect", URL, "--scope", "openid").splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["client_id", "client_secret", "redirect_uris", "scopes"]
