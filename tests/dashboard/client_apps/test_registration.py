"""A new app: one screen, the secret once, a message for each mistake."""

from __future__ import annotations

import contextlib
import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.exceptions import ValidationError
from django.utils.datastructures import MultiValueDict

from accounts.models import AuditEvent, User
from dashboard.client_apps import actions as apps_actions
from dashboard.client_apps.forms import NewAppForm
from oidc_provider.applications import application_rules, applications, logos
from oidc_provider.applications.applications import AlreadyRegistered
from oidc_provider.applications.scopes import SCOPES
from oidc_provider.models import Application
from tests.accounts.clock import NOON
from tests.dashboard.profile.editor import picture
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.pages.markup import problems_of
from tests.support.browser import Browser
from tests.support.threads import together

pytestmark = pytest.mark.django_db

NEW = "/dashboard/apps/new/"
URL = "https://app.example/callback"


def fill(browser: Browser, **values: Any) -> dict[str, Any]:
    """What the page's own form sends, with `values` typed into it."""
    form = browser.open(NEW).form("ticket")
    return {
        "csrfmiddlewaretoken": form.fields["csrfmiddlewaretoken"],
        "ticket": form.fields["ticket"],
        "name": "My app",
        "redirect_urls": [URL],
        "scopes": ["openid", "identify"],
        **values,
    }


def send(browser: Browser, data: dict[str, Any]) -> Browser:
    browser.response = browser.client.post(NEW, data, follow=True)
    return browser


def secret_on(browser: Browser) -> str:
    return str(browser.page.get_element_by_id("copy-client-secret").text_content())


def test_the_secret_stands_in_the_answer_itself_and_nowhere_else(browser: Browser, user: User) -> None:
    send(browser, fill(browser, homepage_url="https://app.example/"))
    app = Application.objects.get()
    secret = secret_on(browser)
    assert app.check_secret(secret)
    assert (app.user, app.name, app.redirect_urls) == (user, "My app", [URL])
    assert (app.registered_scopes, app.homepage_url) == (["openid", "identify"], "https://app.example/")
    assert browser.response.redirect_chain == []
    assert "no-store" in browser.response.headers["Cache-Control"]
    assert browser.page.xpath("//*[@role='alert']")
    lines = browser.page.get_element_by_id("env-text").text_content().split()
    assert f"CLIENT_ID={app.client_id}" in lines
    assert f"CLIENT_SECRET={secret}" in lines
    assert f"REDIRECT_URI={URL}" in lines
    assert problems_of(browser.response) == []
    assert secret not in str(dict(browser.client.session))
    assert secret not in str(list(AuditEvent.objects.values()))
    for page in ("", "settings/", "activity/"):
        assert secret not in browser.open(f"/dashboard/apps/{app.client_id}/{page}").response.content.decode()


def test_the_page_opens_on_the_secret_and_names_the_next_steps(browser: Browser) -> None:
    send(browser, fill(browser))
    app = Application.objects.get()
    (focused,) = browser.page.xpath("//*[@autofocus]")
    assert focused.get("id") == "copy-client-secret"
    steps = browser.page.xpath("//*[@data-continue]")
    assert [(step.text_content(), step.get("href")) for step in steps] == [
        ("Try it", f"/dashboard/apps/{app.client_id}/try/"),
        ("Copy the code", f"/dashboard/apps/{app.client_id}/code/"),
        ("Read the quickstart", "/docs/sign-in"),
    ]
    for step in steps:
        assert browser.client.get(step.get("href")).status_code == 200


def test_a_form_that_is_sent_twice_makes_one_app_and_keeps_its_secret(browser: Browser) -> None:
    data = fill(browser)
    secret = secret_on(send(browser, data))
    send(browser, data)
    app = Application.objects.get()
    assert app.check_secret(secret)
    assert browser.response.request["PATH_INFO"] == f"/dashboard/apps/{app.client_id}/"
    assert "This form has created its app already" in browser.text


def test_two_forms_make_two_apps_with_their_logos(browser: Browser) -> None:
    for _ in range(2):
        send(browser, fill(browser, logo=picture(600, 300)))
    assert [logos.of(app) is not None for app in Application.objects.all()] == [True, True]


def test_a_form_whose_app_is_deleted_does_not_bring_it_back(browser: Browser, user: User) -> None:
    data = fill(browser)
    send(browser, data)
    deleted = Application.objects.get()
    applications.delete(application=deleted, by=user)
    send(browser, data)
    assert not Application.objects.exists()
    assert browser.errors() == [apps_actions.DELETED_MEANWHILE]
    assert apps_actions.DELETED_MEANWHILE in browser.text
    assert browser.page.get_element_by_id("id_name").get("value") == "My app"
    assert problems_of(browser.response) == []
    send(browser, {**data, "ticket": browser.form("ticket").fields["ticket"]})
    assert Application.objects.get().client_id != deleted.client_id


