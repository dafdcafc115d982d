"""The page "Visitors": views by day, where they came from, clicks by link, and all of it as CSV."""

from __future__ import annotations

import csv
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import User
from lookup.models import LinkDay, Profile, ProfileDay
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AliasRowFactory, LinkFactory, ProfileFactory, main_profile
from tests.lookup import statements
from tests.lookup.visiting import NOON
from tests.pages.markup import page_of, problems_of

PAGE = "/dashboard/profile/visitors/"
TODAY = NOON.date()


@pytest.fixture(autouse=True)
def _today() -> Any:
    with time_machine.travel(NOON, tick=False):
        yield


@pytest.fixture
def seen(user: User, profile: Profile) -> Profile:
    """Views of three days and clicks on two links; the oldest ones are 40 days ago."""
    for age, host, views in ((0, "", 3), (0, "news.example", 4), (2, "news.example", 1), (40, "*", 4)):
        ProfileDay.objects.create(profile=profile, day=TODAY - timedelta(days=age), host=host, views=views)
    site = LinkFactory(profile=profile, title="<Site>", url="https://ada.example/")
    text = LinkFactory(profile=profile, title="", url="=1+1", is_text=True)
    for link, age, clicks in ((site, 0, 2), (site, 1, 7), (text, 0, 1)):
        LinkDay.objects.create(link=link, day=TODAY - timedelta(days=age), clicks=clicks)
    return profile


def rows(page: Any, table: str) -> list[tuple[str, ...]]:
    found = page.xpath("//*[@aria-label=$label]//tbody/tr", label=table)
    return [tuple(cell.text_content().strip() for cell in row) for row in found]


def bars(page: Any, chart: str) -> int:
    """How many a chart has."""
    (path,) = page.xpath("//*[@aria-label=$label]//*[local-name()='path']/@d", label=f"Chart: {chart}")
    return str(path).count("M")


@pytest.mark.embedded
def test_the_page_shows_days_sites_and_links(signed_in: Client, seen: Profile) -> None:
    answer = signed_in.get(PAGE)
    assert (answer.status_code, problems_of(answer)) == (200, [])
    page = page_of(answer)
    assert [title.text_content() for title in page.xpath("//main//h2")][:1] == ["8 views"]
    assert rows(page, "Table of sites") == [("news.example", "5"), ("Direct", "3")]
    assert rows(page, "Table of links") == [("<Site>", "9"), ("=1+1", "1")]
    days = rows(page, "Table of days")
    assert (len(days), days[:3]) == (
        30,
        [("1 March 2026", "7", "3"), ("28 February 2026", "0", "7"), ("27 February 2026", "1", "0")],
    )
    assert (bars(page, "Views by day"), bars(page, "Clicks by day")) == (2, 2)
    page = page_of(signed_in.get(f"{PAGE}?days=90"))
    assert rows(page, "Table of sites")[1] == ("Other", "4")
    assert len(rows(page, "Table of days")) == 90
    assert len(signed_in.get(f"{PAGE}?days=90").content) < 40_000


def test_the_clicks_of_one_link_can_be_chosen(signed_in: Client, seen: Profile) -> None:
    page = page_of(signed_in.get(PAGE))
    (_, path) = page.xpath("//*[@aria-label='Table of links']//a/@href")
    page = page_of(signed_in.get(f"{PAGE}{path}"))
    assert "1 click on =1+1" in page.text_content()
    assert [day[2] for day in rows(page, "Table of days")][:2] == ["1", "0"]
    other = LinkFactory(profile=main_profile(UserFactory()), title="Strange")
    LinkDay.objects.create(link=other, day=TODAY, clicks=9)
    assert "Strange" not in signed_in.get(f"{PAGE}?link={other.pk}").content.decode()


@pytest.mark.embedded
def test_the_csv_has_each_day_and_source_and_no_formula(signed_in: Client, seen: Profile) -> None:
    answer = signed_in.get(f"{PAGE}visitors.csv?days=90")
    assert answer["Content-Disposition"] == 'attachment; filename="visitors-Ada-2026-03-01.csv"'
    assert list(csv.reader(answer.content.decode().splitlines())) == [
        ["day", "kind", "source", "count"],
        ["2026-01-20", "view", "Other", "4"],
        ["2026-02-27", "view", "news.example", "1"],
        ["2026-02-28", "click", "https://ada.example/", "7"],
        ["2026-03-01", "click", "'=1+1", "1"],
        ["2026-03-01", "click", "https://ada.example/", "2"],
        ["2026-03-01", "view", "Direct", "3"],
        ["2026-03-01", "view", "news.example", "4"],
    ]


def test_each_profile_has_numbers_of_its_own(signed_in: Client, user: User, seen: Profile) -> None:
    own = ProfileFactory(user=user)
    AliasRowFactory(name__user=user, name__name="Countess", profile=own)
    answer = signed_in.get(f"/dashboard/profile/{own.pk}/visitors/")
    assert (answer.status_code, problems_of(answer)) == (200, [])
    assert "No visitors in this period" in answer.content.decode()
    assert page_of(answer).xpath("string(//code)").endswith("/Countess")
    strange = ProfileFactory(user=UserFactory())
    for page in ("", "visitors.csv"):
        assert signed_in.get(f"/dashboard/profile/{strange.pk}/visitors/{page}").status_code == 404
        assert Client().get(f"{PAGE}{page}").status_code == 302
        assert signed_in.post(f"{PAGE}{page}").status_code == 405


def test_another_period_is_404(signed_in: Client, profile: Profile) -> None:
    for query in ("days=7", "days=30&days=90", "days=", "days=x"):
        for page in ("", "visitors.csv"):
            assert signed_in.get(f"{PAGE}{page}?{query}").status_code == 404


def test_the_page_reads_four_statements_more_than_its_frame(signed_in: Client, seen: Profile) -> None:
    frame = statements.names(lambda: signed_in.get("/dashboard/profile/transfer/"))
    page = statements.names(lambda: signed_in.get(PAGE))
    days = [name for name in page if name in {"SELECT lookup_profileday", "SELECT lookup_linkday"}]
    assert (len(days), len(page)) == (4, len(frame) + 4)
