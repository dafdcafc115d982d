"""Userinfo: where the token may be sent, the answer to each bad token, and the claim `picture`."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.conf import settings
from django.test import Client

from accounts.models import User
from lookup.models import Profile
from tests.factories.lookup import AliasRowFactory, AssetFactory, ProfileFactory, main_profile, shown
from tests.oidc_provider.protocol import (
    INVALID_REQUEST,
    INVALID_TOKEN,
    USERINFO,
    Answer,
    App,
    claims_of,
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
def test_a_token_in_the_header_is_taken_by_get_and_post(token: str, user: User, scheme: str) -> None:
    header = f"{scheme} {token}"
    bodiless = Client(enforce_csrf_checks=True).post(USERINFO, headers={"authorization": header})
    for answer in (_get(authorization=header), post(USERINFO, {}, authorization=header), bodiless):
        assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
        assert (answer["Cache-Control"], answer["Pragma"]) == ("no-store", "no-cache")
        assert answer.json() == {"sub": user.pk}


def test_a_token_in_a_form_body_is_taken_by_post(token: str, user: User) -> None:
    answer = post(USERINFO, {"access_token": token})
    assert (answer.status_code, answer.json()) == (200, {"sub": user.pk})


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


def test_a_token_without_openid_is_an_insufficient_scope(app: App, browser: Client) -> None:
    answer = userinfo(app.sign_in(browser, "identify")["access_token"])
    assert refused(answer) == (403, "insufficient_scope")
    assert answer["WWW-Authenticate"].startswith('Bearer error="insufficient_scope"')
    assert 'scope="openid"' in answer["WWW-Authenticate"]


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
