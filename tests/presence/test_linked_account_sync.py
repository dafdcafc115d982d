"""Linked accounts follow what the platform tells of their members."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings

from accounts.models import AuditEvent, LinkedAccount
from presence.worker import linked_account_sync
from tests.factories.accounts import LinkedAccountFactory
from tests.lookup import statements

ADA, BEA = 80351110224678912, 80351110224678913
pytestmark = pytest.mark.django_db


@pytest.fixture
def linked() -> LinkedAccount:
    return LinkedAccountFactory(external_id=str(ADA), name="ada", avatar_url="https://old.example/ada.png")


def member(**user: Any) -> dict[str, Any]:
    return {"user": {"id": str(ADA), **user}}


def now(linked: LinkedAccount) -> tuple[str, str]:
    linked.refresh_from_db()
    return linked.name, linked.avatar_url.removeprefix(settings.CHAT_CDN_URL)


def test_name_and_picture_follow_and_leave_no_audit_event(linked: LinkedAccount) -> None:
    linked_account_sync.follow(
        {ADA: member(username="ada_l", avatar="a_0f"), BEA: member(username="bea", avatar="0f")}, {ADA, BEA}
    )
    assert now(linked) == ("ada_l", f"/avatars/{ADA}/a_0f.gif")
    assert not AuditEvent.objects.exists()


def test_who_is_only_renamed_keeps_the_picture(linked: LinkedAccount) -> None:
    linked_account_sync.follow({ADA: member(username="ada_l", avatar="a_0f")}, set())
    assert now(linked) == ("ada_l", "https://old.example/ada.png")


@pytest.mark.parametrize("avatar", [{}, {"avatar": None}, {"avatar": ""}])
def test_who_took_the_picture_away_has_none(linked: LinkedAccount, avatar: dict[str, Any]) -> None:
    linked_account_sync.follow({ADA: member(username="ada", **avatar)}, {ADA})
    assert now(linked) == ("ada", "")


@pytest.mark.parametrize("name", [None, "", 7, "\ud800"])
def test_a_name_that_is_none_leaves_the_known_one(linked: LinkedAccount, name: object) -> None:
    linked_account_sync.follow({ADA: member(username=name, avatar="0f")}, {ADA})
    assert now(linked) == ("ada", f"/avatars/{ADA}/0f.png")


@pytest.mark.parametrize(
    "member", [{}, {"user": None}, {"user": []}, {"user": {"avatar": 7}}, {"user": {"avatar": "../x"}}]
)
def test_a_member_of_any_shape_changes_no_account(linked: LinkedAccount, member: dict[str, Any]) -> None:
    other = LinkedAccountFactory(external_id=str(BEA))
    linked_account_sync.follow({ADA: member, BEA: {"user": {"username": "bea", "avatar": "0f"}}}, {ADA, BEA})
    assert now(linked)[0] == "ada"
    assert now(other) == ("bea", f"/avatars/{BEA}/0f.png")


def test_members_without_an_account_cost_one_query() -> None:
    changed = {ADA + number: member(username="somebody") for number in range(200)}
    assert statements.names(lambda: linked_account_sync.follow(changed, set(changed))) == [
        "SELECT accounts_linkedaccount"
    ]
    assert statements.names(lambda: linked_account_sync.follow({}, set())) == []


def test_members_are_looked_for_in_batches(linked: LinkedAccount) -> None:
    changed = {ADA + number: member(username="ada_l") for number in range(1001)}
    found = statements.names(lambda: linked_account_sync.follow(dict(reversed(changed.items())), set()))
    assert found.count("SELECT accounts_linkedaccount") == 4  # the third finds Ada, who is looked at again
    assert now(linked)[0] == "ada_l"


# --- Changes without an event ---


def _own(path: str) -> str:
    return f"{settings.CHAT_CDN_URL}{path}"


@pytest.mark.parametrize(
    ("known", "user", "expected"),
    [
        ("https://old.example/ada.png", {"username": "ada_l", "avatar": "0f"}, "https://old.example/ada.png"),
        ("", {"username": "ada_l", "avatar": "0f"}, ""),
        (_own(f"/avatars/{ADA}/aa.png"), {"username": "ada_l", "avatar": "0f"}, f"/avatars/{ADA}/0f.png"),
        (_own(f"/avatars/{ADA}/aa.png"), {"username": "ada_l", "avatar": None}, ""),
        (_own(".example/ada.png"), {"username": "ada_l", "avatar": "0f"}, ".example/ada.png"),
    ],
    ids=["imported", "none known", "another one", "none any more", "imported from a similar address"],
)
def test_a_comparison_follows_the_name_and_the_platforms_own_picture(
    known: str, user: dict[str, Any], expected: str
) -> None:
    linked = LinkedAccountFactory(external_id=str(ADA), name="ada", avatar_url=known)
    assert linked_account_sync.compare({ADA: member(**user)}.get, 0) is None
    assert now(linked) == ("ada_l", expected)


def test_a_comparison_leaves_alone_who_is_no_member_or_no_account_of_the_platform() -> None:
    accounts = [
        LinkedAccountFactory(external_id=str(BEA), name="bea"),
        LinkedAccountFactory(external_id=f"0{ADA}", name="nobody"),
        LinkedAccountFactory(external_id="ada", name="nobody"),
        LinkedAccountFactory(kind=LinkedAccount.Kind.SCROBBLER, external_id=str(ADA), name="ada"),
    ]
    assert linked_account_sync.compare({ADA: member(username="ada_l"), 0: member(username="zero")}.get, 0) is None
    assert [now(linked)[0] for linked in accounts] == ["bea", "nobody", "nobody", "ada"]


def test_a_comparison_without_news_costs_one_query_for_500(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linked_account_sync, "AT_ONCE", 2)
    linked = [LinkedAccountFactory(external_id=str(ADA + number), name=f"ada{number}") for number in range(3)]
    members = {ADA + number: member(username=f"new{number}") for number in range(3)}
    position = linked_account_sync.compare(members.get, 0)
    assert position == linked[1].pk
    assert [now(account)[0] for account in linked] == ["new0", "new1", "ada2"]
    assert linked_account_sync.compare(members.get, position) is None
    assert now(linked[2])[0] == "new2"
