"""Revocation answers every token with 200, and revokes an access token, or a refresh token with its family."""

from __future__ import annotations

import pytest
from django.test import Client

from oidc_provider.models import Approval
from tests.oidc_provider.protocol import (
    INVALID_GRANT,
    INVALID_TOKEN,
    App,
    code_for,
    refused,
    userinfo,
)

HINTS = pytest.mark.parametrize("hint", [None, "access_token", "refresh_token"])


def _is_done(answer: object) -> bool:
    """Whether the answer is 200 with an empty body, and not cached."""
    status, content = answer.status_code, answer.content  # type: ignore[attr-defined]  # no public type in Django
    headers = answer["Cache-Control"], answer["Pragma"]  # type: ignore[index]  # the same
    return bool((status, content, headers) == (200, b"", ("no-store", "no-cache")))


@HINTS
def test_an_access_token_goes_alone(app: App, browser: Client, hint: str | None) -> None:
    tokens = app.sign_in(browser)
    other = app.refresh(tokens["refresh_token"]).json()
    assert _is_done(app.revoke(tokens["access_token"], token_type_hint=hint))
    assert refused(userinfo(tokens["access_token"])) == INVALID_TOKEN
    assert app.is_live(other["access_token"])
    assert app.refresh(other["refresh_token"]).status_code == 200


@HINTS
def test_a_refresh_token_takes_its_grants_access_tokens_along(app: App, browser: Client, hint: str | None) -> None:
    other_device = app.sign_in(browser)
    first = app.sign_in(browser)
    second = app.refresh(first["refresh_token"]).json()
    assert _is_done(app.revoke(second["refresh_token"], token_type_hint=hint))
    for tokens in (first, second):
        assert refused(userinfo(tokens["access_token"])) == INVALID_TOKEN
        assert refused(app.refresh(tokens["refresh_token"])) == INVALID_GRANT
    assert app.is_live(other_device["access_token"])
    assert app.is_live(other_device["refresh_token"])
    assert Approval.objects.count() == 1


def test_revoking_is_idempotent(app: App, browser: Client) -> None:
    tokens = app.sign_in(browser)
    for token in (tokens["access_token"], tokens["refresh_token"]):
        assert _is_done(app.revoke(token))
        assert _is_done(app.revoke(token))


@pytest.mark.parametrize("token", ["unknown", "\x00"])
def test_an_unknown_token_is_answered_alike(app: App, token: str) -> None:
    assert _is_done(app.revoke(token))


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_a_foreign_token_is_answered_alike_and_stays(app: App, other_app: App, browser: Client, kind: str) -> None:
    tokens = app.sign_in(browser)
    assert _is_done(other_app.revoke(tokens[kind]))
    assert app.is_live(tokens["access_token"])
    assert app.is_live(tokens["refresh_token"])


def test_an_unused_code_is_no_token(app: App, browser: Client) -> None:
    code = code_for(browser, app.application)
    assert _is_done(app.revoke(code))
    assert app.exchange(code).status_code == 200
