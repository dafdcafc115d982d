"""Userinfo, introspection and revocation: what each takes, and its answer to each kind of token."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from django.conf import settings
from django.test import Client

from accounts.models import User
from lookup.models import Profile
from oidc_provider.models import Approval
from tests.accounts.clock import NOON
from tests.factories.lookup import AliasRowFactory, AssetFactory, ProfileFactory, main_profile, shown
from tests.oidc_provider.protocol import (
    INTROSPECT,
    INVALID_CLIENT,
    INVALID_GRANT,
    INVALID_REQUEST,
    INVALID_TOKEN,
    ISSUER,
    REVOKE,
    USERINFO,
    Answer,
    App,
    claims_of,
    code_for,
    encoded,
    post,
    refused,
    userinfo,
)


@pytest.fixture
def token(app: App, browser: Client) -> str:
    return str(app.sign_in(browser, "openid")["access_token"])


def _get(**headers: str) -> Answer:
    return Client().get(USERINFO, headers=headers)


@pytest.mark.parametrize("scheme", ["Bearer", "bEARER"])
def test_a_token_is_taken_in_the_header_and_in_a_form_body(token: str, user: User, scheme: str) -> None:
    header = f"{scheme} {token}"
    bodiless = Client(enforce_csrf_checks=True).post(USERINFO, headers={"authorization": header})
    in_body = post(USERINFO, {"access_token": token})
    for answer in (_get(authorization=header), post(USERINFO, {}, authorization=header), bodiless, in_body):
        assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
        assert (answer["Cache-Control"], answer["Pragma"]) == ("no-store", "no-cache")
        assert answer.json() == {"sub": user.pk}


def test_a_token_in_header_and_body_at_once_is_an_invalid_request(token: str) -> None:
    assert refused(post(USERINFO, {"access_token": token}, authorization=f"Bearer {token}")) == INVALID_REQUEST


def test_a_token_in_the_query_or_in_another_kind_of_body_is_not_read(token: str) -> None:
    field = encoded({"access_token": token})
    for answer in (
        Client().get(f"{USERINFO}?{field}"),
        post(f"{USERINFO}?{field}", ""),
        post(USERINFO, field, content_type="application/json"),
        post(USERINFO, field, content_type="multipart/form-data; boundary=x"),
    ):
        assert refused(answer)[0] in {400, 401}


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer "}, {"authorization": "Basic YTpi"}])
def test_no_token_is_401_with_a_bare_challenge(db: None, headers: dict[str, str]) -> None:
    for answer in (_get(**headers), post(USERINFO, {}, **headers)):
        assert answer.status_code == 401
        assert answer["WWW-Authenticate"] == "Bearer"
        refused(answer)


@pytest.mark.parametrize(
    "header",
    [
        "Bearer unknown",
        "Bearer eyx.y.z",
        "Bearer \xff",
        "Bearer " + "x" * 10_000,
    ],
    ids=lambda header: ascii(header)[:30],
)
def test_an_unknown_token_is_an_invalid_token(db: None, header: str) -> None:
    answer = _get(authorization=header)
    assert refused(answer) == INVALID_TOKEN
    assert answer["WWW-Authenticate"].startswith('Bearer error="invalid_token", error_description="')


def test_no_other_origin_may_read_it(token: str) -> None:
    answer = _get(authorization=f"Bearer {token}", origin="https://app.example.org")
    assert not [name for name in answer.headers if name.startswith("Access-Control-")]


def _nothing(profile: Profile) -> str | None:
    return None


def _uploaded(profile: Profile) -> str | None:
    profile.avatar = AssetFactory(owner=profile.user, path="avatars/ada.png")
    return f"{settings.UPLOAD_CDN_URL}/avatars/ada.png"


def _mirrored(profile: Profile) -> str | None:
    profile.settings = {"avatarSettings": {"mirrorChat": True}}
    return f"{settings.BASE_URL}/api/chat/avatar/{profile.user_id}"


@pytest.mark.parametrize("give", [_nothing, _uploaded, _mirrored])
def test_the_picture_is_the_avatar_and_the_same_in_both_places(
    app: App, browser: Client, user: User, give: Callable[[Profile], str | None]
) -> None:
    profile = main_profile(user)
    expected = give(profile)
    profile.save()
    shown(user)
    tokens = app.sign_in(browser, "openid identify")
    claims = userinfo(tokens["access_token"]).json()
    assert claims.get("picture") == claims_of(tokens["id_token"]).get("picture") == expected
    assert ("picture" in claims) == (expected is not None)


def test_an_alias_profile_gives_no_picture(app: App, browser: Client, user: User) -> None:
    own = ProfileFactory(user=user, avatar=AssetFactory(owner=user, path="avatars/other.png"))
    AliasRowFactory(name__user=user, profile=own)
    shown(user)
    assert "picture" not in userinfo(app.sign_in(browser, "openid identify")["access_token"]).json()


def test_the_picture_is_of_the_scope_identify(app: App, browser: Client, user: User) -> None:
    profile = main_profile(user)
    _uploaded(profile)
    profile.save()
    shown(user)
    assert "picture" not in userinfo(app.sign_in(browser, "openid")["access_token"]).json()


INACTIVE = {"active": False}
ONE_HOUR, THIRTY_DAYS = 3600, 30 * 24 * 3600
HINTS = pytest.mark.parametrize("hint", [None, "access_token", "refresh_token"])


@pytest.mark.embedded
@HINTS
@pytest.mark.parametrize(
    "row",
    [
        ("access_token", "openid identify", "Bearer", ONE_HOUR),
        ("refresh_token", "openid offline_access", "refresh_token", THIRTY_DAYS),
    ],
    ids=lambda row: row[0],
)
def test_a_live_token_is_described(
    clock: time_machine.Traveller,
    app: App,
    browser: Client,
    user: User,
    row: tuple[str, str, str, int],
    hint: str | None,
) -> None:
    kind, scope, token_type, lifetime = row
    token = app.sign_in(browser, scope)[kind]
    clock.shift(timedelta(minutes=30))
    answer = app.introspect(token, token_type_hint=hint)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    assert (answer["Cache-Control"], answer["Pragma"]) == ("no-store", "no-cache")
    assert answer.json() == {
        "active": True,
        "iss": ISSUER,
        "client_id": app.application.client_id,
        "sub": user.pk,
        "scope": scope,
        "token_type": token_type,
        "exp": int(NOON.timestamp()) + lifetime,
        "iat": int(NOON.timestamp()),
    }


@pytest.mark.parametrize("token", ["unknown", "\x00"])
def test_an_unknown_token_is_inactive_and_nothing_else(app: App, token: str) -> None:
    answer = app.introspect(token)
    assert (answer.status_code, answer.json()) == (200, INACTIVE)
    assert (answer["Cache-Control"], answer["Pragma"]) == ("no-store", "no-cache")


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_another_apps_token_is_inactive(app: App, other_app: App, browser: Client, kind: str) -> None:
    token = app.sign_in(browser)[kind]
    assert other_app.introspect(token).json() == INACTIVE
    assert app.is_live(token)


def test_id_tokens_and_codes_are_inactive(app: App, browser: Client) -> None:
    tokens = app.sign_in(browser)
    assert app.introspect(tokens["id_token"]).json() == INACTIVE
    assert app.introspect(code_for(browser, app.application)).json() == INACTIVE


def test_a_rotated_refresh_token_is_inactive(app: App, browser: Client) -> None:
    token = app.sign_in(browser)["refresh_token"]
    newer = app.refresh(token).json()["refresh_token"]
    assert (app.is_live(token), app.is_live(newer)) == (False, True)


@pytest.mark.parametrize(("kind", "lifetime"), [("access_token", ONE_HOUR), ("refresh_token", THIRTY_DAYS)])
def test_a_token_is_inactive_from_its_exp_on(
    clock: time_machine.Traveller, app: App, browser: Client, kind: str, lifetime: int
) -> None:
    token = app.sign_in(browser)[kind]
    clock.shift(timedelta(seconds=lifetime - 1))
    assert app.is_live(token)
    clock.shift(timedelta(seconds=1))
    assert not app.is_live(token)


@pytest.mark.parametrize("path", [INTROSPECT, REVOKE])
@pytest.mark.parametrize("token", [None, ""])
def test_a_missing_token_is_an_invalid_request_of_a_known_app(app: App, path: str, token: str | None) -> None:
    assert refused(app.post(path, token=token)) == INVALID_REQUEST
    assert refused(app.post(path, token=token, client_secret="wrong")) == INVALID_CLIENT


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
