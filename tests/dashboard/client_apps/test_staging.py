"""A staging app beside a live one: apart in everything but the settings that are copied."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import pytest
from django.core.exceptions import ValidationError
from django.db import connections, transaction
from django.test import Client

from accounts.models import AuditEvent, User
from dashboard.client_apps import redirect_editor
from oidc_provider.applications import application_rules, applications, logos, staging, transfers
from oidc_provider.models import Application
from tests.dashboard.profile.editor import picture
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import ApplicationFactory
from tests.oidc_provider.protocol import authorize
from tests.pages.markup import problems_of
from tests.support.browser import Browser
from tests.support.threads import wait_for_a_blocked_statement

pytestmark = pytest.mark.django_db


def page_of(app: Application, page: str = "") -> str:
    return f"/dashboard/apps/{app.client_id}/{page}"


def press(browser: Browser, path: str) -> Browser:
    """Open a page that asks, and press its button."""
    browser.open(path)
    assert problems_of(browser.response) == []
    (form,) = browser.page.xpath("//main//form")
    browser.response = browser.client.post(path, dict(form.form_values()), follow=True)
    return browser


@pytest.fixture
def staged(app: Application, user: User) -> Application:
    return staging.create(application=app, by=user).application


def suspensions(*apps: Application) -> list[str]:
    """Return the reason of each suspended app, the empty string for the others."""
    return [Application.objects.get(pk=app.pk).suspension_reason for app in apps]


def png() -> bytes:
    return logos.encode(BytesIO(picture().read()))


def test_a_staging_app_begins_as_a_copy_with_an_id_and_a_secret_of_its_own(
    browser: Browser, app: Application, user: User
) -> None:
    applications.change_details(application=app, by=user, support_url="https://app.example/help")
    logos.change(application=app, png=png(), by=user)
    browser.open(page_of(app, "create-staging/"))
    assert browser.page.xpath("//a[text()='Cancel']/@href") == [page_of(app)]
    press(browser, page_of(app, "create-staging/"))
    made = Application.objects.get(staging_of=app)
    assert "The staging app of Ada's app is registered" in browser.text
    secret = str(browser.page.get_element_by_id("copy-client-secret").text_content())
    assert made.check_secret(secret)
    assert not app.check_secret(secret)
    assert (made.client_id == app.client_id, made.user_id) == (False, user.pk)
    assert (made.name, made.support_url) == (app.name, "https://app.example/help")
    assert made.registered_scopes == app.registered_scopes
    assert made.redirect_urls == ["http://127.0.0.1/callback"]
    assert logos.of(made) == logos.of(app)
    assert AuditEvent.objects.get(verb="application:registered").object_id == str(made.pk)
    for one, other in ((app, made), (made, app)):
        assert page_of(other) in browser.open(page_of(one)).response.content.decode()
    assert "Staging" in browser.open("/dashboard/apps/").text


def test_an_app_has_one_staging_app_and_that_one_has_none(
    browser: Browser, app: Application, user: User, staged: Application
) -> None:
    for one in (app, staged):
        assert "has a staging app already, or is one" in press(browser, page_of(one, "create-staging/")).text
    applications.suspend(application=app, by=None, reason="Spam")
    applications.delete(application=staged, by=user)
    with pytest.raises(ValidationError, match="A suspended app gets no staging app"):
        staging.create(application=app, by=user)
    assert Application.objects.count() == 1


def test_a_staging_app_does_not_count_as_an_app(browser: Browser, app: Application, user: User) -> None:
    for number in range(application_rules.MAX_APPLICATIONS - 1):
        ApplicationFactory.create(user=user, name=f"App number {number}")
    staging.create(application=app, by=user)
    assert "Limit reached" in browser.open("/dashboard/apps/").text
    other = user.applications.filter(staging_of=None).exclude(pk=app.pk).earliest("pk")
    applications.delete(application=other, by=user)
    assert "Limit reached" not in browser.open("/dashboard/apps/").text
    applications.register(owner=user, name="One more", redirect_urls=["https://a.example/"], scopes=["openid"], by=user)


@pytest.mark.parametrize("is_to_live", [False, True])
def test_settings_are_copied_either_way_once_the_page_has_shown_what_changes(
    browser: Browser, app: Application, user: User, staged: Application, is_to_live: bool
) -> None:
    source, target = (staged, app) if is_to_live else (app, staged)
    applications.verify(application=target, by=None)
    applications.change_details(application=source, by=user, name="Renamed", terms_url="https://app.example/terms")
    applications.change_scopes(application=source, scopes=["openid", "offline_access"], by=user)
    logos.change(application=source, png=png(), by=user)
    applications.change_details(application=source, by=user, backchannel_logout_uri="https://app.example/logout")
    own = ("redirect_uris", "client_id", "client_secret", "backchannel_logout_uri")
    kept = Application.objects.values_list(*own).get(pk=target.pk)
    text = browser.open(page_of(target, "copy-settings/")).text
    for words in (
        "Ada's app becomes Renamed",
        "none becomes https://app.example/terms",
        "Logo none becomes another one",
    ):
        assert words in text
    assert "removed identify added offline_access" in text
    press(browser, page_of(target, "copy-settings/"))
    assert "Settings copied" in browser.text
    copied = Application.objects.get(pk=target.pk)
    assert (copied.name, copied.terms_url) == ("Renamed", "https://app.example/terms")
    assert copied.registered_scopes == ["openid", "offline_access"]
    assert logos.of(copied) == logos.of(source)
    assert tuple(getattr(copied, name) for name in own) == kept
    assert not copied.is_verified
    assert "have the same name, links, scopes and logo" in browser.open(page_of(target, "copy-settings/")).text


def test_what_changed_after_the_page_was_opened_is_not_copied(
    browser: Browser, app: Application, user: User, staged: Application
) -> None:
    applications.change_details(application=app, by=user, name="First")
    version = browser.open(page_of(staged, "copy-settings/")).form("version").fields["version"]
    applications.change_details(application=app, by=user, name="Second")
    browser.submit(version=version)
    assert browser.errors() == [staging.CHANGED]
    staged.refresh_from_db()
    assert staged.name == "Ada's app"


def test_a_scope_that_was_locked_meanwhile_is_not_copied(
    browser: Browser, app: Application, user: User, staged: Application
) -> None:
    Application.objects.filter(pk=app.pk).update(registered_scopes=["openid", "email"])
    assert "email is locked" in press(browser, page_of(staged, "copy-settings/")).text
    staged.refresh_from_db()
    assert staged.registered_scopes == ["openid", "identify"]


def test_a_live_app_takes_its_staging_app_along_when_it_is_suspended_or_deleted(
    app: Application, user: User, staged: Application
) -> None:
    applications.suspend(application=app, by=None, reason="Spam")
    assert suspensions(app, staged) == ["Spam", "Spam"]
    with pytest.raises(ValidationError, match="Restore the live app first"):
        applications.restore(application=staged, by=None)
    applications.restore(application=app, by=None)
    assert suspensions(app, staged) == ["", "Spam"]
    applications.restore(application=staged, by=None)
    assert suspensions(app, staged) == ["", ""]
    applications.suspend(application=staged, by=None, reason="Spam")
    assert suspensions(app, staged) == ["", "Spam"]
    applications.delete(application=app, by=user)
    assert not Application.objects.exists()
    assert AuditEvent.objects.filter(verb="application:deleted").count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_staging_app_is_not_restored_while_its_live_app_is_being_suspended(
    app: Application, staged: Application
) -> None:
    applications.suspend(application=staged, by=None, reason="First")

    def restore() -> None:
        try:
            applications.restore(application=staged, by=None)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            applications.suspend(application=app, by=None, reason="Spam")
            restoring = pool.submit(restore)
            wait_for_a_blocked_statement()
        with pytest.raises(ValidationError, match="Restore the live app first"):
            restoring.result()
    assert suspensions(app, staged) == ["Spam", "First"]


def test_an_account_is_deleted_with_both(app: Application, user: User, staged: Application) -> None:
    transfers.delete_of_user(user)
    assert not Application.objects.exists()


def test_the_consent_page_says_that_it_is_a_staging_app(app: Application, user: User, staged: Application) -> None:
    visitor = Client()
    visitor.force_login(UserFactory.create())
    for one, is_marked in ((app, False), (staged, True)):
        answer = authorize(visitor, one, scope="openid", redirect_uri=one.redirect_urls[0])
        page = visitor.get(answer["Location"]).content.decode()
        assert ("This is a staging app," in page) is is_marked


def test_the_editor_of_a_staging_app_gives_no_advice_about_this_device(browser: Browser) -> None:
    urls = ["http://localhost:3000/callback"]
    assert redirect_editor.rows_of(urls)[0].advice
    assert not redirect_editor.rows_of(urls, is_staging=True)[0].advice
    token = browser.open("/dashboard/apps/new/").form("ticket").fields["csrfmiddlewaretoken"]
    data = {"csrfmiddlewaretoken": token, "redirect_urls": urls}
    advice = [
        browser.client.post(f"/dashboard/apps/check-redirects/{query}", data).json()["rows"][0]["advice"]
        for query in ("", "?staging")
    ]
    assert [bool(words) for words in advice] == [True, False]
