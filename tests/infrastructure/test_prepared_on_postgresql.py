"""What becomes of prepared statements when PostgreSQL, a pooler or a migration takes them away."""

from __future__ import annotations

import gc
import threading
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from pytest_django import Settings

from accounts.models import User
from infrastructure.databases.statements import SentAhead, Statement
from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db(transaction=True)

NAME = Statement("SELECT u.username FROM accounts_user u WHERE u.uid = $1", "s")
RENAME = Statement("UPDATE accounts_user SET display_name = $1 WHERE uid = $2", "", is_read=False)


def prepared() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM pg_prepared_statements WHERE name LIKE 'by\\_hand%%'")
        return {name for (name,) in cursor.fetchall()}


def end_connection() -> None:
    """As a restart of the server does."""
    with connection.copy().cursor() as other:
        connection.ensure_connection()
        other.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])
        other.connection.close()


def test_it_is_prepared_once() -> None:
    user = UserFactory()
    connection.close()
    for _ in range(3):
        assert NAME.one(user.uid) == (user.username,)
    assert len(prepared()) == 1


def test_without_prepared_statements_none_is_made(settings: Settings) -> None:
    settings.DATABASE_PREPARED_STATEMENTS = False
    user = UserFactory()
    connection.close()
    assert NAME.one(user.uid) == (user.username,)
    assert prepared() == set()


def test_one_that_the_server_forgot_is_prepared_again() -> None:
    user = UserFactory()
    NAME.one(user.uid)
    connection.connection.pgconn.exec_(b"DISCARD ALL")
    assert NAME.one(user.uid) == (user.username,)
    assert NAME.one(user.uid) == (user.username,)


def test_one_whose_columns_changed_is_prepared_again() -> None:
    user = UserFactory()
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE changing (value integer)")
        cursor.execute("INSERT INTO changing VALUES (7)")
        changing = Statement("SELECT value FROM changing", "s")
        assert changing.one() == ("7",)
        cursor.execute("ALTER TABLE changing ALTER value TYPE text")
    assert changing.one() == ("7",)
    assert NAME.one(user.uid) == (user.username,)


def test_a_read_outlives_the_end_of_its_connection() -> None:
    user = UserFactory()
    NAME.one(user.uid)
    end_connection()
    assert NAME.one(user.uid) == (user.username,)


def test_a_connection_ends_with_its_thread() -> None:
    opened: list[psycopg.Connection[Any]] = []

    def use() -> None:
        NAME.one(0)
        opened.append(connection.connection)

    gc.disable()  # Django's connection refers to itself
    try:
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        assert [one.closed for one in opened] == [True]
    finally:
        gc.enable()


def test_a_write_is_not_repeated() -> None:
    user = UserFactory()
    RENAME.all("Ada", user.uid)
    end_connection()
    with pytest.raises(OperationalError):
        RENAME.all("Bea", user.uid)
    user.refresh_from_db()
    assert user.display_name == "Ada"
    RENAME.all("Cid", user.uid)


class TestSentAhead:
    """A statement that is sent before it is known whether its result is needed."""

    def test_the_same_statement_with_equal_values_takes_its_result(self) -> None:
        user = UserFactory(username="before")
        NAME.one(user.uid)
        ahead_of(user.uid).send()
        rename(user.uid, "after")
        assert NAME.one(user.uid) == ("before",)  # it was read then
        assert NAME.one(user.uid) == ("after",)

    @pytest.mark.parametrize("is_same_statement", [True, False])
    def test_nothing_else_takes_it(self, is_same_statement: bool) -> None:
        user, other = UserFactory(), UserFactory()
        NAME.one(user.uid)
        ahead_of(user.uid).send()
        statement = (
            NAME
            if is_same_statement
            else Statement("SELECT u.username FROM accounts_user u WHERE u.uid = $1 ORDER BY 1", "s")
        )
        assert statement.one(other.uid) == (other.username,)
        assert NAME.one(other.uid) == (other.username,)

    def test_a_query_of_django_takes_its_own_result(self) -> None:
        user, other = UserFactory(), UserFactory()
        NAME.one(user.uid)
        ahead_of(user.uid).send()
        assert User.objects.get(uid=other.uid) == other
        assert NAME.one(user.uid) == (user.username,)

    def test_one_that_is_not_needed_is_dropped(self) -> None:
        user = UserFactory(username="before")
        NAME.one(user.uid)
        ahead = ahead_of(user.uid)
        ahead.send()
        ahead.drop()
        rename(user.uid, "after")
        assert NAME.one(user.uid) == ("after",)

    def test_in_a_transaction_it_is_not_sent(self) -> None:
        user = UserFactory(username="before")
        NAME.one(user.uid)
        with transaction.atomic():
            ahead_of(user.uid).send()
            User.objects.filter(uid=user.uid).update(username="after")
            assert NAME.one(user.uid) == ("after",)

    @pytest.mark.parametrize("is_ended_first", [True, False])
    def test_the_end_of_its_connection_is_outlived(self, is_ended_first: bool) -> None:
        user = UserFactory()
        NAME.one(user.uid)
        ahead = ahead_of(user.uid)
        steps = [end_connection, ahead.send]
        for step in steps if is_ended_first else reversed(steps):
            step()
        assert [NAME.one(user.uid) for _ in range(2)] == [(user.username,)] * 2
        ahead.drop()

    def test_its_error_is_the_error_of_the_statement(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 500")
        try:
            sleep = Statement("SELECT pg_sleep(CAST($1 AS double precision))", "t")
            sleep.one(0)
            SentAhead(lambda: (sleep, (3,))).send()
            with pytest.raises(OperationalError, match="statement timeout"):
                sleep.one(3)
            assert sleep.one(0) == (b"",)  # it was not run again
        finally:
            connection.close()

    def test_a_connection_that_ended_below_it_is_not_kept(self) -> None:
        user = UserFactory()
        NAME.one(user.uid)
        ahead = ahead_of(user.uid)
        end_connection()
        ahead.send()
        ahead.drop()
        connection.close_if_unusable_or_obsolete()
        RENAME.all("Ada", user.uid)
        assert User.objects.get(pk=user.pk).display_name == "Ada"

    def test_one_whose_statement_the_server_forgot_is_run_again(self) -> None:
        user = UserFactory()
        NAME.one(user.uid)
        connection.connection.pgconn.exec_(b"DISCARD ALL")
        ahead_of(user.uid).send()
        assert NAME.one(user.uid) == (user.username,)


def ahead_of(uid: int) -> SentAhead:
    return SentAhead(lambda: (NAME, (uid,)))


def rename(uid: int, name: str) -> None:
    """Change the name by another connection."""
    with connection.copy().cursor() as other:
        other.execute("UPDATE accounts_user SET username = %s WHERE uid = %s", [name, uid])
        other.connection.close()
