"""Reports from many tabs, and staff who decide and delete at the same time."""

from __future__ import annotations

import contextlib

import pytest
from django.core.exceptions import ValidationError

from accounts import users
from accounts.models import User
from lookup.models import Comment, Report
from lookup.social import comments, reports
from tests.factories.accounts import StaffFactory, UserFactory
from tests.support.threads import together

pytestmark = [pytest.mark.embedded, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unlimited")]
THREADS = 8


@pytest.fixture
def ada(operator: User) -> User:
    return UserFactory(username="Ada")


def _send(comment: Comment | None, by: User, user: User) -> bool:
    """False: it is reported already, or gone."""
    with contextlib.suppress(ValidationError, Comment.DoesNotExist, User.DoesNotExist):
        reports.send(user=user, name="Ada", comment=comment, reason="SPAM", text="", by=by)
        return True
    return False


def test_a_double_click_sends_one_report(ada: User) -> None:
    eve, sent = UserFactory(), []
    comment = comments.write(user=ada, content="Hello", by=ada)
    together(THREADS, lambda number: sent.append(_send(comment if number % 2 else None, eve, ada)))
    assert (Report.objects.count(), sum(sent)) == (2, 2)


@pytest.mark.parametrize("is_author_deleted", [False, True])
def test_a_comment_is_reported_deleted_and_decided_at_once(ada: User, is_author_deleted: bool) -> None:
    """No open report keeps a comment that is gone, whoever deletes it."""
    bob, staff, people = UserFactory(), StaffFactory(), UserFactory.create_batch(THREADS)
    parent = comments.write(user=ada, content="Hello", by=ada)
    reply = comments.write(user=ada, content="Spam", parent=parent, by=bob)
    first = reports.send(user=ada, name="Ada", comment=reply, reason="SPAM", text="", by=ada)

    def act(number: int) -> None:
        with contextlib.suppress(ValidationError, Comment.DoesNotExist, User.DoesNotExist):
            if number == 0 and is_author_deleted:
                users.delete(user=bob, by=None)
            elif number == 1:
                reports.delete_comment(report=first, by=staff, reason="x")
            elif number == 2:
                comments.delete(comment=reply, by=ada)
            elif number == 3:
                reports.dismiss(report=first, by=staff, reason="x")
            else:
                _send(reply, people[number], ada)

    together(THREADS, act)
    assert not Comment.objects.filter(pk=reply.pk).exists()
    assert not Report.objects.exclude(comment=None).exists()
    assert not is_author_deleted or not Report.objects.exists()
