"""Statements by hand answer the same on every way that they can take."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.db import IntegrityError, OperationalError, ProgrammingError, transaction
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from infrastructure.databases.statements import Statement
from tests.factories.accounts import UserFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded]

USER = Statement(
    "SELECT u.id, u.username, u.uid, u.is_active, u.created_at, u.plan_expires_at FROM accounts_user u "
    "WHERE u.username = $2 AND u.is_active AND u.uid >= $1",
    "tsibdd",
)
NOON = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)


@pytest.fixture
def zoe() -> User:
    return UserFactory(username="Zoe", display_name="Zoë", created_at=NOON)


def row(user: User) -> tuple[object, ...]:
    return user.pk.encode(), "Zoe", user.uid, True, NOON, None


def test_a_row_has_the_kinds_of_its_columns(zoe: User) -> None:
    for _ in range(3):
        assert USER.one(0, "Zoe") == row(zoe)
        assert USER.all(0, "Zoe") == [row(zoe)]


def test_in_a_transaction_it_sees_what_the_transaction_wrote(zoe: User) -> None:
    with transaction.atomic():
        User.objects.filter(pk=zoe.pk).update(username="Zara")
        assert USER.one(0, "Zoe") is None
        assert USER.one(0, "Zara") is not None
        transaction.set_rollback(True)
    assert USER.one(0, "Zoe") == row(zoe)


def test_what_a_transaction_begins_with_is_rolled_back_with_it(zoe: User) -> None:
    rename = Statement("UPDATE accounts_user SET username = $1 WHERE id = $2 RETURNING uid", "i", is_read=False)
    with transaction.atomic():
        assert rename.one("Zara", zoe.pk) == (zoe.uid,)
        transaction.set_rollback(True)
    assert USER.one(0, "Zoe") == row(zoe)


def test_where_queries_are_counted_it_is_one(zoe: User, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        assert USER.one(0, "Zoe") == row(zoe)


def test_no_row_is_none_and_text_is_bytes(zoe: User) -> None:
    assert USER.one(zoe.uid + 1, "Zoe") is None
    name = Statement("SELECT u.display_name FROM accounts_user u WHERE u.created_at >= $1", "t")
    other_zone = timezone(timedelta(hours=2))
    assert name.one(NOON.astimezone(other_zone)) == ("Zoë".encode(),)
    assert name.one(NOON + timedelta(microseconds=1)) is None


def test_a_percent_sign_and_a_placeholder_that_comes_twice_are_taken_as_they_are(zoe: User) -> None:
    like = Statement("SELECT u.uid FROM accounts_user u WHERE u.username LIKE 'Z%' AND ($1 = u.id OR $1 = '')", "i")
    assert like.one("") == like.one(zoe.pk) == (zoe.uid,)
    with transaction.atomic():
        assert like.one("") == like.one(zoe.pk) == (zoe.uid,)


def test_errors_are_djangos(zoe: User) -> None:
    with pytest.raises((ProgrammingError, OperationalError)):
        Statement("SELECT nothing FROM nowhere", "i").one()
    taken = Statement("UPDATE accounts_user SET uid = $1 WHERE id <> $2", "", is_read=False)
    UserFactory()
    with pytest.raises(IntegrityError):
        taken.all(zoe.uid, zoe.pk)
    assert USER.one(0, "Zoe") == row(zoe)


def test_null_goes_in_as_null(zoe: User) -> None:
    sql = "UPDATE accounts_user SET plan_expires_at = $1 WHERE id = $2 RETURNING plan_expires_at"
    changed = Statement(sql, "d", is_read=False)
    assert changed.all(NOON, zoe.pk) == [(NOON,)]
    assert changed.all(None, zoe.pk) == [(None,)]
