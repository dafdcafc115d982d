"""Outside accounts: linked, replaced, unlinked; each belongs to one user."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError

from accounts.linking import account_links
from accounts.models import AuditEvent, LinkedAccount, User
from tests.factories.accounts import LinkedAccountFactory, UserFactory

pytestmark = pytest.mark.django_db
CHAT = LinkedAccount.Kind.CHAT


@pytest.fixture
def user() -> User:
    return UserFactory()


def _linked(user: User) -> list[tuple[str, str]]:
    return list(LinkedAccount.objects.filter(user=user).order_by("pk").values_list("external_id", "name"))


def test_another_account_of_the_kind_takes_the_place_of_the_first(user: User) -> None:
    for external_id in ("80351110224678912", "80351110224678913"):
        account_links.link(user=user, kind=CHAT, external_id=external_id, name="ada", by=user)
    assert _linked(user) == [("80351110224678913", "ada")]
    verbs = AuditEvent.objects.filter(object_id=user.pk).order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["linked_account:linked"] * 2


def test_another_account_is_linked_since_now_and_the_same_one_since_the_first_time(user: User) -> None:
    first = account_links.link(user=user, kind=CHAT, external_id="80351110224678912", name="ada", by=user).linked_at
    again = account_links.link(user=user, kind=CHAT, external_id="80351110224678912", name="ada l.", by=user)
    again.refresh_from_db()
    assert (again.name, again.linked_at) == ("ada l.", first)
    other = account_links.link(user=user, kind=CHAT, external_id="80351110224678913", name="ada", by=user)
    assert other.linked_at > first


def test_unlinking_forgets_it_and_a_second_time_does_nothing(user: User) -> None:
    LinkedAccountFactory(user=user, kind=CHAT)
    for _ in range(2):
        account_links.unlink(user=user, kind=CHAT, by=user)
    assert _linked(user) == []
    assert AuditEvent.objects.filter(object_id=user.pk, verb="linked_account:unlinked").count() == 1


def test_losing_the_race_for_an_account_is_the_same_error(user: User, monkeypatch: Any) -> None:
    """The other user links it between the check and the write."""

    def refuse(**given: Any) -> None:
        raise IntegrityError

    monkeypatch.setattr(LinkedAccount.objects, "update_or_create", refuse)
    with pytest.raises(ValidationError, match=account_links.TAKEN):
        account_links.link(user=user, kind=CHAT, external_id="80351110224678912", name="ada", by=user)


class TestRefresh:
    def test_changes_at_the_service_are_stored_and_receivers_are_called(self, user: User, notified: list[User]) -> None:
        linked = LinkedAccountFactory(user=user, kind=CHAT, name="ada", avatar_url="")
        outcomes = [_refresh(linked.external_id, "ada_l", "") for _ in range(2)]
        outcomes.append(_refresh(linked.external_id, "ada_l", "https://cdn.example/1.png"))
        linked.refresh_from_db()
        assert outcomes == [True, False, True]  # the second time it is no news
        assert (linked.name, linked.avatar_url) == ("ada_l", "https://cdn.example/1.png")
        assert notified == [user, user]
        assert not AuditEvent.objects.exists()

    @pytest.mark.parametrize(
        ("kind", "external_id"), [(CHAT, "17"), (LinkedAccount.Kind.SCROBBLER, "80351110224678912")]
    )
    def test_an_account_that_is_not_linked_changes_nothing(
        self, notified: list[User], kind: str, external_id: str
    ) -> None:
        linked = LinkedAccountFactory(kind=CHAT, external_id="80351110224678912", name="ada")
        assert account_links.refresh(kind=kind, external_id=external_id, name="eve", avatar_url="") is False
        linked.refresh_from_db()
        assert (linked.name, notified) == ("ada", [])


NOTIFIED: list[User] = []


def note_user(user: User) -> None:
    """A receiver of `account_linked`."""
    NOTIFIED.append(user)


@pytest.fixture
def notified(settings: Any) -> list[User]:
    """The users for whom the receivers of `account_linked` were called."""
    NOTIFIED.clear()
    settings.RECEIVERS = {**settings.RECEIVERS, "account_linked": [f"{__name__}.note_user"]}
    return NOTIFIED


def _refresh(external_id: str, name: str, avatar_url: str) -> bool:
    return account_links.refresh(kind=CHAT, external_id=external_id, name=name, avatar_url=avatar_url)
