"""Renderings and changes of a user at once: no answer stays that says what was changed."""

from __future__ import annotations

import pytest
from django.utils import timezone

from accounts.linking import account_links
from accounts.models import LinkedAccount, User
from lookup.documents import document_checks, documents
from lookup.views import api
from tests.factories.accounts import LinkedAccountFactory, UserFactory
from tests.lookup import answers
from tests.support.threads import together

pytestmark = [pytest.mark.embedded, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unlimited")]


def test_renderings_and_changes_at_once_leave_nothing_stale(operator: User) -> None:
    """Four threads that rename, link and read: no deadlock, and the last word is the table's."""
    user = UserFactory(username="Busy")
    LinkedAccountFactory(user=user, external_id="1")

    def act(number: int) -> None:
        if number % 3 == 0:
            User.objects.filter(pk=user.pk).update(display_name=f"Name {number}")
        elif number % 3 == 1:
            account_links.link(user=user, kind="CHAT", external_id=str(number), name="n", by=user)
        documents.rebuild_of(user.pk)
        assert b"Busy" in api.answer("type=username&value=busy", timezone.now())

    together(4, act)
    found, row = answers.user("busy").body["user"], User.objects.get(pk=user.pk)
    assert found["name"] == row.display_name
    assert found["chatId"] == LinkedAccount.objects.get(user=user).external_id
    assert list(document_checks.differences()) == []
