"""What staff see of live presence."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.admin import site
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from presence.models import LastOnline, StoreEntry
from presence.store.store import PresenceStore
from tests.factories.accounts import StaffFactory, UserFactory
from tests.pages.markup import page_of
from tests.presence import card_people, store_contents

pytestmark = pytest.mark.django_db

LIST = "/admin/presence/lastonline/"
LIVE = f"{LIST}live/"


@pytest.fixture(autouse=True)
def chat(settings: Any) -> None:
    card_people.have_chat_server(settings)


@pytest.fixture
def browser(client: Client) -> Client:
    """Signed in as a member of staff who may do everything."""
    client.force_login(StaffFactory())
    return client


def overview(browser: Client) -> tuple[str, dict[str, str]]:
    """The headline and the table of the page."""
    response = browser.get(LIVE)
    assert response.status_code == 200
    assert "no-store" in response.headers["Cache-Control"]
    found = page_of(response)
    (headline,) = found.xpath("//div[@id='content-main']//ul[@class='messagelist']/li")
    rows = found.xpath("//div[@id='content-main']//tr")
    return headline.text_content(), {row.findtext("th"): row.findtext("td") for row in rows}


def test_the_list_is_read_and_searched(browser: Client) -> None:
    LastOnline.objects.create(chat_id=268473310986240001, at=datetime(2026, 5, 1, tzinfo=UTC))
    assert "268473310986240001" in browser.get(LIST, {"q": "268473310986240001"}).content.decode()
    for term in ("x", "%", "'", "9" * 30):
        assert browser.get(LIST, {"q": term}).status_code == 200
    assert browser.get(f"{LIST}268473310986240001/change/").status_code == 200
    assert browser.get(f"{LIST}add/").status_code == 403
    assert browser.post(f"{LIST}268473310986240001/delete/", {"post": "yes"}).status_code == 403
    assert page_of(browser.get(LIST)).xpath("//ul[@class='object-tools']//a/@href") == [LIVE]
    assert not site.is_registered(StoreEntry)


def test_without_a_feed_the_page_says_what_to_look_for(browser: Client, settings: Any) -> None:
    assert overview(browser) == ("There is no live presence", {})
    assert "run_presence_gateway" in browser.get(LIVE).content.decode()
    settings.CHAT = replace(settings.CHAT, guild_id="")
    assert overview(browser) == ("There is no live presence", {})
    assert "CHAT_GUILD_ID" in browser.get(LIVE).content.decode()


def test_a_live_feed_tells_about_itself(browser: Client, store: PresenceStore, time_machine: Any) -> None:
    moment = datetime(2026, 5, 1, 12, tzinfo=UTC)
    time_machine.move_to(moment, tick=False)
    browser.force_login(StaffFactory())  # whose session begins now
    store_contents.set_complete(store, 1)
    store_contents.stamp(store, moment.timestamp() - 2, generation=1)
    store.keep_stats(
        {
            "leader": True,
            "members": 80000,
            "lag": 0.01234,
            "badPayloads": 0,
            "at": moment.timestamp(),
            "connected_at": moment.timestamp() - 7200,
            "reconnects": {"op7": 2},
            "close_code": None,
        }
    )
    assert overview(browser) == (
        "The feed is live",
        {
            "Last flush": "2026-05-01 11:59:58 UTC (2.0 seconds ago)",
            "Leader": "Yes",
            "Members": "80,000",
            "Lag": "0.012",
            "Bad payloads": "0",
            "Told": "2026-05-01 12:00:00 UTC (0.0 seconds ago)",
            "Connected at": "2026-05-01 10:00:00 UTC (2\xa0hours ago)",
            "Reconnects": "Op7: 2",
            "Close code": "none",
        },
    )


def test_a_feed_that_stopped_has_a_headline_of_its_own(browser: Client, store: PresenceStore) -> None:
    store_contents.set_complete(store, 1)
    store_contents.stamp(store, (timezone.now() - timedelta(seconds=61)).timestamp(), generation=1)
    headline, rows = overview(browser)
    assert (headline, list(rows)) == ("The feed is stale", ["Last flush"])


def test_a_store_that_does_not_answer_is_said(browser: Client, settings: Any) -> None:
    closed = {"BACKEND": "presence.store.redis_cache.PresenceRedisCache", "LOCATION": "redis://127.0.0.1:1/0"}
    settings.CACHES = {**settings.CACHES, "presence": closed}
    assert overview(browser) == ("The presence store does not answer", {})


@pytest.mark.parametrize("value", [1e300, -1, [1, {"a": None}], "<script>"])
def test_odd_figures_are_shown_as_they_are(browser: Client, store: PresenceStore, value: Any) -> None:
    store.keep_stats({"some_at": value, "some": value})
    headline, rows = overview(browser)
    assert (headline, list(rows)) == ("There is no live presence", ["Some at", "Some"])


def test_only_staff_who_may_see_the_list_see_the_page(client: Client) -> None:
    helper = UserFactory(is_staff=True)
    client.force_login(helper)
    assert client.get(LIVE).status_code == 403
    helper.user_permissions.add(Permission.objects.get(codename="view_lastonline"))
    assert client.get(LIVE).status_code == 200
    client.force_login(UserFactory())
    assert client.get(LIVE).status_code == 302
