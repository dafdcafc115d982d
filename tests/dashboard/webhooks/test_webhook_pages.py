"""Webhooks are added, changed, paused, rotated, tested and deleted by the same pages for a person and an app."""

from __future__ import annotations

import functools
import json
from datetime import timedelta

import pytest
import time_machine
from allauth.account.app_settings import REAUTHENTICATION_TIMEOUT
from django.utils import timezone
from pytest_django import Settings

from accounts.models import AuditEvent, EventType, User, WebhookDelivery, WebhookEndpoint
from accounts.webhooks import claims, endpoints, signatures
from accounts.webhooks.endpoints import EXISTS, MAX_ENDPOINTS, MAX_WAITING_TESTS
from dashboard import versions
from dashboard.webhooks.actions import ROTATED_MEANWHILE
from oidc_provider.models import Application
from tests.dashboard.signing_in import browser_of, client_of
from tests.dashboard.webhooks.places import URL, Place, given_up, retrying, sent
from tests.factories.accounts import StaffFactory
from tests.lookup import statements
from tests.pages.markup import problems_of
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db

READ = ["", "deliveries/"]
ASKED = ["edit/", "rotate/", "delete/"]
PRESSED = ["pause/", "resume/", "test/"]


def add(browser: Browser, place: Place, url: str = URL, events: list[str] | None = None) -> Browser:
    """Open the form of a new webhook, fill it and send it."""
    form = browser.open(f"{place.path}new/").form("url")
    data = {**dict(form.form_values()), "url": url, "events": place.events if events is None else events}
    browser.response = browser.client.post(f"{place.path}new/", data)
    return browser


def test_a_webhook_is_added_and_its_secret_is_shown_once(browser: Browser, place: Place) -> None:
    assert "No webhooks yet" in browser.open(place.path).text
    assert problems_of(browser.response) == []
    add(browser, place)
    assert problems_of(browser.response) == []
    endpoint = WebhookEndpoint.objects.get(**place.columns)
    secret = str(browser.page.get_element_by_id("copy-secret").text_content())
    assert secret == signatures.decrypted(endpoint.secret)
    assert "no-store" in browser.response.headers["Cache-Control"]
    assert (endpoint.url, sorted(endpoint.events)) == (URL, sorted(place.events))
    for page in ("", "edit/", "deliveries/", "rotate/"):
        assert "whsec_" not in browser.open(place.page(endpoint, page)).response.content.decode()
    event = AuditEvent.objects.get(verb__endswith=":webhook_added")
    assert event.actor == place.user
    assert secret not in str(event.data)
    assert "hooks.example.org Delivering" in browser.open(place.path).text


def test_the_form_offers_the_events_of_its_owner_alone(browser: Browser, place: Place) -> None:
    browser.open(f"{place.path}new/")
    offered = browser.page.xpath("//input[@name='events']/@value")
    assert offered == [event.value for event in EventType if event.is_of_app == (place.app is not None)]
    add(browser, place, events=[place.foreign_event])
    assert browser.errors() == [
        f"Select a valid choice. {place.foreign_event} is not one of the available choices.",
    ]


@pytest.mark.parametrize(
    ("is_allowed", "says"),
    [
        (False, "https, on a public host."),
        (True, "https on a public host, or http or https on this machine."),
    ],
)
def test_the_form_says_which_addresses_it_takes(
    browser: Browser, place: Place, is_allowed: bool, says: str, settings: Settings
) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = is_allowed
    assert f"Where your server receives events: {says}" in browser.open(f"{place.path}new/").text
    for url in ("http://127.0.0.1:3000/in", "https://localhost:3000/in"):
        add(browser, place, url)
        assert WebhookEndpoint.objects.filter(url=url).exists() == is_allowed
    assert f"Where your server receives events: {says}" in browser.open(place.page(place.endpoint(), "edit/")).text


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "This field is required."),
        ("http://hooks.example.org/", "https"),
        ("https://127.0.0.1/", ""),
        ("https://10.0.0.1/", ""),
        ("javascript:alert(1)", ""),
        ("https://hooks.example.org/" + "x" * 600, ""),
    ],
)
def test_an_address_that_is_refused_is_said_at_its_field_and_nothing_is_lost(
    browser: Browser, place: Place, url: str, says: str, settings: Settings
) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = False
    add(browser, place, url)
    assert browser.response.status_code == 200
    form = browser.response.context["form"]
    assert list(form.errors) == ["url"]
    assert says in form.errors["url"][0]
    assert (browser.page.get_element_by_id("id_url").value or "") == url
    assert sorted(browser.page.xpath("//input[@name='events'][@checked]/@value")) == sorted(place.events)
    assert problems_of(browser.response) == []
    assert not WebhookEndpoint.objects.exists()


