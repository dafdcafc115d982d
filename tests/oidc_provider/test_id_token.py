"""The claims of each scope with their types, the same in the id_token and at userinfo."""

from __future__ import annotations

from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.test import Client

from accounts.models import LinkedAccount, User
from tests.accounts.clock import NOON
from tests.factories.accounts import LinkedAccountFactory, UserFactory
from tests.oidc_provider.protocol import (
    EVERY_SCOPE,
    ISSUER,
    App,
    claims_of,
    log_in,
    parts_of,
    refused,
    userinfo,
)

TEN_HOURS = 36_000
PROTOCOL = {"iss", "aud", "exp", "iat", "auth_time", "nonce"}


def _signed_in(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


def _personal(id_token: str) -> dict[str, Any]:
    """The claims about the user."""
    return {name: value for name, value in claims_of(id_token).items() if name not in PROTOCOL}


def test_the_id_token_of_a_plain_sign_in_is_this(clock: time_machine.Traveller, app: App, user: User) -> None:
    browser = Client()
    log_in(browser, "/dashboard/")
    header, claims = parts_of(app.sign_in(browser, "openid", nonce="once")["id_token"])
    assert set(header) == {"alg", "kid", "typ"}
    assert claims == {
        "iss": ISSUER,
        "aud": app.application.client_id,
        "sub": user.pk,
        "iat": int(NOON.timestamp()),
        "exp": int(NOON.timestamp()) + TEN_HOURS,
        "auth_time": int(NOON.timestamp()),
        "nonce": "once",
    }


@pytest.mark.parametrize("nonce", ["0", "é a+b&c=d", "n" * 512], ids=lambda nonce: ascii(nonce)[:20])
def test_the_nonce_comes_back_unchanged(app: App, browser: Client, nonce: str) -> None:
    assert claims_of(app.sign_in(browser, nonce=nonce)["id_token"])["nonce"] == nonce


@pytest.mark.parametrize(
    ("scope", "names"),
    [
        ("openid", {"sub"}),
        ("openid identify", {"sub", "uid", "name", "preferred_username", "profile"}),
        ("openid email", {"sub", "email", "email_verified"}),
        ("openid connections", {"sub", "connections"}),
        (
            EVERY_SCOPE,
            {"sub", "uid", "name", "preferred_username", "profile", "email", "email_verified", "connections"},
        ),
    ],
)
def test_each_scope_gives_its_claims_in_both_places(app: App, browser: Client, scope: str, names: set[str]) -> None:
    tokens = app.sign_in(browser, scope)
    shown = userinfo(tokens["access_token"]).json()
    assert set(shown) == names
    assert _personal(tokens["id_token"]) == shown


@pytest.mark.embedded
def test_the_claims_have_these_values_and_types(app: App, browser: Client, user: User) -> None:
    """The names need escaping in JSON and in HTML."""
    chat_name = '"}\\é☃</script>'
    user.display_name = 'Ada ☃ "quoted" <b>'
    user.save()
    LinkedAccountFactory(user=user, kind=LinkedAccount.Kind.SCROBBLER, external_id="7", name="ada-fm")
    LinkedAccountFactory(user=user, kind=LinkedAccount.Kind.CHAT, external_id="80351110224678912", name=chat_name)
    claims = {
        "sub": user.pk,
        "uid": user.uid,
        "name": user.display_name,
        "preferred_username": "Ada",
        "profile": f"{ISSUER}/Ada",
        "email": "ada@example.org",
        "email_verified": True,
        "connections": [
            {"type": "chat", "id": "80351110224678912", "name": chat_name},
            {"type": "scrobbler", "id": "7", "name": "ada-fm"},
        ],
    }
    tokens = app.sign_in(browser)
    for shown in (userinfo(tokens["access_token"]).json(), _personal(tokens["id_token"])):
        assert shown == claims
        assert {name: type(value) for name, value in shown.items()} == {
            name: type(value) for name, value in claims.items()
        }
    assert len(user.pk) == 32


@pytest.mark.embedded
def test_a_person_with_little_leaves_little(app: App, db: None) -> None:
    user = UserFactory(username="Cleo", email="", display_name="")
    tokens = app.sign_in(_signed_in(user))
    claims = {
        "sub": user.pk,
        "uid": user.uid,
        "name": "Cleo",
        "preferred_username": "Cleo",
        "profile": f"{ISSUER}/Cleo",
        "connections": [],
    }
    assert userinfo(tokens["access_token"]).json() == claims
    assert _personal(tokens["id_token"]) == claims


def test_uid_zero_is_a_uid(app: App, user: User) -> None:
    User.objects.filter(uid=0).update(uid=1_000_000)
    user.uid = 0
    user.save()
    tokens = app.sign_in(_signed_in(user), "openid identify")
    for shown in (userinfo(tokens["access_token"]).json(), claims_of(tokens["id_token"])):
        assert (shown["uid"], type(shown["uid"])) == (0, int)


def test_another_verified_address_does_not_verify_this_one(app: App, db: None) -> None:
    user = UserFactory(email="cleo@example.org", email_verified=False)
    EmailAddress.objects.create(user=user, email="old@example.org", verified=True)
    tokens = app.sign_in(_signed_in(user), "openid email")
    claims = {"sub": user.pk, "email": "cleo@example.org", "email_verified": False}
    assert userinfo(tokens["access_token"]).json() == _personal(tokens["id_token"]) == claims


def test_another_users_accounts_and_address_are_left_out(app: App, browser: Client, other_user: User) -> None:
    LinkedAccountFactory(user=other_user, kind=LinkedAccount.Kind.CHAT)
    shown = userinfo(app.sign_in(browser)["access_token"]).json()
    assert (shown["connections"], shown["email"]) == ([], "ada@example.org")


def test_userinfo_and_a_refreshed_id_token_tell_what_is_true_now(app: App, browser: Client, user: User) -> None:
    tokens = app.sign_in(browser)
    user.username = "Ada.Lovelace"
    user.save()
    refreshed = app.refresh(tokens["refresh_token"]).json()
    assert userinfo(tokens["access_token"]).json()["preferred_username"] == "Ada.Lovelace"
    assert claims_of(refreshed["id_token"])["profile"] == f"{ISSUER}/Ada.Lovelace"


def test_an_id_token_and_a_refresh_token_open_nothing(app: App, browser: Client) -> None:
    tokens = app.sign_in(browser)
    for kind in ("id_token", "refresh_token"):
        assert refused(userinfo(tokens[kind])) == (401, "invalid_token")
