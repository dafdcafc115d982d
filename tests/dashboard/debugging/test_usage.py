"""The counts of an app, hour by hour and day by day, as page and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
import time_machine
from django.urls import reverse

from accounts.models import User
from dashboard import charts
from dashboard.client_apps import usage as apps_usage
from oidc_provider import request_log
from oidc_provider.models import Application, LastUse, RequestKind, UsageCount
from tests.accounts.clock import NOON
from tests.factories.accounts import UserFactory
from tests.support.browser import Browser

TITLES = ["Sign-ins", "Refreshes", "Consents shown", "Approved", "Approved before", "Refused", "Errors"]


@pytest.fixture
def browser(clock: time_machine.Traveller, browser: Browser) -> Browser:
    """Signed in while the clock stands still."""
    return browser


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON + timedelta(minutes=30), tick=False) as clock:
        yield clock


def count(app: Application, kind: RequestKind, outcome: str = "ok", number: int = 1, *, ago: timedelta) -> None:
    hour = (NOON - ago).replace(minute=0)
    UsageCount.objects.create(application=app, kind=kind, outcome=outcome, count=number, hour=hour)


@pytest.fixture
def used(app: Application) -> Application:
    now, earlier, long_ago = timedelta(0), timedelta(hours=23), timedelta(days=20)
    count(app, RequestKind.CODE, number=5, ago=now)
    count(app, RequestKind.CODE, "invalid_grant", 2, ago=now)
    count(app, RequestKind.SHOWN, number=4, ago=now)
    count(app, RequestKind.APPROVED, number=3, ago=now)
    count(app, RequestKind.DENIED, "access_denied", 1, ago=now)
    count(app, RequestKind.ASKED, number=9, ago=now)  # in no column: each of them goes on to another kind
    count(app, RequestKind.REFRESH, number=7, ago=earlier)
    count(app, RequestKind.ASKED, "invalid_scope", 6, ago=earlier)
    count(app, RequestKind.KEPT, number=8, ago=timedelta(hours=24))  # an hour too old for the first page
    count(app, RequestKind.CODE, number=100, ago=long_ago)
    count(app, RequestKind.CODE, number=1000, ago=timedelta(days=30))
    return app


def numbers_of(browser: Browser) -> dict[str, int]:
    """The totals at the head of the page."""
    names = [name.text_content() for name in browser.page.xpath("//dl[@class='figures']//dt")]
    values = [int(value.text_content()) for value in browser.page.xpath("//dl[@class='figures']//dd")]
    return dict(zip(names, values, strict=True))


def table_of(browser: Browser) -> list[list[str]]:
    """The rows of the last table of the page."""
    rows = browser.page.xpath("(//table)[last()]//tr")
    return [[" ".join(cell.text_content().split()) for cell in row] for row in rows]


def open_usage(browser: Browser, app: Application, period: str = "") -> Browser:
    return browser.open(f"{reverse('application_usage', args=[app.client_id])}?period={period}")


def test_a_day_is_shown_hour_by_hour(used: Application, browser: Browser) -> None:
    open_usage(browser, used, "' or 1")  # a period that there is not is the first one
    assert numbers_of(browser) == {**dict(zip(TITLES, [5, 7, 4, 3, 0, 1, 8], strict=True)), "Unique users": 0}
    head, *rows = table_of(browser)
    assert head == ["Begins at (UTC)", *TITLES]
    assert len(rows) == 24
    assert rows[0][1:] == ["5", "0", "4", "3", "0", "1", "2"]
    assert rows[-1][1:] == ["0", "7", "0", "0", "0", "0", "6"]


@pytest.mark.embedded
def test_a_month_is_shown_day_by_day(used: Application, browser: Browser) -> None:
    open_usage(browser, used, "30d")
    assert numbers_of(browser) == {**dict(zip(TITLES, [105, 7, 4, 3, 8, 1, 8], strict=True)), "Unique users": 0}
    rows = table_of(browser)[1:]
    assert len(rows) == 30
    assert rows[0][1:] == ["5", "0", "4", "3", "0", "1", "2"]
    assert rows[1][1:] == ["0", "7", "0", "0", "8", "0", "6"]


def test_errors_are_counted_by_code_and_lead_to_their_requests(used: Application, browser: Browser) -> None:
    open_usage(browser, used)
    rows = browser.page.xpath("(//table)[1]//tbody/tr")
    assert [[cell.text_content().strip() for cell in row][:3] for row in rows] == [
        ["invalid_scope", "authorize", "6"],
        ["invalid_grant", "token", "2"],
    ]
    (link,) = rows[0].xpath(".//a/@href")
    chosen = browser.open(link).response.context["form"].chosen()
    assert chosen == {"endpoint": "authorize", "outcome": ""}  # none of them is in the log


def test_people_count_once_and_in_their_period(used: Application, browser: Browser, user: User) -> None:
    for ago in (timedelta(hours=1), timedelta(hours=25), timedelta(days=29), timedelta(days=31)):
        LastUse.objects.create(application=used, user=UserFactory(), used_at=NOON - ago)
    assert numbers_of(open_usage(browser, used))["Unique users"] == 1
    assert numbers_of(open_usage(browser, used, "30d"))["Unique users"] == 3


def test_the_page_and_the_csv_count_what_has_just_happened(app: Application, browser: Browser, user: User) -> None:
    def sign_in() -> None:
        with request_log.Noting(RequestKind.CODE):
            request_log.about(client_id=app.client_id, user_id=user.pk)

    sign_in()
    numbers = numbers_of(open_usage(browser, app))
    assert (numbers["Sign-ins"], numbers["Unique users"]) == (1, 1)
    sign_in()
    answer = browser.client.get(reverse("application_usage_csv", args=[app.client_id, "24h"]))
    rows = list(csv.reader(answer.content.decode().splitlines()))
    assert (len(rows), rows[-1][1]) == (25, "2")


def test_the_csv_says_what_the_table_says(used: Application, browser: Browser) -> None:
    period, length = "30d", 30
    table = [row[1:] for row in table_of(open_usage(browser, used, period))[1:]]
    answer = browser.client.get(reverse("application_usage_csv", args=[used.client_id, period]))
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == f'attachment; filename="usage-{used.client_id}-{period}.csv"'
    head, *rows = csv.reader(answer.content.decode().splitlines())
    assert head == ["begins_at", "sign_ins", "refreshes", "shown", "approved", "kept", "denied", "errors"]
    assert len(rows) == length
    assert browser.client.get(reverse("application_usage_csv", args=[used.client_id, "1y"])).status_code == 404
    assert [row[1:] for row in reversed(rows)] == table
    assert datetime.fromisoformat(rows[-1][0]).utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    ("highest", "ticks"),
    [
        (0, [0, 1]),
        (3, [0, 1, 2, 3]),
        (7, [0, 2, 4, 6, 8]),
        (26, [0, 10, 20, 30]),
        (1_234_567, [0, 500_000, 1_000_000, 1_500_000]),
    ],
)
def test_the_axis_has_round_numbers_up_to_the_highest_bar(highest: int, ticks: list[int]) -> None:
    assert charts.ticks_for(highest) == ticks


def test_bars_lines_and_labels_have_these_places() -> None:
    chart = charts.stacked({"a": [1, 0, 4], "b": [1, 0, 6]}, ["x", "y", "z"], label_every=2)
    assert chart.paths == [
        "M70.7 175.8h169.2v18.2h-169.2zM516.1 121.2h169.2v72.8h-169.2z",
        "M70.7 157.6h169.2v18.2h-169.2zM516.1 12.0h169.2v109.2h-169.2z",
    ]
    assert [(line.at, line.text) for line in chart.lines] == [
        (194, "0"),
        (157.6, "2"),
        (121.2, "4"),
        (84.8, "6"),
        (48.4, "8"),
        (12, "10"),
    ]
    middle_of_the_bar = 516.1 + 169.2 / 2
    assert [(label.at, label.text) for label in chart.labels] == [(155.3, "x"), (round(middle_of_the_bar, 1), "z")]


def test_the_texts_of_a_chart_end_before_its_lines_and_are_in_the_middle_below_bars(
    used: Application, browser: Browser
) -> None:
    chart = open_usage(browser, used, "30d").page.xpath('//*[local-name()="svg" and @class="chart"]')[0]
    assert chart.get("viewbox") == "0 0 720 220"
    lines, texts = (chart.xpath(f'.//*[local-name()="{name}"]') for name in ("line", "text"))
    assert {(line.get("x1"), line.get("x2")) for line in lines} == {("44", "712")}
    assert all(line.get("y1") == line.get("y2") for line in lines)
    ticks = [(text.get("x"), text.get("text-anchor"), text.get("y")) for text in texts[: len(lines)]]
    assert ticks == [("38", "end", line.get("y1")) for line in lines]
    assert {(text.get("y"), text.get("text-anchor")) for text in texts[len(lines) :]} == {("214", "middle")}


@pytest.mark.parametrize("period", ["24h", "30d"])
def test_a_count_of_a_host_whose_clock_is_ahead_stands_in_the_last_row(app: Application, period: str) -> None:
    count(app, RequestKind.CODE, number=3, ago=timedelta(hours=-13))
    assert apps_usage.figures(app, apps_usage.PERIODS[period], NOON).rows[-1].counts["sign_ins"] == 3
