"""The claim `picture`: the avatar of the user's main profile, where there is one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.conf import settings
from django.test import Client

from accounts.models import User
from lookup.models import Profile
from tests.factories.lookup import AliasRowFactory, AssetFactory, ProfileFactory, main_profile, shown
from tests.oidc_provider.protocol import App, claims_of, userinfo


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
    told = userinfo(tokens["access_token"]).json()
    assert told.get("picture") == claims_of(tokens["id_token"]).get("picture") == expected
    assert ("picture" in told) == (expected is not None)


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
