"""manage.py issue_api_key, register_app, create_operator."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.api_keys import keys
from accounts.models import ApiKey, User
from oidc_provider.models import Application
from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_issue_api_key_prints_the_key_once() -> None:
    UserFactory(username="Ada")
    options = ("--permission", "lookup:user", "--permission", "account", "--name", "Bot", "--expires-in-days", "30")
    answer = json.loads(run("issue_api_key", "--owner", "ADA", *options, "--json"))
    key = ApiKey.objects.get()
    assert keys.find(answer["key"]) == key
    assert answer == {
        "id": key.pk,
        "key": answer["key"],
        "prefix": key.prefix,
        "permissions": ["account", "lookup:user"],
    }
    assert (key.name, key.owner.username) == ("Bot", "Ada")
    assert key.expires_at is not None


def test_issue_api_key_for_a_person_to_read() -> None:
    UserFactory(username="Ada")
    assert "key: ik_" in run("issue_api_key", "--owner", "Ada", "--permission", "account", "lookup:user")


REGISTER = ("register_app", "--owner", "ada", "--name", "My app", "--redirect", "https://a.example/cb")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((*REGISTER, "--scope", "openid", "email"), "email is locked: staff must unlock it for Ada first"),
        ((*REGISTER, "--scope", "profile"), "profile is not a scope"),
        ((*REGISTER, "--redirect", "http://evil.example/", "--scope", "openid"), "Use https"),
        (("register_app", "--owner", "bob", *REGISTER[3:], "--scope", "openid"), "There is no user named bob"),
        (("issue_api_key", "--owner", "bob", "--permission", "account"), "There is no user named bob"),
        (("issue_api_key", "--owner", "ada", "--permission", "root"), "root is no permission"),
        (
            ("issue_api_key", "--owner", "ada", "--permission", "account", "--expires-in-days", "0"),
            "must be between 1 and",
        ),
    ],
)
def test_a_mistake_is_a_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    UserFactory(username="Ada")
    with pytest.raises(CommandError, match=sentence):
        run(*arguments)
    assert not ApiKey.objects.exists()
    assert not Application.objects.exists()


def test_an_operator_who_was_made_by_the_command_can_sign_in(client: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a long pass phrase\n"))
    assert "Boss (uid 0)" in run("create_operator", "Boss", "--email", "boss@example.org", "--password-stdin")
    client.post("/accounts/login/", {"login": "boss", "password": "a long pass phrase"})
    assert client.get("/admin/").status_code == 200


def test_create_operator_asks_twice(monkeypatch: Any) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    answers = iter(["a long pass phrase", "another one", "a long pass phrase", "a long pass phrase"])
    monkeypatch.setattr("accounts.management.commands.create_operator.getpass", lambda prompt: next(answers))
    with pytest.raises(CommandError, match="differ"):
        run("create_operator", "Boss", "--email", "boss@example.org")
    run("create_operator", "Boss", "--email", "boss@example.org")
    assert User.objects.get().is_superuser


@pytest.mark.parametrize(("line", "sentence"), [("", "held no password"), ("password\n", "password: ")])
def test_create_operator_refuses(monkeypatch: Any, line: str, sentence: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(line))
    with pytest.raises(CommandError, match=sentence):
        run("create_operator", "Boss", "--email", "boss@example.org", "--password-stdin")
    monkeypatch.setattr("sys.stdin", io.StringIO(line))
    with pytest.raises(CommandError, match="no terminal"):
        run("create_operator", "Boss", "--email", "boss@example.org")
    assert not User.objects.exists()