def test_a_webhook_without_events_is_refused(browser: Browser, place: Place) -> None:
    assert add(browser, place, events=[]).errors() == ["Choose at least one event."]


def test_a_form_that_is_sent_twice_adds_one(browser: Browser, place: Place) -> None:
    add(browser, place)
    assert add(browser, place).errors() == [EXISTS]
    assert WebhookEndpoint.objects.count() == 1


def test_there_are_five_at_most(browser: Browser, place: Place) -> None:
    for number in range(MAX_ENDPOINTS):
        assert browser.open(place.path).page.xpath(f"//main//a[@href='{place.path}new/']")
        place.endpoint(f"{URL}/{number}")
    assert browser.open(place.path).page.xpath(f"//main//a[@href='{place.path}new/']") == []
    assert "There are 5 webhooks already." in add(browser, place).errors()[0]


def test_every_page_is_sound_and_changes_nothing_by_being_read(browser: Browser, place: Place) -> None:
    endpoint = place.endpoint()
    delivery = sent(endpoint)
    before = WebhookEndpoint.objects.values().get(), WebhookDelivery.objects.values().get()
    for page in [*READ, *ASKED, f"deliveries/{delivery.message_id}/"]:
        browser.open(place.page(endpoint, page))
        assert browser.response.status_code == 200, page
        assert problems_of(browser.response) == [], page
        assert "no-store" in browser.response.headers["Cache-Control"]
    assert (WebhookEndpoint.objects.values().get(), WebhookDelivery.objects.values().get()) == before


def test_what_is_pressed_is_not_read(browser: Browser, place: Place) -> None:
    endpoint = place.endpoint()
    for page in [*PRESSED, f"deliveries/{sent(endpoint).message_id}/replay/"]:
        assert browser.open(place.page(endpoint, page)).response.status_code == 405


def test_address_and_events_are_changed(browser: Browser, place: Place) -> None:
    endpoint = place.endpoint()
    form = browser.open(place.page(endpoint, "edit/")).form("url")
    data = {**dict(form.form_values()), "url": f"{URL}/2", "events": place.events[:1]}
    browser.response = browser.client.post(place.page(endpoint, "edit/"), data, follow=True)
    assert "Webhook saved." in browser.text
    endpoint.refresh_from_db()
    assert (endpoint.url, endpoint.events) == (f"{URL}/2", place.events[:1])
    browser.response = browser.client.post(place.page(endpoint, "edit/"), {**data, "url": f"{URL}/3"})
    assert browser.errors() == [versions.CHANGED]
    assert browser.page.get_element_by_id("id_url").value == f"{URL}/3"
    assert AuditEvent.objects.filter(verb__endswith=":webhook_changed").count() == 1


def test_a_pause_and_its_end(browser: Browser, place: Place) -> None:
    endpoint = place.endpoint()
    client = client_of(browser)
    browser.response = client.post(place.page(endpoint, "pause/"), follow=True)
    assert "Webhook paused." in browser.text
    assert "Paused since" in browser.text
    assert "test/" not in str(browser.page.xpath("//form/@action"))
    assert "hooks.example.org Paused" in browser.open(place.path).text
    browser.response = client.post(place.page(endpoint, "test/"), follow=True)
    assert "This webhook is paused or disabled. Resume it first." in browser.text
    browser.response = client.post(place.page(endpoint, "resume/"), follow=True)
    assert "Webhook resumed." in browser.text
    endpoint.refresh_from_db()
    assert endpoint.state == "Delivering"


