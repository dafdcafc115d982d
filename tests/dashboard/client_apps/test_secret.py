"""Resetting the secret: deliberately, once, and with a mail to the owner."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from allauth.account.app_settings import REAUTHENTICATION_TIMEOUT
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.db import transaction
from django.utils import timezone

from accounts.models import AuditEvent, User
from dashboard import versions
from dashboard.client_apps import actions as apps_actions
from dashboard.client_apps import queries as apps_queries
from oidc_provider.applications import applications
from oidc_provider.models import Application, Grant, RefreshToken
from tests.dashboard.signing_in import browser_of
from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import CLIENT_SECRET
from tests.pages.markup import problems_of
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db


def page_of(app: Application) -> str:
    return f"/dashboard/apps/{app.client_id}/reset-secret/"


def used_code(app: Application, user: User, hours_ago: float) -> None:
    now = timezone.now()
    Grant.objects.create(
        application=app,
        user=user,
        code=uuid4().hex,
        redirect_uri="https://app.example.org/callback",
        expires=now,
        auth_time=0,
        scope="openid",
        used_at=now - timedelta(hours=hours_ago),
    )


def refreshed(app: Application, user: User, hours_ago: float) -> None:
    token = RefreshToken.objects.create(
        application=app,
        user=user,
        token_checksum=uuid4().hex,
        token_family=uuid4(),
        scope="openid",
        auth_time=0,
        expires_at=timezone.now() + timedelta(days=30),
    )
    RefreshToken.objects.filter(pk=token.pk).update(created=timezone.now() - timedelta(hours=hours_ago))


def test_the_new_secret_works_and_the_old_one_does_not(
    browser: Browser, app: Application, user: User, django_capture_on_commit_callbacks: type
) -> None:
    browser.open(page_of(app))
    assert problems_of(browser.response) == []
    with django_capture_on_commit_callbacks(execute=True):
        browser.submit(typed_name="Ada's app")
    app.refresh_from_db()
    secret = str(browser.page.get_element_by_id("copy-client-secret").text_content())
    assert app.check_secret(secret)
    assert not app.check_secret(CLIENT_SECRET)
    assert "no-store" in browser.response.headers["Cache-Control"]
    event = AuditEvent.objects.get(verb="application:secret_reset")
    assert (event.actor, event.object_id) == (user, str(app.pk))
    [letter] = mail.outbox
    assert letter.to == [user.email]
    assert letter.subject == "Hearth: The secret of Ada's app was reset"
    assert app.client_id in letter.body
    assert f"/dashboard/apps/{app.client_id}/activity/" in letter.body
    assert secret not in letter.body


def test_the_letter_of_a_reset_that_is_rolled_back_is_not_sent(
    app: Application, user: User, django_capture_on_commit_callbacks: type
) -> None:
    version = versions.of(app.secret_changed_at)
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        apps_actions.reset_secret(application=app, by=user, version=version)
        transaction.set_rollback(True)
    assert mail.outbox == []


def test_a_mail_server_that_refuses_does_not_undo_the_reset(
    app: Application,
    user: User,
    django_capture_on_commit_callbacks: type,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def refuse(*arguments: object) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(EmailBackend, "send_messages", refuse)
    version = versions.of(app.secret_changed_at)
    with django_capture_on_commit_callbacks(execute=True):
        secret = apps_actions.reset_secret(application=app, by=user, version=version)
    app.refresh_from_db()
    assert app.check_secret(secret)
    assert [record.getMessage() for record in caplog.records] == ["An email could not be sent."]


def test_a_page_that_is_sent_twice_resets_once(browser: Browser, app: Application) -> None:
    form = browser.open(page_of(app)).form("typed_name")
    form.fields["typed_name"] = "Ada's app"
    data = dict(form.form_values())
    first = browser.client.post(page_of(app), data)
    browser.response = browser.client.post(page_of(app), data)
    assert browser.errors() == [apps_actions.RESET_MEANWHILE]
    browser.response = first
    secret = browser.page.get_element_by_id("copy-client-secret").text_content()
    assert Application.objects.get().check_secret(secret)
    assert AuditEvent.objects.filter(verb="application:secret_reset").count() == 1


def test_who_proved_nothing_of_late_is_asked_first(user: User, app: Application) -> None:
    browser = browser_of(user, password_age=REAUTHENTICATION_TIMEOUT)
    for page in ("reset-secret", "add-secret", "secrets/1/remove", "delete"):
        browser.open(f"/dashboard/apps/{app.client_id}/{page}/")
        assert browser.response.request["PATH_INFO"] == "/accounts/reauthenticate/"


def test_the_page_tells_how_many_people_signed_in_today(browser: Browser, app: Application) -> None:
    assert "No user signed in with the app in the last 24 hours." in browser.open(page_of(app)).text
    one, two, yesterday = UserFactory.create_batch(3)
    used_code(app, one, 1)
    used_code(app, one, 2)
    refreshed(app, one, 1)
    refreshed(app, two, 23)
    used_code(app, yesterday, 25)
    assert "2 people signed in with the app in the last 24 hours." in browser.open(page_of(app)).text


def facts(app: Application, user: User, now: datetime) -> list[apps_queries.SecretFacts]:
    return apps_queries.secrets_of(Application.objects.get(pk=app.pk), reader=user, now=now)


def test_a_secret_knows_who_made_it_and_whether_it_was_used(browser: Browser, app: Application, user: User) -> None:
    overview = f"/dashboard/apps/{app.client_id}/"
    assert "Not used yet" in browser.open(overview).text
    mine = Application.objects.filter(pk=app.pk)
    mine.update(secret_changed_at=timezone.now() - timedelta(hours=25))
    assert "Never used" in browser.open(overview).text
    mine.update(secret_changed_at=timezone.now() - timedelta(days=91))
    assert "Not used in the last 90 days" in browser.open(overview).text
    mine.update(secret_used_at=datetime(2026, 1, 2, 12, tzinfo=UTC))
    assert "Last used 2 January 2026, 12:00 UTC" in browser.open(overview).text
    secret = applications.reset_secret(application=app, by=user)
    text = browser.open(overview).text
    assert f"Ends in {secret[-4:]}" in text
    assert "by you" in text
    (found,) = facts(app, user, timezone.now() + timedelta(hours=25))
    assert (found.hint, found.last_used_at, found.is_unused) == (secret[-4:], None, True)


def add_page(app: Application) -> str:
    return f"/dashboard/apps/{app.client_id}/add-secret/"


def test_a_second_secret_is_shown_once_and_works_beside_the_first(
    browser: Browser, app: Application, user: User, django_capture_on_commit_callbacks: type
) -> None:
    version = browser.open(add_page(app)).form("version").fields["version"]
    assert problems_of(browser.response) == []
    assert browser.page.xpath("//a[text()='Cancel']/@href") == [f"/dashboard/apps/{app.client_id}/"]
    with django_capture_on_commit_callbacks(execute=True):
        browser.submit(version=version)
    app.refresh_from_db()
    secret = str(browser.page.get_element_by_id("copy-client-secret").text_content())
    assert app.check_secret(secret)
    assert app.check_secret(CLIENT_SECRET)
    assert secret not in {app.client_secret, app.second_secret}
    assert "no-store" in browser.response.headers["Cache-Control"]
    assert "The first secret works on." in browser.text
    event = AuditEvent.objects.get(verb="application:secret_added")
    assert (event.actor, event.data["hint"]) == (user, secret[-4:])
    [letter] = mail.outbox
    assert letter.subject == "Hearth: Ada's app has a second secret"
    assert secret not in letter.body
    text = browser.open(f"/dashboard/apps/{app.client_id}/").text
    assert f"Ends in {secret[-4:]}" in text
    assert "Reset both secrets" in text
    assert "Add a second secret" not in text
    assert secret not in text


def test_there_is_never_a_third_secret(browser: Browser, app: Application, user: User) -> None:
    form = browser.open(add_page(app)).form("version")
    data = dict(form.form_values())
    assert browser.client.post(add_page(app), data).status_code == 200
    browser.response = browser.client.post(add_page(app), data)
    assert browser.errors() == [apps_actions.ADDED_MEANWHILE]
    version = browser.open(add_page(app)).form("version").fields["version"]
    browser.submit(version=version)
    assert browser.errors() == ["An app has two secrets at most. Remove one first."]
    assert AuditEvent.objects.filter(verb="application:secret_added").count() == 1


@pytest.mark.parametrize("removed", [0, 1])
def test_either_secret_is_removed_at_once_and_the_other_one_stays(
    browser: Browser, app: Application, user: User, removed: int, django_capture_on_commit_callbacks: type
) -> None:
    known = [CLIENT_SECRET, applications.add_secret(application=app, by=user)]
    before = facts(app, user, timezone.now())
    page = f"/dashboard/apps/{app.client_id}/secrets/{before[removed].version}/remove/"
    token = browser.open(page_of(app)).form("typed_name").fields["csrfmiddlewaretoken"]
    browser.open(page)
    assert problems_of(browser.response) == []
    with django_capture_on_commit_callbacks(execute=True):
        browser.response = browser.client.post(page, {"csrfmiddlewaretoken": token}, follow=True)
    assert "Secret removed. It no longer works." in browser.text
    app.refresh_from_db()
    assert [app.check_secret(secret) for secret in known] == [removed == 1, removed == 0]
    assert facts(app, user, timezone.now()) == [before[1 - removed]]
    assert AuditEvent.objects.get(verb="application:secret_removed").data["hint"] == before[removed].hint
    [letter] = mail.outbox
    assert letter.subject == "Hearth: A secret of Ada's app was removed"
    assert "This secret was removed already" in browser.open(page).text


def test_the_only_secret_stays(browser: Browser, app: Application, user: User) -> None:
    (only,) = facts(app, user, timezone.now())
    page = f"/dashboard/apps/{app.client_id}/secrets/{only.version}/remove/"
    assert "is the only one of the app" in browser.open(page).text
    token = browser.open(page_of(app)).form("typed_name").fields["csrfmiddlewaretoken"]
    browser.response = browser.client.post(page, {"csrfmiddlewaretoken": token}, follow=True)
    assert "This is the only secret of the app." in browser.text
    app.refresh_from_db()
    assert app.check_secret(CLIENT_SECRET)


def test_a_reset_of_a_page_older_than_the_second_secret_is_refused(
    browser: Browser, app: Application, user: User
) -> None:
    browser.open(page_of(app))
    second = applications.add_secret(application=app, by=user)
    browser.submit(typed_name="Ada's app")
    assert browser.errors() == [apps_actions.RESET_MEANWHILE]
    app.refresh_from_db()
    assert app.check_secret(second)
