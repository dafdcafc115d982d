"""The logout URL of an app: its rules, and the forms that set it."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from infrastructure import outbound
from oidc_provider.applications import applications, staging
from oidc_provider.models import Application
from tests.admin.test_forms import form_of
from tests.dashboard.client_apps import test_registration, test_settings
from tests.factories.accounts import StaffFactory
from tests.factories.oidc_provider import ApplicationFactory
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