@pytest.mark.parametrize(
    ("why", "says"),
    [("FAILING", "because every delivery of three days failed"), ("GONE", "because your receiver answered 410 Gone")],
)
def test_the_page_says_why_a_webhook_is_disabled(browser: Browser, place: Place, why: str, says: str) -> None:
    endpoint = place.endpoint()
    endpoints.disable(endpoint, WebhookEndpoint.Disabled(why))
    assert says in browser.open(place.page(endpoint)).text
    assert "hooks.example.org Disabled" in browser.open(place.path).text


def test_the_page_says_since_when_it_fails(browser: Browser, place: Place) -> None:
    endpoint = place.endpoint()
    WebhookEndpoint.objects.update(failing_since=timezone.now())
    assert "Failing since" in browser.open(place.page(endpoint)).text


def test_a_rotated_secret_is_shown_once_and_both_work_for_a_day(browser: Browser, place: Place) -> None:
    endpoint = place.endpoint()
    first = signatures.decrypted(endpoint.secret)
    browser.open(place.page(endpoint, "rotate/")).submit(version=versions_of(browser))
    second = str(browser.page.get_element_by_id("copy-secret").text_content())
    shown = browser.response.content.decode()
    endpoint.refresh_from_db()
    assert endpoint.previous_secret_until is not None
    assert timezone.localtime(endpoint.previous_secret_until).isoformat() in shown
    assert signatures.decrypted(endpoint.secret) == second != first
    assert signatures.decrypted(endpoint.previous_secret) == first
    assert "The one before signs, too, until" in browser.open(place.page(endpoint)).text
    with time_machine.travel(timezone.now() + timedelta(hours=25)):
        again = browser_of(place.user)
        assert "signs, too" not in again.open(place.page(endpoint)).text


def versions_of(browser: Browser) -> str:
    return str(browser.form("version").fields["version"])


def test_a_page_that_is_sent_twice_rotates_once(browser: Browser, place: Place) -> None:
    path = place.page(place.endpoint(), "rotate/")
    data = dict(browser.open(path).form("version").form_values())
    browser.client.post(path, data)
    browser.response = browser.client.post(path, data)
    assert browser.errors() == [ROTATED_MEANWHILE]
    assert "whsec_" not in browser.response.content.decode()
    assert AuditEvent.objects.filter(verb__endswith=":webhook_secret_rotated").count() == 1


def test_who_proved_nothing_of_late_is_asked_before_a_secret_is_shown(place: Place) -> None:
    endpoint = place.endpoint()
    browser = browser_of(place.user, password_age=REAUTHENTICATION_TIMEOUT)
    for path in (f"{place.path}new/", place.page(endpoint, "rotate/")):
        assert browser.open(path).response.request["PATH_INFO"] == "/accounts/reauthenticate/"


def test_a_deleted_webhook_takes_its_deliveries_along(browser: Browser, place: Place) -> None:
    endpoint = place.endpoint()
    sent(endpoint)
    assert f"Nothing more is sent to {URL}." in browser.open(place.page(endpoint, "delete/")).text
    browser.response = client_of(browser).post(place.page(endpoint, "delete/"), follow=True)
    assert "Webhook deleted." in browser.text
    assert not WebhookEndpoint.objects.exists()
    assert not WebhookDelivery.objects.exists()
    assert browser.open(place.page(endpoint)).response.status_code == 404


def test_a_test_event_waits_on_the_page_of_deliveries(browser: Browser, place: Place) -> None:
    endpoint = place.endpoint()
    client = client_of(browser)
    for _ in range(MAX_WAITING_TESTS):
        browser.response = client.post(place.page(endpoint, "test/"), follow=True)
    assert browser.response.request["PATH_INFO"] == place.page(endpoint, "deliveries/")
    assert "reload this page" in browser.text
    assert "test Waiting msg_" in browser.text
    browser.response = client.post(place.page(endpoint, "test/"), follow=True)
    assert "Earlier test events still wait for their delivery." in browser.text
    assert WebhookDelivery.objects.values("subject").distinct().count() == MAX_WAITING_TESTS  # none waits for another


