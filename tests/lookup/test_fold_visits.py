"""The job that adds counts to the tables: each once, even after a crash."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from lookup import visits
from lookup.models import Link, UserDocument, Visit, VisitBatch, VisitSalt
from lookup.visits import database_store
from lookup.visits.database_store import Folded
from tests.factories.accounts import UserFactory
from tests.factories.lookup import LinkFactory, main_profile
from tests.lookup.visiting import NOON, STORES, Visiting, visiting
from tests.support.threads import together

pytestmark = pytest.mark.django_db


class Crash(Exception):
    """The process ends here."""


@pytest.fixture(params=STORES)
def seen(request: pytest.FixtureRequest) -> Iterator[Visiting]:
    with visiting(request.param) as store:
        yield store


@pytest.fixture
def ada() -> User:
    return UserFactory(username="Ada")


def counters(*users: User) -> list[int]:
    return [UserDocument.objects.get(pk=user.pk).views for user in users]


def test_the_job_says_what_it_added(seen: Visiting, ada: User) -> None:
    is_at_once = type(seen.store) is visits.DatabaseVisits
    link = LinkFactory(profile=main_profile(ada))
    for number in range(3):
        seen.count(ada.pk, f"192.0.2.{number}")
    for _ in range(2):
        seen.click(link.pk)
    expected = "Added 0 views and 0 clicks." if is_at_once else "Added 3 views and 2 clicks."
    assert call_command("fold_visits") == expected
    assert call_command("fold_visits") == "Added 0 views and 0 clicks."
    assert counters(ada) == [3]
    assert Link.objects.get().clicks == 2


def test_visitors_salts_and_notes_are_deleted_when_their_time_is_over(seen: Visiting, ada: User) -> None:
    now = timezone.now()
    for seconds, visitor in ((0, "old"), (1, "young")):
        counted_at = now - timedelta(hours=24) + timedelta(seconds=seconds)
        Visit.objects.create(user=ada, visitor=visitor, counted_at=counted_at)
    for days in (0, 1, 2, 3):
        VisitSalt.objects.create(day=(now - timedelta(days=days)).date(), salt="ab" * 32)
    for age, token in ((timedelta(days=7), "old"), (timedelta(days=6.99), "young")):
        VisitBatch.objects.create(token=token, folded_at=now - age)
    visits.fold(now)
    assert list(Visit.objects.values_list("visitor", flat=True)) == ["young"]
    assert VisitSalt.objects.count() == 2
    assert list(VisitBatch.objects.values_list("token", flat=True)) == ["young"]


# --- A batch ---


def test_a_batch_is_added_once_under_its_token(ada: User) -> None:
    ben, link = UserFactory(), LinkFactory(profile=main_profile(ada))
    views, clicks = {ada.pk: 3, ben.pk: 5, "nobody": 7}, {link.pk: 2, "nothing": 9}
    assert database_store.add_batch("one", views, clicks, NOON) == Folded(15, 11)
    assert database_store.add_batch("one", views, clicks, NOON) == Folded()
    assert database_store.add_batch("one", {ada.pk: 99}, {}, NOON) == Folded()  # an older state of the same counts
    assert counters(ada, ben) == [3, 5]
    assert Link.objects.get().clicks == 2
    database_store.add_batch("two", {ada.pk: 1}, {}, NOON)
    assert counters(ada, ben) == [4, 5]


def test_a_batch_that_ended_between_its_parts_goes_on_there(monkeypatch: pytest.MonkeyPatch) -> None:
    users = [UserFactory() for _ in range(5)]
    views = {user.pk: number + 1 for number, user in enumerate(users)}
    monkeypatch.setattr(database_store, "ROWS_AT_ONCE", 2)
    add_views, calls = database_store.add_views, []

    def ending(part: dict[str, int]) -> None:
        calls.append(part)
        add_views(part)
        if len(calls) == 2:
            raise Crash  # the part is rolled back with its token

    monkeypatch.setattr(database_store, "add_views", ending)
    with pytest.raises(Crash):
        database_store.add_batch("one", views, {}, NOON)
    assert sum(counters(*users)) == sum(sorted(calls[0].values()))
    database_store.add_batch("one", views, {}, NOON)
    assert counters(*users) == [1, 2, 3, 4, 5]


@pytest.mark.embedded
def test_the_statements_of_a_batch_do_not_grow_with_it() -> None:
    def statements(token: str, users: list[User]) -> int:
        with CaptureQueriesContext(connection) as captured:
            database_store.add_batch(token, {user.pk: 1 for user in users}, {}, NOON)
        return len(captured)

    users = [UserFactory() for _ in range(20)]
    assert statements("one", users[:1]) == statements("many", users)
    assert counters(*users) == [2, *[1] * 19]


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_a_batch_that_two_processes_add_at_once_is_added_once() -> None:
    users = [UserFactory() for _ in range(10)]
    views = {user.pk: 1 for user in users}
    added = together(4, lambda _: database_store.add_batch("one", views, {}, NOON))
    assert sum(one.views for one in added) == 10
    assert counters(*users) == [1] * 10


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_batches_with_the_same_users_cause_no_deadlock() -> None:
    users = [UserFactory() for _ in range(10)]
    forwards = {user.pk: 1 for user in users}
    backwards = {user.pk: 1 for user in reversed(users)}
    together(4, lambda number: database_store.add_batch(f"{number}", (forwards, backwards)[number % 2], {}, NOON))
    assert counters(*users) == [4] * 10
