"""Views and clicks: the same promises from both stores, and through the page.

The run with Redis tests both; the one on SQLite tests the store that it uses.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from lookup import visits
from lookup.models import Link, Profile, UserDocument, Visit, VisitSalt
from lookup.visits.redis_store import StoreUnavailable
from lookup.visits.visitors import Visitor
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AliasRowFactory, LinkFactory, main_profile, shown
from tests.lookup.visiting import BROWSER, STORES, Visiting, redis, view_of, visit, visiting
from tests.support.threads import together

pytestmark = pytest.mark.django_db


@pytest.fixture(params=STORES)
def seen(request: pytest.FixtureRequest) -> Iterator[Visiting]:
    with visiting(request.param) as store:
        yield store


@pytest.fixture
def ada() -> User:
    return UserFactory(username="Ada")


def test_a_visitor_counts_once_in_24_hours(seen: Visiting, ada: User) -> None:
    assert [seen.count(ada.pk) for _ in range(3)] == [True, False, False]
    seen.wait(hours=23, minutes=59, seconds=59)
    assert not seen.count(ada.pk)
    assert seen.views(ada.pk) == 1
    seen.wait(seconds=1)
    assert seen.count(ada.pk)
    assert seen.views(ada.pk) == 2


def test_a_second_visit_does_not_put_the_next_view_off(seen: Visiting, ada: User) -> None:
    counted = []
    for _ in range(5):
        counted.append(seen.count(ada.pk))
        seen.wait(hours=12)
    assert counted == [True, False, True, False, True]


@pytest.mark.parametrize("store", STORES)
def test_no_visitor_counts_twice_across_midnight(store: str, ada: User) -> None:
    with visiting(store, datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC)) as seen:
        assert seen.count(ada.pk)
        seen.wait(seconds=2)
        assert not seen.count(ada.pk)  # found under yesterday's salt
        assert seen.count(ada.pk, "192.0.2.2")
        seen.wait(hours=23, minutes=59, seconds=58)
        assert seen.count(ada.pk)
        assert seen.views(ada.pk) == 3


def test_a_visitor_of_the_first_hour_is_known_through_the_next_day(seen: Visiting, ada: User) -> None:
    """The salt of a day is kept to the end of the next one, however early in the day it was made."""
    seen.wait(hours=12, minutes=1)  # 00:01
    assert seen.count(ada.pk, "192.0.2.2")
    seen.wait(hours=23)
    assert seen.count(ada.pk)
    seen.wait(hours=23, minutes=30)  # 22:31 of the next day
    assert not seen.count(ada.pk)


def test_each_day_has_a_salt_of_its_own_that_lives_two_days(seen: Visiting, ada: User) -> None:
    def kept() -> list[str]:
        in_tables = [str(day) for day in VisitSalt.objects.order_by("day").values_list("day", flat=True)]
        in_redis = (
            [key.decode().rpartition(":")[2] for key in redis().scan_iter("{visit}:salt:*")] if STORES[1:] else []
        )
        return in_tables or sorted(in_redis)

    seen.count(ada.pk)
    seen.wait(days=1)
    seen.count(ada.pk)
    assert kept() == ["2026-03-01", "2026-03-02"]
    seen.wait(days=1)
    seen.count(ada.pk)
    seen.views(ada.pk)
    assert kept() == ["2026-03-02", "2026-03-03"]


def test_no_address_and_no_user_agent_is_kept(seen: Visiting, ada: User) -> None:
    seen.count(ada.pk, "203.0.113.77", "A very particular browser")
    kept = [*Visit.objects.values_list("visitor", flat=True), *VisitSalt.objects.values_list("salt", flat=True)]
    if STORES[1:]:
        kept += [f"{key} {redis().dump(key)}" for key in redis().scan_iter()]
    assert kept
    assert not [one for one in kept if "203.0.113.77" in one or "particular" in one]


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("addresses", [1, 4])
def test_requests_at_once_count_each_visitor_once(seen: Visiting, addresses: int) -> None:
    ada = UserFactory()
    counted = together(12, lambda number: seen.count(ada.pk, f"192.0.2.{number % addresses}"))
    assert sum(counted) == addresses
    assert seen.views(ada.pk) == addresses


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_two_stores_that_start_at_the_same_moment_agree_on_the_salt(seen: Visiting) -> None:
    """As processes do: each has a store, and none has a salt."""
    ada = UserFactory()
    others = [Visiting(type(seen.store)(), seen.clock) for _ in range(8)]
    assert sum(together(8, lambda number: others[number].count(ada.pk))) == 1


def test_a_user_who_is_gone_has_no_visitors(seen: Visiting, ada: User) -> None:
    pk = ada.pk
    seen.count(pk)
    ada.delete()
    seen.count(pk, "192.0.2.2")
    visits.fold(timezone.now())
    assert not UserDocument.objects.filter(pk=pk).exists()


def test_a_view_makes_the_badges_of_views_due(seen: Visiting, ada: User) -> None:
    UserDocument.objects.update(unlock_due=False)
    seen.count(ada.pk)
    seen.views(ada.pk)
    assert UserDocument.objects.get(pk=ada.pk).unlock_due


# --- Through the page ---


def test_the_page_counts_its_visitors(seen: Visiting, ada: User) -> None:
    assert [visit("/ada").status_code for _ in range(2)] == [200, 200]
    visit("/ADA", address="192.0.2.2")
    assert seen.views(ada.pk) == 2
    assert b"<dd>2</dd>" in visit("/ada").content


def test_a_view_through_an_alias_is_the_users(seen: Visiting, ada: User) -> None:
    AliasRowFactory(name__user=ada, name__name="countess", redirects=False)
    AliasRowFactory(name__user=ada, name__name="elsewhere", redirects=True)
    shown(ada)
    visit("/countess")
    visit("/ada")
    assert visit("/elsewhere", address="192.0.2.2").status_code == 302
    assert seen.views(ada.pk) == 1


@pytest.mark.parametrize(
    "unlike",
    [
        {"agent": "Googlebot/2.1"},
        {"method": "HEAD"},
        {"Sec_Purpose": "prefetch"},
        {"Sec_Fetch_Dest": "image", "Sec_Fetch_Mode": "no-cors"},
    ],
)
def test_what_is_no_visit_gets_the_page_and_counts_nothing(seen: Visiting, ada: User, unlike: dict[str, str]) -> None:
    link = LinkFactory(profile=main_profile(ada))
    shown(ada)
    assert visit("/ada", **unlike).status_code == 200
    assert visit(f"/ada/links/{link.pk}", **unlike).status_code == 302
    assert seen.views(ada.pk) == 0
    assert Link.objects.get().clicks == 0


def test_the_owner_does_not_count_and_another_member_does(seen: Visiting, ada: User) -> None:
    link = LinkFactory(profile=main_profile(ada))
    shown(ada)
    for user, views in ((ada, 0), (UserFactory(), 1)):
        client = Client(headers={"User-Agent": "A browser"})
        client.force_login(user)
        client.get("/ada")
        client.get(f"/ada/links/{link.pk}")
        assert seen.views(ada.pk) == views
        assert Link.objects.get().clicks == views


@pytest.mark.parametrize("hidden", [{"public_api_access": False}, {"is_active": False}])
def test_a_page_that_is_not_shown_counts_nothing(seen: Visiting, ada: User, hidden: dict[str, bool]) -> None:
    User.objects.filter(pk=ada.pk).update(**hidden)
    assert visit("/ada").status_code == 404
    assert seen.views(ada.pk) == 0


def test_a_click_counts_each_time_and_lookups_show_it(seen: Visiting, ada: User) -> None:
    link, other = (LinkFactory(profile=main_profile(ada)) for _ in range(2))
    shown(ada)
    for _ in range(3):
        assert visit(f"/ada/links/{link.pk}").status_code == 302
    visits.fold(timezone.now())
    assert {row.pk: row.clicks for row in Link.objects.all()} == {link.pk: 3, other.pk: 0}
    assert Profile.objects.get(user=ada).document.fingerprint == ""  # rendered anew at the next lookup


# --- A store that does not answer ---


def test_a_page_is_shown_while_nothing_can_be_counted(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, seen: Visiting, ada: User
) -> None:
    link = LinkFactory(profile=main_profile(ada))
    shown(ada)

    def refuse(*_: object) -> bool:
        raise StoreUnavailable

    for name in ("count_view", "count_click"):
        monkeypatch.setattr(seen.store, name, refuse)
    assert visit("/ada").status_code == 200
    assert visit(f"/ada/links/{link.pk}").status_code == 302
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR] == [
        "A view could not be counted.",
        "A click could not be counted.",
    ]


def test_a_visitor_who_was_counted_costs_one_statement(ada: User) -> None:
    with visiting("DatabaseVisits") as seen:
        visitor, view = Visitor("192.0.2.1", BROWSER), view_of(ada.pk)
        assert seen.store.count_view(visitor, view, timezone.now())
        with CaptureQueriesContext(connection) as captured:
            seen.store.count_view(visitor, view, timezone.now())
    assert [query["sql"].split()[0] for query in captured.captured_queries] == ["SELECT"]
