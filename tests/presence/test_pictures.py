"""Linked accounts follow what the platform tells of their members."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings

from accounts.models import AuditEvent, LinkedAccount
from presence import pictures
from tests.factories.accounts import LinkedAccountFactory
from tests.lookup import statements

ADA, BEA = 80351110224678912, 80351110224678913
pytestmark = pytest.mark.django_db


@pytest.fixture
def linked() -> LinkedAccount:
    return LinkedAccountFactory(external_id=str(ADA), name="ada", avatar_url="https://old.example/ada.png")


def member(**user: Any) -> dict[str, Any]:
    """Any: JSON."""
    return {"user": {"id": str(ADA), **user}}


def now(linked: LinkedAccount) -> tuple[str, str]:
    linked.refresh_from_db()
    return linked.name, linked.avatar_url.removeprefix(settings.CHAT_CDN_URL)


def test_name_and_picture_follow_and_nobody_is_said_to_have_done_it(linked: LinkedAccount) -> None:
    pictures.follow(
        {ADA: member(username="ada_l", avatar="a_0f"), BEA: member(username="bea", avatar="0f")}, {ADA, BEA}
    )
    assert now(linked) == ("ada_l", f"/avatars/{ADA}/a_0f.gif")
    assert not AuditEvent.objects.exists()


def test_who_is_only_renamed_keeps_the_picture(linked: LinkedAccount) -> None:
    pictures.follow({ADA: member(username="ada_l", avatar="a_0f")}, set())
    assert now(linked) == ("ada_l", "https://old.example/ada.png")


@pytest.mark.parametrize("avatar", [{}, {"avatar": None}, {"avatar": ""}])
def test_who_took_the_picture_away_has_none(linked: LinkedAccount, avatar: dict[str, Any]) -> None:
    pictures.follow({ADA: member(username="ada", **avatar)}, {ADA})
    assert now(linked) == ("ada", "")


@pytest.mark.parametrize("name", [None, "", 7, ["ada"], "\x00", "\ud800", {}])
def test_a_name_that_is_none_leaves_the_known_one(linked: LinkedAccount, name: object) -> None:
    pictures.follow({ADA: member(username=name, avatar="0f")}, {ADA})
    assert now(linked) == ("ada", f"/avatars/{ADA}/0f.png")


@pytest.mark.parametrize(
    "member", [{}, {"user": None}, {"user": []}, {"user": {"avatar": 7}}, {"user": {"avatar": "../x"}}]
)
def test_a_member_of_any_shape_harms_nobody(linked: LinkedAccount, member: dict[str, Any]) -> None:
    other = LinkedAccountFactory(external_id=str(BEA))
    pictures.follow({ADA: member, BEA: {"user": {"username": "bea", "avatar": "0f"}}}, {ADA, BEA})
    assert now(linked)[0] == "ada"
    assert now(other) == ("bea", f"/avatars/{BEA}/0f.png")


def test_an_account_of_another_kind_is_another_account() -> None:
    scrobbler = LinkedAccountFactory(kind=LinkedAccount.Kind.SCROBBLER, external_id=str(ADA), name="ada")
    pictures.follow({ADA: member(username="ada_l", avatar="0f")}, {ADA})
    assert now(scrobbler) == ("ada", "")


def test_members_whom_nobody_linked_cost_one_query() -> None:
    changed = {ADA + number: member(username="somebody") for number in range(200)}
    assert statements.names(lambda: pictures.follow(changed, set(changed))) == ["SELECT accounts_linkedaccount"]
    assert statements.names(lambda: pictures.follow({}, set())) == []
