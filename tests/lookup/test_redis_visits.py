"""Visits in Redis: what a request costs there, and what holds when anything ends in the middle of the job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from lookup import visits
from lookup.models import Link, UserDocument
from lookup.visits import database_store, redis_store
from lookup.visits.database_store import Folded
from lookup.visits.visitors import Visitor
from tests.factories.accounts import UserFactory
from tests.factories.lookup import LinkFactory, main_profile
from tests.lookup.visiting import ADDRESS, BROWSER, Visiting, redis, view_of, visit, visiting
from tests.support.redis_commands import UNREACHABLE
from tests.support.threads import together

pytestmark = pytest.mark.django_db


class Crash(Exception):
    """The process ends here."""


def crash(*_: Any, **__: Any) -> None:
    raise Crash


def before_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_store, "add_batch", crash)


def in_the_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_store, "add_views", crash)


def after_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits._store(), "_drop", crash)


def fold() -> Folded:
    return visits.fold(timezone.now())


def views(user: User) -> int:
    return UserDocument.objects.get(pk=user.pk).views


@pytest.fixture
def ada() -> User:
    return UserFactory(username="Ada")


@pytest.fixture
def unreachable(monkeypatch: pytest.MonkeyPatch) -> Iterator[Visiting]:
    """The store, with no server to connect to."""
    from django.core.cache import caches

    monkeypatch.setattr(settings, "CACHES", UNREACHABLE)
    monkeypatch.setattr(caches, "settings", caches.configure_settings(UNREACHABLE))
    del caches["default"]
    with visiting("RedisVisits") as seen:
        yield seen
    monkeypatch.undo()
    del caches["default"]


def test_a_redis_that_does_not_answer_costs_the_count_and_not_the_page(
    unreachable: Visiting, ada: User, caplog: pytest.LogCaptureFixture
) -> None:
    assert visit("/ada").status_code == 200
    assert [record.getMessage() for record in caplog.records] == ["A view could not be counted."]
    with pytest.raises(redis_store.StoreUnavailable):
        fold()
    assert views(ada) == 0


if settings.REDIS_URL:

    @pytest.fixture
    def seen() -> Iterator[Visiting]:
        with visiting("RedisVisits") as store:
            yield store

    def test_a_visit_is_one_command_and_no_statement(seen: Visiting, ada: User, redis_commands: list[str]) -> None:
        seen.count(ada.pk)
        redis_commands.clear()
        view = view_of(ada.pk, "news.example")
        with CaptureQueriesContext(connection) as captured:
            for address in (ADDRESS, "192.0.2.2"):
                seen.store.count_view(Visitor(address, BROWSER), view, timezone.now())
        assert redis_commands == ["EVALSHA", "EVALSHA"]
        assert captured.captured_queries == []

    def test_all_keys_have_the_prefix_of_visits(seen: Visiting, ada: User) -> None:
        seen.count(ada.pk)
        seen.click("a")
        assert {name.split(b":")[0] for name in redis().scan_iter()} == {b"{visit}"}

    def test_a_salt_that_redis_has_lost_is_made_anew_for_everybody(seen: Visiting, ada: User) -> None:
        other = Visiting(visits.RedisVisits(), seen.clock)
        assert (seen.count(ada.pk), other.count(ada.pk)) == (True, False)
        redis().flushdb()
        assert (seen.count(ada.pk), other.count(ada.pk)) == (True, False)

    @pytest.mark.parametrize("moment", [before_the_tables, in_the_transaction, after_the_tables])
    def test_a_crash_anywhere_loses_nothing_and_counts_nothing_twice(
        seen: Visiting, ada: User, moment: Callable[[pytest.MonkeyPatch], None]
    ) -> None:
        link = LinkFactory(profile=main_profile(ada))
        for number in range(3):
            seen.count(ada.pk, f"192.0.2.{number}")
        seen.click(link.pk)
        with pytest.MonkeyPatch.context() as patched:
            moment(patched)
            with pytest.raises(Crash):
                fold()
        seen.count(ada.pk, "192.0.2.77")  # meanwhile
        seen.click(link.pk)
        fold()
        assert views(ada) == 4
        assert Link.objects.get().clicks == 2
        assert fold() == Folded()
        assert not redis().exists(redis_store.COUNTS, redis_store.FOLDING)

    def test_a_redis_that_comes_back_with_an_older_state_counts_nothing_twice(seen: Visiting, ada: User) -> None:
        seen.count(ada.pk)
        older = redis().dump(redis_store.COUNTS)
        seen.count(ada.pk, "192.0.2.2")
        fold()
        redis().restore(redis_store.COUNTS, 0, older)
        assert fold() == Folded()
        assert views(ada) == 2
        seen.count(ada.pk, "192.0.2.3")
        fold()
        assert views(ada) == 3

    def test_a_late_runner_leaves_the_next_counts_alone(seen: Visiting, ada: User) -> None:
        """Its batch was folded by another one, which has set the next one aside since."""
        seen.count(ada.pk)
        store = seen.store
        assert isinstance(store, visits.RedisVisits)
        store._set_aside(keys=[redis_store.COUNTS, redis_store.FOLDING])
        store._drop(keys=[redis_store.FOLDING], args=["the token of the batch before"])
        assert fold() == Folded(views=1)

    @pytest.mark.django_db(transaction=True)
    def test_jobs_that_run_at_once_while_visitors_come_lose_and_double_nothing(seen: Visiting) -> None:
        ada = UserFactory()

        def act(number: int) -> int:
            if number % 4 == 0:
                return sum(fold().views for _ in range(5))
            return sum(seen.count(ada.pk, f"192.0.{number}.{visitor}") for visitor in range(20))

        together(8, act)
        fold()
        assert views(ada) == 6 * 20