def test_deliveries_are_filtered_by_their_state(browser: Browser, place: Place) -> None:
    endpoint = place.endpoint()
    rows = {"delivered": sent(endpoint), "waiting": retrying(endpoint), "failed": given_up(endpoint)}
    for state, delivery in rows.items():
        text = browser.open(place.page(endpoint, f"deliveries/?state={state}")).text
        assert [each.message_id for each in rows.values() if each.message_id in text] == [delivery.message_id]
    everything = browser.open(place.page(endpoint, "deliveries/?state=nonsense")).text
    newest_first = [each.message_id for each in reversed(rows.values())]
    assert sorted(newest_first, key=everything.index) == newest_first
    assert "1 attempt · status 500 · 41 ms The answer was 500. Next attempt:" in everything
    WebhookDelivery.objects.all().delete()
    assert "None is in this state." in browser.open(place.page(endpoint, "deliveries/?state=failed")).text


def test_deliveries_come_in_pages_of_25(browser: Browser, place: Place) -> None:
    endpoint = place.endpoint()
    first = sent(endpoint)
    for _ in range(25):
        sent(endpoint)
    page = browser.open(place.page(endpoint, "deliveries/?state=delivered")).page
    assert len(page.xpath("//ol/li")) == 25
    assert page.xpath("//a[@rel='next']/@href") == ["?state=delivered&page=2"]
    assert first.message_id in browser.open(place.page(endpoint, "deliveries/?state=delivered&page=2")).text


@pytest.mark.embedded
def test_the_pages_cost_the_same_for_one_row_and_for_ten(browser: Browser, place: Place) -> None:
    endpoint = place.endpoint()
    sent(endpoint)
    paths = [place.path, place.page(endpoint), place.page(endpoint, "deliveries/")]
    for path in paths:
        browser.open(path)  # the first page of a browser reads more of its session
    few = [statements.of(functools.partial(browser.open, path)) for path in paths]
    for number in range(4):
        place.endpoint(f"{URL}/{number}")
    for _ in range(9):
        sent(endpoint)
    many = [statements.of(functools.partial(browser.open, path)) for path in paths]
    assert [len(found) for found in many] == [len(found) for found in few]
    assert [sum("webhook" in statement.sql for statement in found) for found in many] == [1, 2, 3]


def test_a_delivery_shows_its_request_and_its_answer(browser: Browser, place: Place) -> None:
    endpoint = place.endpoint()
    delivery = sent(endpoint, data={"sub": "5b0f", "client_id": "<b>7</b>"}, last_answer="thanks")
    text = browser.open(place.page(endpoint, f"deliveries/{delivery.message_id}/")).text
    body = str(browser.page.get_element_by_id("body").text_content())
    assert body == signatures.body_of(delivery).decode()
    assert f"webhook-id {delivery.message_id}" in text
    assert "webhook-timestamp, webhook-signature Made for each attempt, and not kept" in text
    assert "v1," not in text
    assert "Status 200 Time 41 ms" in text
    assert browser.page.get_element_by_id("answer-text").text_content() == "thanks"


HOSTILE = "</code></pre><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\u202e"


def test_a_hostile_answer_and_address_are_text(browser: Browser, place: Place) -> None:
    endpoint = place.endpoint()
    WebhookEndpoint.objects.update(url="javascript:alert('<b>')")
    delivery = given_up(endpoint, last_answer=HOSTILE)
    for page in (*READ, *ASKED, f"deliveries/{delivery.message_id}/"):
        browser.open(place.page(endpoint, page))
        assert problems_of(browser.response) == []
        assert (
            browser.page.xpath("//main//script | //main//img[@src='x'] | //a[starts-with(@href, 'javascript')]") == []
        )
    shown = browser.open(place.page(endpoint, f"deliveries/{delivery.message_id}/")).page
    assert "<script>alert(1)</script>" in shown.get_element_by_id("answer-text").text_content()