def test_the_page_begins_with_two_scopes_and_shows_the_claims_of_each(browser: Browser) -> None:
    browser.open(NEW)
    assert problems_of(browser.response) == []
    assert browser.page.xpath("//input[@name='scopes' and @checked]/@value") == ["openid", "identify"]
    assert len(browser.page.xpath("//input[@name='redirect_urls']")) == 10
    examples = {
        summary.text_content().removeprefix("Example of "): json.loads(summary.getparent().xpath("string(.//code)"))
        for summary in browser.page.xpath("//details[contains(@class, 'scope-example')]/summary")
    }
    assert {name: tuple(example) for name, example in examples.items()} == {
        scope.name: scope.claims for scope in SCOPES.values() if scope.claims
    }
    assert examples["email"] == {"email": "ada@mail.example", "email_verified": True}


def test_the_client_id_is_not_for_the_sender_to_choose(user: User) -> None:
    for ticket in ("0" * 32, apps_actions.new_ticket(UserFactory.create())):
        with pytest.raises(ValidationError, match="from another account"):
            apps_actions.client_id_of(ticket, user)


def test_a_form_that_is_refused_for_its_ticket_can_be_sent_once_more(browser: Browser) -> None:
    data = fill(browser, ticket="old")
    send(browser, data)
    assert apps_actions.STALE_TICKET in browser.text
    assert not Application.objects.exists()
    send(browser, {**data, "ticket": browser.form("ticket").fields["ticket"]})
    assert Application.objects.count() == 1


def test_a_form_can_be_sent_for_24_hours(user: User) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        ticket = apps_actions.new_ticket(user)
        clock.shift(timedelta(hours=24))
        assert len(apps_actions.client_id_of(ticket, user)) == 32
        clock.shift(timedelta(seconds=1))
        with pytest.raises(ValidationError, match="older than a day"):
            apps_actions.client_id_of(ticket, user)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": ""}, "This field is required."),
        ({"name": "x" * 65}, "Ensure this value has at most 64 characters (it has 65)."),
        (
            {"name": "Tru5ted App"},
            "The name looks like that of a verified app, Trusted app. Choose a name that looks different.",
        ),
        ({"privacy_url": "javascript:alert(1)"}, "Enter a valid URL."),
        ({"redirect_urls": ["", " "]}, "Register at least one redirect URL."),
        (
            {"redirect_urls": [f"{URL}/{number}" for number in range(11)]},
            "There are 11 redirect URLs; an app can have at most 10.",
        ),
        ({"redirect_urls": ["http://app.example/"]}, "Fix the rows that show an error."),
        ({"scopes": []}, "Register at least one scope."),
        ({"scopes": ["profile"]}, "Select a valid choice. profile is not one of the available choices."),
        ({"scopes": ["email"]}, "email is locked: staff must unlock it for Ada first."),
    ],
)
def test_each_mistake_has_its_message(user: User, values: dict[str, Any], message: str) -> None:
    ApplicationFactory.create(name="Trusted app", is_verified=True)
    sent = {"ticket": apps_actions.new_ticket(user), "name": "My app", "redirect_urls": [URL], "scopes": ["openid"]}
    data = MultiValueDict(
        {name: value if isinstance(value, list) else [value] for name, value in {**sent, **values}.items()}
    )
    form = NewAppForm(data, owner=user)
    assert [sentence for sentences in form.errors.values() for sentence in sentences] == [message]


def test_what_was_typed_is_kept_and_every_message_comes_at_once(browser: Browser) -> None:
    send(browser, fill(browser, name="Hearth", redirect_urls=["ftp://x"], terms_url="nonsense", scopes=["email"]))
    assert len(browser.errors()) == 4
    assert all(message in browser.text for message in browser.errors())
    assert problems_of(browser.response) == []
    assert not Application.objects.exists()
    assert browser.page.xpath("//input[@name='redirect_urls']/@value")[0] == "ftp://x"
    assert browser.page.xpath("//input[@name='terms_url']/@value") == ["nonsense"]


def test_the_51st_app_is_refused(browser: Browser, user: User) -> None:
    Application.objects.bulk_create(ApplicationFactory.build_batch(49, user=user))
    send(browser, fill(browser))
    assert Application.objects.count() == 50
    send(browser, fill(browser))
    assert browser.errors() == [application_rules.TOO_MANY]
    assert Application.objects.count() == 50


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_a_form_that_is_sent_four_times_at_once_makes_one_app() -> None:
    owner: User = UserFactory.create()
    client_id = apps_actions.client_id_of(apps_actions.new_ticket(owner), owner)
    made: list[str] = []

    def act(number: int) -> None:
        values: dict[str, Any] = {"name": "My app", "redirect_urls": [URL], "scopes": ["openid"]}
        with contextlib.suppress(AlreadyRegistered):
            made.append(apps_actions.register(owner=owner, client_id=client_id, **values).client_secret)

    together(4, act)
    assert len(made) == 1
    assert Application.objects.get().check_secret(made[0])
