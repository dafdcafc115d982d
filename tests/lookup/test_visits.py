"""Views and clicks: who is a visitor, and the same promises from both stores, and through the page.

The run with Redis tests both; the one on SQLite tests the store that it uses.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from lookup import visits
from lookup.models import Link, Profile, UserDocument, Visit, VisitBatch, VisitSalt
from lookup.visits import StoreUnavailable, database_store
from lookup.visits.database_store import Folded
from lookup.visits.visitors import Visitor
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AliasRowFactory, LinkFactory, main_profile, shown
from tests.lookup.visiting import BROWSER, NOON, STORES, Visiting, redis, view_of, visit, visiting
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
    with visiting("database_store.DatabaseVisits") as seen:
        visitor, view = Visitor("192.0.2.1", BROWSER), view_of(ada.pk)
        assert seen.store.count_view(visitor, view, timezone.now())
        with CaptureQueriesContext(connection) as captured:
            seen.store.count_view(visitor, view, timezone.now())
    assert [query["sql"].split()[0] for query in captured.captured_queries] == ["SELECT"]


def counters(*users: User) -> list[int]:
    return [UserDocument.objects.get(pk=user.pk).views for user in users]


def test_the_job_says_what_it_added(seen: Visiting, ada: User) -> None:
    is_at_once = type(seen.store) is database_store.DatabaseVisits
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


SALT, OTHER_SALT = "ab" * 32, "cd" * 32

BROWSERS = [
    BROWSER,
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 "
    "Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Linux; Android 14; CUBOT P80) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile Safari/537",
    "Mozilla/5.0 (Linux; U; Android 9; de) AppleWebKit/537.36 Embedded-Browser/1.0 Chrome/90.0",
    "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/124.0 YaBrowser/24.6 Safari/537.36",
    "Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 Mobile/15E148 [Pinterest/iOS]",
    "Mozilla/5.0 (Linux; Android 13) AppleWebKit/537.36 Chrome/125.0 Mobile Safari/537.36 Telegram-Android/11.0",
    "Lynx/2.9.0 libwww-FM/2.14",
    "Links (2.29; Linux x86_64; text)",
]
ROBOTS = [
    "",
    "   ",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "WhatsApp/2.23.20.0 A",
    "Mozilla/5.0 (Windows NT 6.1) SkypeUriPreview Preview/0.5",
    "http.rb/5.1.1 (Mastodon/4.2.9; +https://social.example/)",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Linux; Android 11) Chrome/126 Mobile Safari/537.36 Chrome-Lighthouse",
    "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
    "kube-probe/1.29",
    "curl/8.5.0",
    "python-httpx/0.27.0",
    "Scrapy/2.11.2 (+https://scrapy.org)",
    "W3C_Validator/1.3",
]


def visitor(method: str = "GET", **headers: str) -> Visitor | None:
    return Visitor.of(method, {"User-Agent": BROWSER} | {k.replace("_", "-"): v for k, v in headers.items()}, "::1")


def test_a_browser_is_a_visitor() -> None:
    for agent in BROWSERS:
        assert visitor(User_Agent=agent) == Visitor("::1", agent)


def test_a_robot_is_none() -> None:
    for agent in ROBOTS:
        assert visitor(User_Agent=agent) is None, agent
        assert visitor(User_Agent=agent.upper()) is None, agent


def test_only_a_get_with_a_user_agent_is_a_visit() -> None:
    assert visitor("HEAD") is visitor("POST") is None
    assert Visitor.of("GET", {}, "::1") is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Sec_Purpose", "prefetch"),
        ("Sec_Purpose", "prefetch;prerender"),
        ("Purpose", "prefetch"),
        ("X_Purpose", "preview"),
        ("X_Moz", "prefetch"),
        ("X_Moz", "PREFETCH"),
    ],
)
def test_a_page_that_is_loaded_ahead_of_time_is_no_visit(name: str, value: str) -> None:
    assert visitor(**{name: value}) is None
    assert visitor(**{name: "none of these"}) is not None


@pytest.mark.parametrize(
    ("headers", "counts"),
    [
        ({"Sec_Fetch_Dest": "document", "Sec_Fetch_Mode": "navigate"}, True),
        ({"Sec_Fetch_Dest": "Document "}, True),
        ({"Sec_Fetch_Mode": "navigate"}, True),
        ({"Sec_Fetch_Dest": "image", "Sec_Fetch_Mode": "no-cors"}, False),
        ({"Sec_Fetch_Dest": "empty", "Sec_Fetch_Mode": "cors"}, False),
        ({"Sec_Fetch_Dest": "iframe", "Sec_Fetch_Mode": "navigate"}, False),
        ({"Sec_Fetch_Dest": "document", "Sec_Fetch_Mode": "no-cors"}, False),
        ({"Sec_Fetch_Dest": "image"}, False),
        ({"Sec_Fetch_Mode": "no-cors"}, False),
        ({"Sec_Fetch_Dest": ""}, False),
    ],
)
def test_only_a_navigation_to_the_document_is_a_visit(headers: dict[str, str], counts: bool) -> None:
    assert (visitor(**headers) is not None) is counts


def test_a_hash_tells_one_visitor_of_one_user_under_one_salt_from_every_other() -> None:
    known = [
        Visitor("192.0.2.1", BROWSER).hashed("ada", SALT),
        Visitor("192.0.2.2", BROWSER).hashed("ada", SALT),
        Visitor("192.0.2.1", BROWSER + " ").hashed("ada", SALT),
        Visitor("192.0.2.1", BROWSER).hashed("ben", SALT),
        Visitor("192.0.2.1", BROWSER).hashed("ada", OTHER_SALT),
    ]
    assert len(set(known)) == 5
    assert all(len(one) == 32 for one in known)
    assert Visitor("192.0.2.1", BROWSER).hashed("ada", SALT) == known[0]
    assert "192.0.2.1" not in known[0]


def test_a_user_agent_of_any_length_and_of_any_bytes_is_hashed() -> None:
    huge = visitor(User_Agent="Mozilla/5.0 " + "x" * 100_000)
    assert huge is not None
    assert len(huge.user_agent) == 1000
    assert len(Visitor("::1", "\udcff\x00é").hashed("ada", SALT)) == 32
