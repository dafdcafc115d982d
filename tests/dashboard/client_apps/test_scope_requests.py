"""Locked scopes: asked for, denied, unlocked; and the consent screen that follows the form."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import User
from dashboard import access_requests, versions
from dashboard.models import AccessRequest
from oidc_provider.models import Application
from tests.dashboard.client_apps.test_registration import fill, send
from tests.dashboard.profile.editor import picture
from tests.factories.accounts import ApiKeyFactory, StaffFactory, UserFactory
from tests.factories.oidc_provider import ApprovalFactory
from tests.pages.markup import problems_of
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db

NEW = "/dashboard/apps/new/"
ASK = "/dashboard/apps/scopes/email/"


def row_of(browser: Browser, scope: str) -> str:
    box = browser.open(NEW).page.get_element_by_id(f"scope-{scope}")
    return " ".join(box.getparent().text_content().split())


def test_a_request_waits_and_can_be_withdrawn(browser: Browser, user: User) -> None:
    assert "Locked" in row_of(browser, "email")
    assert "Locked" not in row_of(browser, "identify")
    browser.open(ASK).submit(reason="Letters about orders.")
    asked = AccessRequest.objects.get()
    assert (asked.user, asked.subject, asked.reason) == (user, "email", "Letters about orders.")
    assert "Waits for staff" in browser.text
    assert problems_of(browser.response) == []
    assert "Requested; staff will answer" in row_of(browser, "email")
    token = browser.form("ticket").fields["csrfmiddlewaretoken"]
    path = f"/dashboard/apps/scope-requests/{asked.pk}/withdraw/"
    browser.response = browser.client.post(path, {"csrfmiddlewaretoken": token}, follow=True)
    assert "Request withdrawn." in browser.text
    asked.refresh_from_db()
    assert asked.state == "WITHDRAWN"
    browser.response = browser.client.post(path, {"csrfmiddlewaretoken": token}, follow=True)
    assert "This request has been decided or withdrawn in the meantime." in browser.text


def test_a_denied_request_shows_the_answer_and_can_be_made_again(browser: Browser, user: User) -> None:
    asked = access_requests.ask_for_scope(user=user, scope="email", reason="Because.")
    access_requests.deny(request=asked, by=StaffFactory.create(), reason="Say more <b>please</b>.")
    assert "Denied: Say more <b>please</b>." in row_of(browser, "email")
    assert "Staff wrote: Say more <b>please</b>." in browser.open(ASK).text
    browser.submit(reason="Letters about orders.")
    assert AccessRequest.objects.filter(state="PENDING").count() == 1


def test_a_granted_scope_can_be_chosen(browser: Browser, user: User) -> None:
    asked = access_requests.ask_for_scope(user=user, scope="email", reason="Because.")
    access_requests.grant(request=asked, by=StaffFactory.create(), reason="Fine.")
    assert "Unlocked for you" in row_of(browser, "email")
    assert "This scope is unlocked for you." in browser.open(ASK).text
    send(browser, fill(browser, scopes=["openid", "email"]))
    assert Application.objects.get().registered_scopes == ["openid", "email"]


def test_what_is_not_locked_has_no_page(browser: Browser) -> None:
    for scope in ("identify", "profile"):
        assert browser.open(f"/dashboard/apps/scopes/{scope}/").response.status_code == 404


def test_only_ones_own_requests_for_scopes_are_withdrawn_here(browser: Browser, user: User) -> None:
    foreign = access_requests.ask_for_scope(user=UserFactory.create(), scope="email", reason="Because.")
    key = ApiKeyFactory.create(owner=user)
    mine = access_requests.ask_for_permission(key=key, permission="lookup:user", reason="Because.")
    token = browser.open(NEW).form("ticket").fields["csrfmiddlewaretoken"]
    for asked in (foreign, mine):
        path = f"/dashboard/apps/scope-requests/{asked.pk}/withdraw/"
        assert browser.client.post(path, {"csrfmiddlewaretoken": token}).status_code == 404
        asked.refresh_from_db()
        assert asked.state == "PENDING"


def previewed(browser: Browser, path: str, data: dict[str, Any]) -> str:
    browser.response = browser.client.post(path, data)
    assert browser.response.status_code == 200
    return browser.text


def test_the_preview_shows_what_is_typed_and_saves_nothing(browser: Browser) -> None:
    data = fill(browser, name="My <i>app</i>", scopes=["openid", "offline_access"], preview="1")
    text = previewed(browser, NEW, data)
    assert "My <i>app</i> wants to use your Hearth account" in text
    assert "Signed in as Ada" in text
    assert "Stays signed in for 30 days" in text
    assert "You go to app.example." in text
    assert problems_of(browser.response) == []
    assert not Application.objects.exists()


def test_the_preview_alone_is_the_same_consent_screen(browser: Browser) -> None:
    text = previewed(
        browser,
        "/dashboard/apps/preview/",
        fill(browser, name="", redirect_urls=["*"], scopes=[], privacy_url="javascript:alert(1)"),
    )
    assert "Your app wants to use your Hearth account" in text
    assert "Choose a scope to see" in text
    assert browser.page.xpath("//a/@href") == []
    assert "<html" not in browser.response.content.decode()
    assert not Application.objects.exists()


def test_the_preview_of_an_app_knows_its_users_and_shows_the_new_logo(browser: Browser, app: Application) -> None:
    ApprovalFactory.create_batch(3, application=app)
    data = fill(browser, name="Other", logo=picture(10, 10))
    text = previewed(browser, f"/dashboard/apps/{app.client_id}/preview/", data)
    assert "3 people use it" in text
    assert browser.page.xpath("//img/@src")[0].startswith("data:image/png;base64,")
    settings = f"/dashboard/apps/{app.client_id}/settings/"
    data |= {"version": versions.of(app.updated), "preview": "1", "logo": ""}
    assert "Other wants to use your Hearth account" in previewed(browser, settings, data)
    app.refresh_from_db()
    assert app.name == "Ada's app"
