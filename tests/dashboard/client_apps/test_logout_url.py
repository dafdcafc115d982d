"""The logout URL of an app: its rules, and the forms that set it."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User, WebhookDelivery
from accounts.models.webhooks import LOGOUT
from dashboard.client_apps import queries
from infrastructure import outbound
from oidc_provider.applications import applications, staging
from oidc_provider.models import Application
from tests.admin.test_forms import form_of
from tests.dashboard.client_apps import test_registration, test_settings
from tests.factories.accounts import StaffFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.lookup import statements
from tests.pages.markup import problems_of
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db

URL = "https://app.example/logout?from=hearth"
NOT_PUBLIC = "The host is an address that is not public."


def stored(app: Application) -> str:
    found: Application = Application.objects.get(pk=app.pk)
    return found.backchannel_logout_uri


def test_it_is_set_changed_and_removed_on_the_settings_page_and_shown_in_the_activity(
    browser: Browser, app: Application
) -> None:
    for value in (URL, "https://app.example:8443/out", ""):
        test_settings.send(browser, app, test_settings.fill(browser, app, backchannel_logout_uri=f" {value} "))
        assert browser.errors() == []
        assert stored(app) == value
        field = browser.open(f"/dashboard/apps/{app.client_id}/settings/").form("version").fields
        assert (field["backchannel_logout_uri"] or "") == value
    text = browser.open(f"/dashboard/apps/{app.client_id}/activity/").text
    assert "Name, links or logout URL changed" in text
    assert f"Logout URL none became {URL}" in text
    assert "Logout URL https://app.example:8443/out became none" in text


def test_the_overview_shows_it(browser: Browser, app: Application) -> None:
    assert "Logout URL" not in browser.open(f"/dashboard/apps/{app.client_id}/").text
    applications.change_details(application=app, backchannel_logout_uri=URL, by=app.user)
    assert f"Logout URL {URL}" in browser.open(f"/dashboard/apps/{app.client_id}/").text


def logout(app: Application, **columns: Any) -> WebhookDelivery:
    """A logout of a person at the app that a worker has delivered, unless `columns` say otherwise."""
    now = timezone.now()
    facts = {"due_at": None, "delivered_at": now, "attempts": 1, "last_at": now, "last_status": 200, "last_ms": 31}
    about = {"client_id": app.client_id, "type": LOGOUT, "subject": "1234567890", "data": {"sid": "a-session"}}
    return WebhookDelivery.objects.create(**{**facts, **about, **columns})


def sent_last(browser: Browser, app: Application) -> list[str]:
    """The texts of the rows of the settings page that tell what was sent to the logout URL."""
    browser.open(f"/dashboard/apps/{app.client_id}/settings/")
    assert problems_of(browser.response) == []
    found = browser.page.xpath("//h3[.='Sent last']/following-sibling::ol/li")
    return [" ".join(str(row.text_content()).split()) for row in found]


def test_the_settings_show_what_became_of_the_last_logouts_and_whom_they_were_about_does_not_appear(
    browser: Browser, app: Application
) -> None:
    logout(app)
    assert sent_last(browser, app) == []
    assert "Sent last" not in browser.text
    applications.change_details(application=app, backchannel_logout_uri=URL, by=app.user)
    failed = {"delivered_at": None, "last_status": None, "last_ms": None}
    logout(app, **failed, attempts=6, last_error="No connection.")
    logout(app, **{**failed, "last_status": 400, "last_ms": 9}, last_answer="logout_token=eyJ0.abc.def")
    logout(app, **failed, attempts=2, due_at=timezone.now(), last_error="No connection.")
    logout(app, **failed, attempts=0, due_at=timezone.now())
    logout(ApplicationFactory.create())
    texts = [re.sub(r"^.*? UTC ", "", text) for text in sent_last(browser, app)]
    assert texts == [
        "Waiting 0 attempts",
        "Retrying 2 attempts No connection.",
        "Failed 1 attempt · status 400 · 9 ms",
        "Failed 6 attempts No connection.",
        "Delivered 1 attempt · status 200 · 31 ms",
    ]
    page = browser.response.content.decode()
    assert all(word not in page for word in ("1234567890", "a-session", "eyJ0"))


def test_the_settings_show_five_logouts_at_the_cost_of_one(browser: Browser, app: Application) -> None:
    applications.change_details(application=app, backchannel_logout_uri=URL, by=app.user)
    assert sent_last(browser, app) == []
    assert "Nothing was sent recently." in browser.text
    logout(app)
    one = statements.names(lambda: sent_last(browser, app))
    for _ in range(10):
        logout(app)
    many = statements.names(lambda: sent_last(browser, app))
    assert many == one
    assert len(sent_last(browser, app)) == queries.LOGOUTS_SHOWN


def test_a_new_app_can_have_one(browser: Browser) -> None:
    test_registration.send(browser, test_registration.fill(browser, backchannel_logout_uri=URL))
    assert stored(Application.objects.get()) == URL


LONG = f"https://app.example/{'a' * outbound.MAX_LENGTH}"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("app.example/logout", "Write the whole URL, beginning with https://."),
        ("com.example.app:/logout", "Write the whole URL, beginning with https://."),
        ("http://app.example/logout", "Use https; plain http is not encrypted."),
        ("https://app.example/logout#now", "Remove the fragment (everything from # on)."),
        ("https://ada@app.example/logout", "Remove the user name or password before the host."),
        ("https://10.0.0.1/logout", NOT_PUBLIC),
        ("https://[fd00::1]/logout", NOT_PUBLIC),
        ("http://127.0.0.1:3000/logout", "The host is this service's own machine; write one that is public."),
        ("https://localhost/logout", "The host is this service's own machine; write one that is public."),
    ],
)
def test_an_address_to_which_nothing_is_sent_is_refused(
    browser: Browser, app: Application, settings: Settings, url: str, message: str
) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = False
    test_settings.send(browser, app, test_settings.fill(browser, app, name="Another", backchannel_logout_uri=url))
    assert browser.errors() == [message]
    assert (stored(app), Application.objects.get(pk=app.pk).name) == ("", "Ada's app")
    with pytest.raises(ValidationError):
        applications.change_details(application=app, backchannel_logout_uri=url, by=app.user)


def test_a_long_one_is_refused_by_form_and_operation(browser: Browser, app: Application) -> None:
    assert Application._meta.get_field("backchannel_logout_uri").max_length == outbound.MAX_LENGTH
    test_settings.send(browser, app, test_settings.fill(browser, app, backchannel_logout_uri=LONG))
    assert len(browser.errors()) == 1
    with pytest.raises(ValidationError):
        applications.change_details(application=app, backchannel_logout_uri=LONG, by=app.user)


def test_a_developers_own_machine_is_allowed_where_the_service_runs_there(app: Application, settings: Settings) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    applications.change_details(application=app, backchannel_logout_uri="http://127.0.0.1:3000/logout", by=app.user)
    assert stored(app) == "http://127.0.0.1:3000/logout"


def test_a_staging_app_begins_without_one(app: Application, user: User) -> None:
    applications.change_details(application=app, backchannel_logout_uri=URL, by=user)
    assert stored(staging.create(application=app, by=user).application) == ""


def test_staff_set_it_in_the_admin() -> None:
    admin, app = Client(), ApplicationFactory(registered_scopes=["openid"])
    admin.force_login(StaffFactory(is_superuser=True))
    path = f"/admin/oidc_provider/application/{app.pk}/change/"
    values: dict[str, Any] = form_of(admin.get(path))
    refused = admin.post(path, {**values, "backchannel_logout_uri": "http://app.example/"})
    assert refused.context["adminform"].form.errors == {
        "backchannel_logout_uri": ["Use https; plain http is not encrypted."]
    }
    assert admin.post(path, {**values, "backchannel_logout_uri": URL}).status_code == 302
    assert stored(app) == URL


def test_the_command_registers_an_app_with_one(user: User) -> None:
    output = io.StringIO()
    names = ("--owner", user.username, "--name", "Notes", "--redirect", "https://a.example/cb", "--scope", "openid")
    call_command("register_app", *names, "--logout-url", URL, "--json", stdout=output)
    assert json.loads(output.getvalue())["backchannel_logout_uri"] == stored(Application.objects.get()) == URL
