"""An app's settings: all or nothing, never over a newer state, with a word before sign-ins break."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEvent, User
from dashboard import versions
from oidc_provider.applications import applications, logos
from oidc_provider.models import Application, Grant
from tests.dashboard.profile.editor import picture
from tests.factories.oidc_provider import REDIRECT_URL, ApplicationFactory, PendingRequestFactory
from tests.pages.markup import problems_of
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
OTHER = "https://app.example.org/other"


def fill(browser: Browser, app: Application, **values: Any) -> dict[str, Any]:
    form = browser.open(f"/dashboard/apps/{app.client_id}/settings/").form("version")
    return {
        **{name: form.fields[name] for name in ("csrfmiddlewaretoken", "version", "name")},
        "redirect_urls": app.redirect_urls,
        "scopes": app.registered_scopes,
        **values,
    }


def send(browser: Browser, app: Application, data: dict[str, Any]) -> Application:
    browser.response = browser.client.post(f"/dashboard/apps/{app.client_id}/settings/", data, follow=True)
    stored: Application = Application.objects.get(pk=app.pk)
    return stored


def test_everything_is_saved_at_once_and_recorded_in_the_trail(browser: Browser, app: Application, user: User) -> None:
    changed = send(
        browser,
        app,
        fill(
            browser,
            app,
            name="Another name",
            support_url="https://app.example/help",
            redirect_urls=[REDIRECT_URL, "", OTHER],
            scopes=["openid", "offline_access"],
        ),
    )
    assert (changed.name, changed.support_url) == ("Another name", "https://app.example/help")
    assert changed.redirect_urls == [REDIRECT_URL, OTHER]
    assert changed.registered_scopes == ["openid", "offline_access"]
    assert "Another name saved." in browser.text
    events = AuditEvent.objects.filter(object_id=str(app.pk), actor=user).order_by("pk")
    assert [event.verb for event in events] == [
        "application:details_changed",
        "application:redirect_urls_changed",
        "application:scopes_changed",
    ]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"scopes": ["email"]}, "email is locked: staff must unlock it for Ada first."),
        (
            {"logo": SimpleUploadedFile("logo.png", b"no picture")},
            "This is not a picture in PNG, JPEG, WebP or GIF format.",
        ),
    ],
    ids=["scope", "logo"],
)
def test_one_mistake_saves_nothing(browser: Browser, app: Application, values: dict[str, Any], message: str) -> None:
    before = Application.objects.values().get()
    send(browser, app, fill(browser, app, name="Another name", **values))
    assert browser.errors() == [message]
    assert Application.objects.values().get() == before
    assert 'value="Another name"' in browser.response.content.decode()


def test_a_form_of_an_older_state_is_refused_and_keeps_what_was_typed(browser: Browser, app: Application) -> None:
    data = fill(browser, app, name="Mine")
    applications.change_scopes(application=app, scopes=["openid"], by=app.user)
    stored = send(browser, app, data)
    assert (stored.name, stored.registered_scopes) == ("Ada's app", ["openid"])
    assert browser.errors() == [versions.CHANGED]
    assert versions.CHANGED in browser.text
    assert browser.page.get_element_by_id("id_name").get("value") == "Mine"


def test_a_new_name_drops_verified_and_says_so(browser: Browser, app: Application) -> None:
    applications.verify(application=app, by=None)
    changed = send(browser, app, fill(browser, app, name="Another name"))
    assert not changed.is_verified
    assert "no longer verified" in browser.text


def test_a_trailing_slash_twin_is_saved_with_a_warning(browser: Browser, app: Application) -> None:
    changed = send(browser, app, fill(browser, app, redirect_urls=[REDIRECT_URL, f"{REDIRECT_URL}/"]))
    assert changed.redirect_urls == [REDIRECT_URL, f"{REDIRECT_URL}/"]
    assert f"{REDIRECT_URL} and {REDIRECT_URL}/ are two different URLs." in browser.text


def signed_in_by_code(app: Application, ago: timedelta) -> None:
    grant = Grant.objects.create(
        application=app,
        user=app.user,
        code=uuid4().hex,
        redirect_uri=REDIRECT_URL,
        expires=timezone.now(),
        auth_time=0,
        scope="openid",
    )
    Grant.objects.filter(pk=grant.pk).update(created=timezone.now() - ago)


def started(app: Application, ago: timedelta) -> None:
    PendingRequestFactory.create(application=app, created_at=timezone.now() - ago)


@pytest.mark.parametrize("used", [signed_in_by_code, started])
def test_removing_a_url_asks_whether_one_is_sure_if_it_was_used_within_7_days(
    browser: Browser, app: Application, used: Any
) -> None:
    used(app, timedelta(days=7) + HOUR)
    assert send(browser, app, fill(browser, app, redirect_urls=[OTHER])).redirect_urls == [OTHER]
    send(browser, app, fill(browser, app, redirect_urls=[REDIRECT_URL]))
    used(app, timedelta(days=7) - HOUR)
    data = fill(browser, app, redirect_urls=[OTHER])
    assert send(browser, app, data).redirect_urls == [REDIRECT_URL]
    assert browser.errors() == [f"Sign-ins of the last 7 days went to {REDIRECT_URL}. Without it they fail."]
    assert browser.page.xpath("//input[@type='checkbox' and @name='is_sure']")
    assert problems_of(browser.response) == []
    assert send(browser, app, {**data, "is_sure": "on"}).redirect_urls == [OTHER]


LOOPBACK = "http://127.0.0.1/callback"


def test_a_loopback_url_was_used_at_whatever_port(browser: Browser, app: Application) -> None:
    app.redirect_uris = f"{LOOPBACK} {OTHER}"
    app.save()
    PendingRequestFactory.create(application=app, redirect_uri="http://127.0.0.1:53211/callback")
    assert send(browser, app, fill(browser, app, redirect_urls=[OTHER])).redirect_urls == [LOOPBACK, OTHER]
    assert browser.errors() == [f"Sign-ins of the last 7 days went to {LOOPBACK}. Without it they fail."]


def test_a_loopback_url_that_another_one_stands_for_goes_unasked(browser: Browser, app: Application) -> None:
    app.redirect_uris = f"{LOOPBACK} http://127.0.0.1:8080/callback"
    app.save()
    PendingRequestFactory.create(application=app, redirect_uri="http://127.0.0.1:8080/callback")
    assert send(browser, app, fill(browser, app, redirect_urls=[LOOPBACK])).redirect_urls == [LOOPBACK]


def test_an_old_name_that_is_a_verified_apps_by_now_stops_no_other_edit(browser: Browser, app: Application) -> None:
    ApplicationFactory.create(name="ADA's app", is_verified=True)
    assert send(browser, app, fill(browser, app, redirect_urls=[REDIRECT_URL, OTHER])).redirect_urls[1] == OTHER
    send(browser, app, fill(browser, app, name="Ada's App"))
    assert browser.errors() == ["A verified app has this name."]


def test_a_logo_is_put_and_taken_away(browser: Browser, app: Application) -> None:
    send(browser, app, fill(browser, app, logo=picture(300, 300)))
    assert logos.of(app) is not None
    assert browser.page.xpath("//img[@width='72']/@src") == [reverse("application_logo", args=[app.client_id])]
    send(browser, app, fill(browser, app, removes_logo="on"))
    assert logos.of(app) is None
