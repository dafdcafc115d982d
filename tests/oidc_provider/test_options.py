"""OAUTH2_PROVIDER: each option of the settings changes the service."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings as configured
from django.contrib import admin
from django.test import Client
from oauth2_provider.scopes import SettingsScopes, get_scopes_backend
from oauth2_provider.settings import oauth2_settings
from pytest_django import Settings

from oidc_provider import errors, lifetimes, models
from oidc_provider.authorize import validation
from oidc_provider.authorize.validation import Backend, Server, Validator
from oidc_provider.models import Application, Grant, RefreshToken
from tests.factories.oidc_provider import CODE_CHALLENGE, CODE_VERIFIER
from tests.oidc_provider.protocol import (
    INVALID_GRANT,
    INVALID_REQUEST,
    App,
    authorize,
    claims_of,
    code_for,
    error_sent_back,
    refused,
)

ADMIN_CLASSES = {
    "APPLICATION_ADMIN_CLASS": models.Application,
    "ACCESS_TOKEN_ADMIN_CLASS": models.AccessToken,
    "REFRESH_TOKEN_ADMIN_CLASS": models.RefreshToken,
    "GRANT_ADMIN_CLASS": models.Grant,
    "ID_TOKEN_ADMIN_CLASS": models.IDToken,
}
CLASSES = {"OAUTH2_VALIDATOR_CLASS": Validator, "OAUTH2_SERVER_CLASS": Server, "OAUTH2_BACKEND_CLASS": Backend}
LIFETIMES = {f"{name}_EXPIRE_SECONDS" for name in ("AUTHORIZATION_CODE", "ACCESS_TOKEN", "ID_TOKEN", "REFRESH_TOKEN")}
REFRESHING = {
    "ROTATE_REFRESH_TOKEN",
    "REFRESH_TOKEN_REUSE_PROTECTION",
    "REFRESH_TOKEN_GRACE_PERIOD_SECONDS",
}
OTHERS = {"PKCE_REQUIRED", "CLIENT_SECRET_HASHER", "SCOPES_BACKEND_CLASS"}


class OtherValidator(Validator):
    pass


class OtherServer(Server):
    pass


class OtherBackend(Backend):
    pass


def change(settings: Settings, **options: object) -> None:
    settings.OAUTH2_PROVIDER = {**configured.OAUTH2_PROVIDER, **options}


def test_every_option_is_tried_here() -> None:
    assert set(configured.OAUTH2_PROVIDER) == {*ADMIN_CLASSES, *CLASSES, *LIFETIMES, *REFRESHING, *OTHERS}


@pytest.mark.parametrize("name", sorted(LIFETIMES))
def test_a_lifetime_is_that_of_its_option(
    settings: Settings, app: App, browser: Client, clock: time_machine.Traveller, name: str
) -> None:
    change(settings, **{name: 77})
    code = code_for(browser, app.application, scope="openid offline_access")
    code_row = Grant.objects.get()
    tokens = app.exchange(code).json()
    claims = claims_of(tokens["id_token"])
    lifetimes = {
        "AUTHORIZATION_CODE_EXPIRE_SECONDS": (code_row.expires - code_row.created).total_seconds(),
        "ACCESS_TOKEN_EXPIRE_SECONDS": tokens["expires_in"],
        "ID_TOKEN_EXPIRE_SECONDS": claims["exp"] - claims["iat"],
        "REFRESH_TOKEN_EXPIRE_SECONDS": (
            RefreshToken.objects.get().expires_at - RefreshToken.objects.get().created
        ).total_seconds(),
    }
    assert lifetimes[name] == 77
    assert lifetimes == {option: configured.OAUTH2_PROVIDER[option] for option in LIFETIMES}


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (90, "90 seconds"),
        (600, "10 minutes"),
        (3_600, "1 hour"),
        (864_000, "10 days"),
    ],
)
def test_a_lifetime_is_named_in_its_largest_unit(seconds: int, words: str) -> None:
    assert lifetimes.in_words(seconds) == words


def test_the_error_guide_names_the_lifetimes_of_the_options() -> None:
    text = " ".join(cause.cause for error in (errors.InvalidGrant, errors.InvalidToken) for cause in error.causes)
    for option in (LIFETIMES - {"ID_TOKEN_EXPIRE_SECONDS"}) | {"REFRESH_TOKEN_GRACE_PERIOD_SECONDS"}:
        assert lifetimes.in_words(getattr(oauth2_settings, option)) in text


def test_without_rotation_a_refresh_token_is_kept(settings: Settings, app: App, browser: Client) -> None:
    first = app.sign_in(browser)["refresh_token"]
    change(settings, ROTATE_REFRESH_TOKEN=False)
    answers = [app.refresh(first).json() for _ in range(2)]
    assert [answer["refresh_token"] for answer in answers] == [first, first]
    assert all(app.is_live(answer["access_token"]) for answer in answers)
    assert RefreshToken.objects.get().revoked is None


@pytest.mark.parametrize(
    ("options", "survives"),
    [
        ({}, False),
        ({"REFRESH_TOKEN_REUSE_PROTECTION": False}, True),
        ({"REFRESH_TOKEN_GRACE_PERIOD_SECONDS": 60}, True),
    ],
)
def test_what_reuse_revokes(
    settings: Settings,
    app: App,
    browser: Client,
    clock: time_machine.Traveller,
    options: dict[str, object],
    survives: bool,
) -> None:
    change(settings, **options)
    first = app.sign_in(browser)["refresh_token"]
    second = app.refresh(first).json()["refresh_token"]
    clock.shift(timedelta(seconds=11))
    assert refused(app.refresh(first)) == INVALID_GRANT
    assert app.is_live(second) == survives


def test_pkce_can_be_left_out_where_it_is_not_required(settings: Settings, app: App, browser: Client) -> None:
    without: dict[str, Any] = {"code_challenge": None, "code_challenge_method": None}
    assert error_sent_back(authorize(browser, app.application, **without)) == "invalid_request"
    change(settings, PKCE_REQUIRED=False)
    assert app.exchange(code_for(browser, app.application, **without), code_verifier=None).status_code == 200
    with_it = {"code_challenge": CODE_CHALLENGE, "code_challenge_method": "S256"}
    code = code_for(browser, app.application, **with_it)
    assert refused(app.exchange(code, code_verifier=None)) == INVALID_REQUEST
    assert app.exchange(code, code_verifier=CODE_VERIFIER).status_code == 200


def test_a_new_secret_is_hashed_as_the_option_says(settings: Settings, application: Application) -> None:
    settings.PASSWORD_HASHERS = [*configured.PASSWORD_HASHERS, "django.contrib.auth.hashers.MD5PasswordHasher"]
    for hasher in ("secret_sha256", "md5"):
        change(settings, CLIENT_SECRET_HASHER=hasher)
        application.set_new_secret(application.secret_changed_at)
        application.save()
        assert application.client_secret.startswith(f"{hasher}$")


def test_the_registered_scopes_are_those_of_the_backend(settings: Settings, application: Application) -> None:
    assert get_scopes_backend().get_available_scopes(application=application) == application.registered_scopes
    change(settings, SCOPES_BACKEND_CLASS="oauth2_provider.scopes.SettingsScopes")
    assert isinstance(get_scopes_backend(), SettingsScopes)
    assert get_scopes_backend().get_available_scopes(application=application) != application.registered_scopes


@pytest.mark.parametrize("name", CLASSES)
def test_requests_are_validated_by_the_named_classes(settings: Settings, name: str) -> None:
    other = {"VALIDATOR": OtherValidator, "SERVER": OtherServer, "BACKEND": OtherBackend}[name.split("_")[1]]
    change(settings, **{name: f"{__name__}.{other.__name__}"})
    made = validation.backend.__wrapped__()
    grant = made.server.default_response_type_handler
    assert other in {type(made), type(made.server), type(grant.request_validator)}


@pytest.mark.parametrize(("name", "model"), ADMIN_CLASSES.items())
def test_the_admin_of_a_model_is_the_named_class(name: str, model: type) -> None:
    found: type = type(admin.site.get_model_admin(model))
    assert f"{found.__module__}.{found.__qualname__}" == configured.OAUTH2_PROVIDER[name]
