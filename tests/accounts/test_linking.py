"""Outside accounts: linked, replaced, unlinked; each belongs to one user."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError

from accounts import linking
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
        linking.link(user=user, kind=CHAT, external_id=external_id, name="ada", by=user)
    assert _linked(user) == [("80351110224678913", "ada")]
    verbs = AuditEvent.objects.filter(object_id=user.pk).order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["linked_account:linked"] * 2


def test_unlinking_forgets_it_and_a_second_time_does_nothing(user: User) -> None:
    LinkedAccountFactory(user=user, kind=CHAT)
    for _ in range(2):
        linking.unlink(user=user, kind=CHAT, by=user)
    assert _linked(user) == []
    assert AuditEvent.objects.filter(object_id=user.pk, verb="linked_account:unlinked").count() == 1


def test_an_account_of_somebody_else_is_refused(user: User) -> None:
    other = LinkedAccountFactory(kind=CHAT)
    with pytest.raises(ValidationError, match=linking.TAKEN):
        linking.link(user=user, kind=CHAT, external_id=other.external_id, name="ada", by=user)
    assert _linked(user) == []


def test_whoever_loses_the_race_for_an_account_is_told_the_same(user: User, monkeypatch: Any) -> None:
    """Any: pytest's own. The other one links it between the check and the write."""

    def refuse(**given: Any) -> None:
        raise IntegrityError

    monkeypatch.setattr(LinkedAccount.objects, "update_or_create", refuse)
    with pytest.raises(ValidationError, match=linking.TAKEN):
        linking.link(user=user, kind=CHAT, external_id="80351110224678912", name="ada", by=user)