def test_a_replay_keeps_the_id(browser: Browser, place: Place) -> None:
    endpoint = place.endpoint()
    delivery = given_up(endpoint)
    path = place.page(endpoint, f"deliveries/{delivery.message_id}/")
    assert browser.open(path).page.xpath(f"//form[@action='{path}replay/']")
    assert "Attempts 10" in browser.text
    assert "counted since the event happened or, after “Send it again”, since then" in browser.text
    assert "before it was sent again" not in browser.text
    client = client_of(browser)
    browser.response = client.post(f"{path}replay/", follow=True)
    assert "with the same id" in browser.text
    assert "Attempts 0" in browser.text
    assert "This is the last answer before it was sent again." in browser.text
    assert browser.page.xpath(f"//form[@action='{path}replay/']") == []
    waiting = WebhookDelivery.objects.waiting().get()
    assert (waiting.pk, waiting.message_id, waiting.attempts) == (delivery.pk, delivery.message_id, 0)
    browser.response = client.post(f"{path}replay/", follow=True)
    assert "on its way already" in browser.text


def test_a_delivery_between_two_attempts_is_tried_at_once_and_keeps_their_number(
    browser: Browser, place: Place
) -> None:
    endpoint = place.endpoint()
    delivery = retrying(endpoint)
    path = place.page(endpoint, f"deliveries/{delivery.message_id}/")
    assert "Try it now" in browser.open(path).text
    client_of(browser).post(f"{path}replay/")
    waiting = WebhookDelivery.objects.filter(due_at__lte=timezone.now()).get()
    assert (waiting.pk, waiting.attempts) == (delivery.pk, delivery.attempts)


def test_a_delivery_that_a_worker_sends_now_is_not_sent_beside_it(browser: Browser, place: Place) -> None:
    endpoint = place.endpoint()
    delivery = retrying(endpoint)
    WebhookDelivery.objects.update(due_at=timezone.now())
    assert claims.take_events(1, hindered=1) == [delivery]
    before = WebhookDelivery.objects.values().get()
    browser.response = client_of(browser).post(
        place.page(endpoint, f"deliveries/{delivery.message_id}/replay/"), follow=True
    )
    assert "on its way already" in browser.text
    assert WebhookDelivery.objects.values().get() == before
    assert claims.take_events(1, hindered=1) == []


def test_the_trail_and_the_overview_of_the_app_name_its_webhooks(
    browser: Browser, user: User, app: Application
) -> None:
    place = Place(user, app)
    endpoint = place.endpoint()
    endpoints.change(endpoint=endpoint, by=user, url=f"{URL}/2", events=place.events)
    endpoints.pause(endpoint=endpoint, by=user)
    place.endpoint()
    path = f"/dashboard/apps/{app.client_id}/"
    assert "Webhooks 2: paused, delivering" in browser.open(path).text
    endpoints.delete(endpoint=endpoint, by=user)
    text = browser.open(f"{path}activity/").text
    for says in ("Webhook added", "Webhook changed", "Webhook paused", "Webhook deleted", f"{URL}/2"):
        assert says in text


def test_staff_see_hosts_and_states_and_no_secret(user: User, app: Application) -> None:
    endpoint = Place(user, app).endpoint()
    browser = browser_of(StaffFactory.create()).open(f"/dashboard/staff/apps/{app.client_id}/")
    assert "Webhooks hooks.example.org Delivering" in browser.text
    assert endpoint.secret not in browser.response.content.decode()
    assert endpoint.url not in browser.text


def test_the_download_of_a_persons_data_lists_their_webhooks(browser: Browser, user: User, app: Application) -> None:
    for place in (Place(user), Place(user, app)):
        place.endpoint()
    content = b"".join(browser.open("/dashboard/account/data/download/").response.streaming_content)
    rows = json.loads(content)["webhooks"]
    assert [(row["client_id"], row["url"]) for row in rows] == [(None, URL), (app.client_id, URL)]
    assert b"secret" not in json.dumps(rows).encode()
