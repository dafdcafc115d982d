"""Visits in Redis, views and clicks by day, and what holds when anything ends in the middle of the job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from lookup import visits
from lookup.documents import registry
from lookup.editing import content
from lookup.models import Link, LinkDay, Profile, ProfileDay, UserDocument
from lookup.visits import daily_counts, database_store, redis_store
from lookup.visits.daily_counts import Click, View
from lookup.visits.database_store import Days, Folded
from lookup.visits.visitors import DIRECT, OTHER, Visitor, host_of
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AliasRowFactory, LinkFactory, ProfileFactory, main_profile, shown
from tests.lookup.visiting import ADDRESS, BROWSER, NOON, STORES, Visiting, redis, view_of, visit, visiting
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


def views_of(user: User) -> int:
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
    with visiting("redis_store.RedisVisits") as seen:
        yield seen
    monkeypatch.undo()
    del caches["default"]


def test_a_redis_that_does_not_answer_costs_the_count_and_not_the_page(
    unreachable: Visiting, ada: User, caplog: pytest.LogCaptureFixture
) -> None:
    assert visit("/ada").status_code == 200
    assert [record.getMessage() for record in caplog.records] == ["A view could not be counted."]
    with pytest.raises(visits.StoreUnavailable):
        fold()
    assert views_of(ada) == 0


if settings.REDIS_URL:

    @pytest.fixture
    def in_redis() -> Iterator[Visiting]:
        with visiting("redis_store.RedisVisits") as store:
            yield store

    def test_a_visit_is_one_command_and_no_statement(in_redis: Visiting, ada: User, redis_commands: list[str]) -> None:
        in_redis.count(ada.pk)
        redis_commands.clear()
        view = view_of(ada.pk, "news.example")
        with CaptureQueriesContext(connection) as captured:
            for address in (ADDRESS, "192.0.2.2"):
                in_redis.store.count_view(Visitor(address, BROWSER), view, timezone.now())
        assert redis_commands == ["EVALSHA", "EVALSHA"]
        assert captured.captured_queries == []

    def test_all_keys_have_the_prefix_of_visits(in_redis: Visiting, ada: User) -> None:
        in_redis.count(ada.pk)
        in_redis.click("a")
        assert {name.split(b":")[0] for name in redis().scan_iter()} == {b"{visit}"}

    def test_a_salt_that_redis_has_lost_is_made_anew_for_everybody(in_redis: Visiting, ada: User) -> None:
        other = Visiting(redis_store.RedisVisits(), in_redis.clock)
        assert (in_redis.count(ada.pk), other.count(ada.pk)) == (True, False)
        redis().flushdb()
        assert (in_redis.count(ada.pk), other.count(ada.pk)) == (True, False)

    @pytest.mark.parametrize("moment", [before_the_tables, in_the_transaction, after_the_tables])
    def test_a_crash_anywhere_loses_nothing_and_counts_nothing_twice(
        in_redis: Visiting, ada: User, moment: Callable[[pytest.MonkeyPatch], None]
    ) -> None:
        link = LinkFactory(profile=main_profile(ada))
        for number in range(3):
            in_redis.count(ada.pk, f"192.0.2.{number}")
        in_redis.click(link.pk)
        with pytest.MonkeyPatch.context() as patched:
            moment(patched)
            with pytest.raises(Crash):
                fold()
        in_redis.count(ada.pk, "192.0.2.77")  # meanwhile
        in_redis.click(link.pk)
        fold()
        assert views_of(ada) == 4
        assert Link.objects.get().clicks == 2
        assert fold() == Folded()
        assert not redis().exists(redis_store.COUNTS, redis_store.FOLDING)

    def test_a_redis_that_comes_back_with_an_older_state_counts_nothing_twice(in_redis: Visiting, ada: User) -> None:
        in_redis.count(ada.pk)
        older = redis().dump(redis_store.COUNTS)
        in_redis.count(ada.pk, "192.0.2.2")
        fold()
        redis().restore(redis_store.COUNTS, 0, older)
        assert fold() == Folded()
        assert views_of(ada) == 2
        in_redis.count(ada.pk, "192.0.2.3")
        fold()
        assert views_of(ada) == 3

    def test_a_late_runner_leaves_the_next_counts_alone(in_redis: Visiting, ada: User) -> None:
        """Its batch was folded by another one, which has set the next one aside since."""
        in_redis.count(ada.pk)
        store = in_redis.store
        assert isinstance(store, redis_store.RedisVisits)
        store._set_aside(keys=[redis_store.COUNTS, redis_store.FOLDING])
        store._drop(keys=[redis_store.FOLDING], args=["the token of the batch before"])
        assert fold() == Folded(views=1)

    @pytest.mark.django_db(transaction=True)
    def test_jobs_that_run_at_once_while_visitors_come_lose_and_double_nothing(in_redis: Visiting) -> None:
        ada = UserFactory()

        def act(number: int) -> int:
            if number % 4 == 0:
                return sum(fold().views for _ in range(5))
            return sum(in_redis.count(ada.pk, f"192.0.{number}.{visitor}") for visitor in range(20))

        together(8, act)
        fold()
        assert views_of(ada) == 6 * 20


TODAY = NOON.date()


@pytest.fixture(params=STORES)
def seen(request: pytest.FixtureRequest) -> Iterator[Visiting]:
    with visiting(request.param) as store:
        yield store


def days(user: User) -> list[tuple[date, str, int]]:
    """Of the main profile, after the job."""
    call_command("fold_visits", stdout=None)
    rows = ProfileDay.objects.filter(profile=main_profile(user)).order_by("day", "host")
    return list(rows.values_list("day", "host", "views"))


@pytest.mark.parametrize(
    ("referrer", "host"),
    [
        ("", DIRECT),
        ("https://hearth.example/ada", DIRECT),
        ("http://HEARTH.example:8000/", DIRECT),
        ("https://News.Example/item?id=1&token=secret#x", "news.example"),
        ("https://user:password@news.example:8443/", "news.example"),
        ("https://news.example./", "news.example"),
        ("https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
        ("http://192.0.2.7/", "192.0.2.7"),
        (f"https://{'a' * 92}.example/", f"{'a' * 92}.example"),
        *(
            (bad, OTHER)
            for bad in (
                *("https://bücher.example/", "https://[::1]/", "https://[/", "https:///x", "no address", "*"),
                *("android-app://com.example/", "https://a b.example/", "https://-a.example/"),
                *(f"https://{'a' * 93}.example/", "https://news.example\x00/", "null"),
            )
        ),
    ],
)
def test_of_a_referrer_the_host_alone_is_read(referrer: str, host: str) -> None:
    assert host_of({"Referer": referrer}, ("hearth.example",)) == host


@pytest.mark.embedded
def test_a_view_counts_for_its_day_profile_and_host(seen: Visiting, ada: User) -> None:
    own = ProfileFactory(user=ada)
    AliasRowFactory(name__user=ada, name__name="Countess", redirects=False, profile=own)
    shown(ada)
    visit("/ada", Referer="https://News.example/a?secret")
    visit("/ada", address="192.0.2.2")
    visit("/ada", address="192.0.2.2", Referer="https://news.example/")  # again
    visit("/countess", address="192.0.2.3", Referer="https://news.example/")
    seen.wait(hours=24)
    visit("/ada", Referer="http://testserver/leaderboard")
    tomorrow = TODAY + timedelta(days=1)
    assert days(ada) == [(TODAY, DIRECT, 1), (TODAY, "news.example", 1), (tomorrow, DIRECT, 1)]
    assert list(ProfileDay.objects.filter(profile=own).values_list("host", "views")) == [("news.example", 1)]
    assert UserDocument.objects.get(pk=ada.pk).views == 4


@pytest.mark.embedded
def test_each_click_counts_for_its_day(seen: Visiting, ada: User) -> None:
    link = LinkFactory(profile=main_profile(ada))
    shown(ada)
    for _ in range(2):
        visit(f"/ada/links/{link.pk}")
    seen.wait(hours=12)
    visit(f"/ada/links/{link.pk}")
    seen.click("gone")
    visits.fold(NOON)
    assert list(LinkDay.objects.order_by("day").values_list("link", "day", "clicks")) == [
        (link.pk, TODAY, 2),
        (link.pk, TODAY + timedelta(days=1), 1),
    ]
    assert Link.objects.get().clicks == 3


@pytest.mark.embedded
def test_hosts_beyond_the_most_of_a_day_are_other(seen: Visiting, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daily_counts, "MOST_HOSTS", 2)
    for number, host in enumerate(["a.example", DIRECT, "b.example", "c.example", "a.example", "d.example", OTHER]):
        seen.count(ada.pk, f"192.0.2.{number}", host=host)
        if number == 3:
            call_command("fold_visits", stdout=None)
    assert [row[1:] for row in days(ada)] == [(DIRECT, 1), (OTHER, 3), ("a.example", 2), ("b.example", 1)]


def test_many_hosts_take_no_more_of_redis(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    script = redis_store.COUNT_VIEW.replace(str(redis_store.MOST_FIELDS), "4")
    monkeypatch.setattr(redis_store, "COUNT_VIEW", script)
    with visiting("redis_store.RedisVisits") as seen:
        for number in range(6):
            seen.count(ada.pk, f"192.0.2.{number}", host=f"{number}.example")
        assert redis().hlen(redis_store.COUNTS) == 5
        assert sum(row[2] for row in days(ada)) == 6


# --- A batch ---


def batch_of(*users: User) -> tuple[dict[str, int], Days]:
    views = {user.pk: 2 for user in users}
    by_day = {
        view._replace(host=host): 1 for user in users for view in [view_of(user.pk)] for host in (DIRECT, "a.example")
    }
    return views, Days(by_day, {})


@pytest.mark.embedded
def test_a_batch_that_comes_again_adds_nothing_by_day(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    link, users = LinkFactory(profile=main_profile(ada)), [ada, *(UserFactory() for _ in range(4))]
    views, by_day = batch_of(*users)
    by_day = Days(by_day.views, {Click(link.pk, TODAY): 3, Click("gone", TODAY): 1})
    monkeypatch.setattr(database_store, "ROWS_AT_ONCE", 2)
    add, calls = daily_counts.add_views, []

    def ending(part: Any) -> None:
        add(part)
        calls.append(part)
        if len(calls) == 2:
            raise Crash  # the part is rolled back with its token and its totals

    monkeypatch.setattr(daily_counts, "add_views", ending)
    with pytest.raises(Crash):
        database_store.add_batch("one", views, {link.pk: 3, "gone": 1}, NOON, days=by_day)
    assert ProfileDay.objects.count() == 4
    for _ in range(2):
        database_store.add_batch("one", views, {link.pk: 3, "gone": 1}, NOON, days=by_day)
    assert list(ProfileDay.objects.values_list("views", flat=True)) == [1] * 10
    assert [*map(views_of, users)] == [2] * 5
    assert list(LinkDay.objects.values_list("clicks", flat=True)) == [3]


@pytest.mark.embedded
def test_profiles_that_are_gone_are_left_out_and_statements_do_not_grow(ada: User) -> None:
    def asked(token: str, *users: User) -> int:
        views, by_day = batch_of(*users)
        gone = View(ada.pk, "gone", TODAY, "b.example")
        with CaptureQueriesContext(connection) as captured:
            database_store.add_batch(token, views, {}, NOON, days=Days({**by_day.views, gone: 1}, {}))
        return len(captured)

    assert asked("one", ada) == asked("many", *(UserFactory() for _ in range(20)))
    assert ProfileDay.objects.count() == 42


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_batches_of_the_same_users_at_once_count_once_and_cause_no_deadlock() -> None:
    """Two processes add each batch; the users of every second one come in the other order."""
    users = [UserFactory() for _ in range(5)]
    views, by_day = batch_of(*users)
    backwards = dict(reversed(views.items())), Days(dict(reversed([*by_day.views.items()])), {})
    batches = ((views, by_day), backwards)

    def add(number: int) -> None:
        found, found_days = batches[number % 2]
        database_store.add_batch(f"{number % 4}", found, {}, NOON, days=found_days)

    together(8, add)
    assert list(ProfileDay.objects.values_list("views", flat=True)) == [4] * 10
    assert [*map(views_of, users)] == [8] * 5


def test_a_batch_of_the_previous_release_is_added_without_days(ada: User) -> None:
    with visiting("redis_store.RedisVisits"):
        redis().hset(redis_store.COUNTS, mapping={"token": "t", f"view:{ada.pk}": 2})
        assert days(ada) == []
    assert UserDocument.objects.get(pk=ada.pk).views == 2


# --- How long ---


@pytest.mark.embedded
def test_days_are_kept_for_a_year(ada: User) -> None:
    link = LinkFactory(profile=main_profile(ada))
    with visiting(STORES[0]):
        for age in (364, 365, 366, 400):
            day = TODAY - timedelta(days=age)
            ProfileDay.objects.create(profile=main_profile(ada), day=day, host="", views=1)
            LinkDay.objects.create(link=link, day=day, clicks=1)
        assert call_command("sweep_assets").endswith("and 4 rows of old days.")
    oldest = TODAY - timedelta(days=365)
    assert {rows.objects.order_by("day").values_list("day", flat=True)[0] for rows in (ProfileDay, LinkDay)} == {oldest}


def test_what_is_deleted_takes_its_days_along(ada: User) -> None:
    link = LinkFactory(profile=main_profile(ada))
    ProfileDay.objects.create(profile=main_profile(ada), day=TODAY, host="", views=1)
    LinkDay.objects.create(link=link, day=TODAY, clicks=1)
    content.delete(content=registry.LISTS["links"], profile=main_profile(ada), pk=link.pk, by=ada)
    assert not LinkDay.objects.exists()
    ada.delete()
    assert not Profile.objects.exists()
    assert not ProfileDay.objects.exists()
