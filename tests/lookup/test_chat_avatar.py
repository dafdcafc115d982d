"""GET /api/chat/avatar/{userId}: where a mirrored picture is found."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts import bans
from accounts.linking import account_links
from accounts.models import LinkedAccount, User
from tests.factories.accounts import LinkedAccountFactory, UserFactory
from tests.factories.lookup import main_profile, shown
from tests.lookup import answers
from tests.lookup.answers import NOT_FOUND
from tests.lookup.filled import BARE

PICTURE = "https://cdn.chat.example/avatars/1/a.png?size=256"


@pytest.fixture
def chatting(bare: User, settings: Settings) -> User:
    settings.CHAT_CDN_URL = "https://cdn.chat.example"
    LinkedAccountFactory(user=bare, external_id="80351110224678912", avatar_url=PICTURE)
    return bare


def _redirect(path: str = f"/api/chat/avatar/{BARE}", **headers: str) -> Any:
    """The test client's response; it has no public type."""
    return Client(REMOTE_ADDR=answers.ADDRESS).get(path, headers=headers)


def test_it_redirects_to_the_last_known_picture_and_needs_no_key(chatting: User) -> None:
    response = _redirect(**{"X-API-Key": "wrong", "Authorization": "Bearer wrong"})
    assert (response.status_code, response.headers["Location"], response.content) == (302, PICTURE, b"")
    assert "Vary" not in response.headers
    assert response.headers["Cache-Control"] == "public, max-age=300"
    assert "Set-Cookie" not in response.headers
    assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("external_id", "number"), [("80351110224678912", 5), ("0", 0), (str(1 << 22), 1), (str(7 << 22), 1), ("name", 0)]
)
def test_without_a_picture_it_is_the_platforms_default_one(chatting: User, external_id: str, number: int) -> None:
    """80351110224678912 >> 22 is 19157197529; its remainder by 6 is 5."""
    LinkedAccount.objects.update(avatar_url="", external_id=external_id)
    assert _redirect().headers["Location"] == f"https://cdn.chat.example/embed/avatars/{number}.png"


def test_a_picture_that_changed_is_found_at_once(chatting: User) -> None:
    account_links.link(
        user=chatting,
        kind=LinkedAccount.Kind.CHAT,
        external_id="5" * 17,
        name="x",
        avatar_url=f"{PICTURE}&new",
        by=chatting,
    )
    assert _redirect().headers["Location"] == f"{PICTURE}&new"


def test_without_a_linked_account_it_is_404(bare: User) -> None:
    LinkedAccountFactory(user=bare, kind=LinkedAccount.Kind.SCROBBLER, avatar_url=PICTURE)
    assert answers.get(f"/api/chat/avatar/{BARE}", "error").whole == NOT_FOUND


def test_of_a_banned_user_it_is_404(chatting: User) -> None:
    bans.ban(user=chatting, by=None, reason="x")
    assert answers.get(f"/api/chat/avatar/{BARE}", "error").whole == NOT_FOUND


@pytest.mark.parametrize("user_id", ["1", "a" * 5000, "%ff"])
def test_of_an_unknown_user_it_is_404(chatting: User, user_id: str) -> None:
    assert answers.get(f"/api/chat/avatar/{user_id}", "error").whole == NOT_FOUND


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("is_public", "mirrors", "status"), [(True, False, 302), (False, True, 302), (False, False, 404)]
)
def test_a_private_user_who_mirrors_nothing_has_no_picture(is_public: bool, mirrors: bool, status: int) -> None:
    user = UserFactory(public_api_access=is_public)
    LinkedAccountFactory(user=user)
    profile = main_profile(user)
    profile.settings = {"avatarSettings": {"mirrorChat": mirrors}}
    profile.save()
    shown(user)
    assert Client().get(f"/api/chat/avatar/{user.pk}").status_code == status
