"""The account page, the list of connected apps, the sessions page, and deleting one's own account."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.mail import EmailMessage
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts import deletions
from accounts.models import AccountDeletion, AuditEvent, JobRun, User
from accounts.plans import Plan
from config.jobs import SCHEDULE
from dashboard.account import actions as account_actions
from dashboard.account import queries as account_queries
from dashboard.account.forms import DeletionForm
from dashboard.account.queries import Mail, Security
from oidc_provider.applications.transfers import Estate
from oidc_provider.models import LastUse
from tests.dashboard.signing_in import browser_of
from tests.factories.accounts import PASSWORD, ApiKeyFactory, LinkedAccountFactory, StaffFactory, UserFactory
from tests.factories.oidc_provider import ApprovalFactory
from tests.lookup import statements
from tests.pages.markup import problems_of
from tests.support.browser import Browser

ACCOUNT = "/dashboard/account/"
APPS = "/accounts/connected-apps/"


def test_the_page_shows_the_state_of_the_account(browser: Browser, user: User) -> None:
    text = browser.open(ACCOUNT).text
    assert problems_of(browser.response) == []
    for words in ("ada@example.org Confirmed", "Second factors None", "1 browser signed in", "Plan Free"):
        assert words in text
    ends = timezone.now() + timedelta(days=40)
    User.objects.update(plan=Plan.PREMIUM, plan_expires_at=ends, display_name="Countess")
    EmailAddress.objects.update(verified=False)
    Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data={})
    Authenticator.objects.create(user=user, type=Authenticator.Type.TOTP, data={})
    LinkedAccountFactory(user=user, name="lovelace")
    ApprovalFactory(user=user)
    text = browser.open(ACCOUNT).text
    for words in (
        f"Premium, until {ends:%-d %B %Y}",
        "Countess",
        "Not confirmed",
        "1 passkey, authenticator app",
        "Recovery codes none left",
        "Chat platform: lovelace",
        "Connected apps 1",
    ):
        assert words in text
    User.objects.update(plan_expires_at=timezone.now())
    assert "Plan Free" in browser.open(ACCOUNT).text


@pytest.mark.parametrize(
    ("security", "has_few"),
    [
        (Security(passkeys=0, has_app=True, codes=2), True),
        (Security(passkeys=0, has_app=True, codes=3), False),
        (Security(passkeys=1, has_app=False, codes=None), True),
        (Security(passkeys=0, has_app=False, codes=None), False),
    ],
)
def test_fewer_than_three_recovery_codes_beside_a_second_factor_are_few(security: Security, has_few: bool) -> None:
    assert security.has_few_codes == has_few


def test_the_primary_address_is_the_one_that_counts(user: User) -> None:
    EmailAddress.objects.filter(user=user).update(primary=False)
    EmailAddress.objects.create(user=user, email="later@example.org", verified=False, primary=True)
    assert account_queries.mail_of(user) == Mail("later@example.org", is_verified=False)


@pytest.mark.embedded
def test_connected_apps_show_their_last_use_and_ten_cost_as_much_as_one(browser: Browser, user: User) -> None:
    counts = []
    for amount in (1, 9):
        for _ in range(amount):
            approval = ApprovalFactory(user=user)
        used = timezone.now() - timedelta(days=3)
        LastUse.objects.create(application=approval.application, user=user, used_at=used)
        browser.open(APPS)
        counts.append(statements.names(lambda: browser.open(APPS)))
    assert counts[0] == counts[1]
    assert f"Last used on {used:%-d %B %Y}." in browser.text
    assert problems_of(browser.response) == []


FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0"
LIST = "/accounts/sessions/"


def end(browser: Browser, session: UserSession) -> Browser:
    path = f"/dashboard/account/sessions/{session.pk}/end/"
    (form,) = browser.page.xpath(f"//form[@action='{path}']")
    browser.response = browser.client.post(path, dict(form.form_values()), follow=True)
    return browser


def session_of(browser: Browser) -> UserSession:
    return UserSession.objects.get(session_key=browser.client.session.session_key)


def test_a_session_is_named_after_its_browser_and_system(user: User) -> None:
    browser = browser_of(user)
    UserSession.objects.update(user_agent=FIREFOX)
    (row,) = browser.open(LIST).page.xpath("//li[.//span[text()='This browser']]")
    assert "Firefox 130 on Windows" in row.text_content()
    assert row.xpath(".//span[@title]/@title") == [FIREFOX]
    assert "From 127.0.0.1" in row.text_content()


def test_another_browser_is_signed_out_and_this_one_stays(browser: Browser, user: User) -> None:
    other, third = Browser().open("/accounts/login/").submit(login="Ada", password=PASSWORD), browser_of(user)
    end(browser.open(LIST), session_of(other))
    assert "Browser signed out." in browser.text
    assert [each.user() for each in (browser, other, third)] == [user, None, user]
    assert AuditEvent.objects.filter(verb="user:session_ended", actor=user).count() == 1


def test_this_browser_is_marked_and_can_sign_itself_out(browser: Browser, user: User) -> None:
    other = browser_of(user)
    browser.open(LIST)
    (row,) = browser.page.xpath("//li[.//span[text()='This browser']]")
    assert row.xpath(".//form/@action") == [f"/dashboard/account/sessions/{session_of(browser).pk}/end/"]
    end(browser, session_of(browser))
    assert browser.user() is None
    assert other.user() == user


def test_a_session_of_another_user_cannot_be_ended(browser: Browser) -> None:
    other = UserFactory()
    theirs = browser_of(other)
    path = f"/dashboard/account/sessions/{session_of(theirs).pk}/end/"
    token = browser.open(LIST).page.xpath("//input[@name='csrfmiddlewaretoken']/@value")[0]
    assert browser.client.get(path).status_code == 405
    assert browser.client.post(path, {"csrfmiddlewaretoken": token}).status_code == 404
    assert theirs.user() == other


DELETE, DATA, KEEP = (f"/dashboard/account/{page}/" for page in ("delete", "data", "keep"))
WEEK = timedelta(days=7)
BANNER = "Your account will be deleted on"


def test_an_account_is_asked_to_be_deleted_and_kept_after_all(browser: Browser, user: User) -> None:
    browser.open(DELETE)
    assert problems_of(browser.response) == []
    browser.submit(username="Ada")
    deletion = AccountDeletion.objects.get()
    assert deletion.user == user
    assert deletion.due_at - deletion.asked_at == WEEK
    assert browser.response.request["PATH_INFO"] == DATA
    assert problems_of(browser.response) == []
    for page in (
        "/dashboard/",
        "/dashboard/account/",
        "/dashboard/api-keys/",
        "/accounts/email/",
        "/accounts/sessions/",
    ):
        assert BANNER in browser.open(page).text
    assert browser.user() == user
    _keep(browser)
    assert not AccountDeletion.objects.exists()
    assert "Your account stays." in browser.text
    assert BANNER not in browser.text
    assert BANNER not in browser.open("/dashboard/").text
    verbs = AuditEvent.objects.filter(actor=user).order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["user:deletion_asked", "user:deletion_stopped"]


def _keep(browser: Browser) -> None:
    (form,) = browser.page.xpath(f"//form[@action='{KEEP}']")
    browser.response = browser.client.post(KEEP, dict(form.form_values()), follow=True)


def test_the_user_gets_a_letter_about_each_change_and_about_nothing_else(
    user: User, mailoutbox: list[EmailMessage], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        account_actions.ask_for_deletion(user=user, by=user)
        assert account_actions.keep(user=user, by=user)
        assert not account_actions.keep(user=user, by=user)
    asked, stopped = mailoutbox
    assert "Your account will be deleted" in asked.subject
    assert "Keep my account" in asked.body
    assert "Your account stays" in stopped.subject


@pytest.mark.parametrize("typed", ["", "ada", "Grace"])
def test_only_the_exact_username_deletes_the_account(typed: str) -> None:
    form = DeletionForm({"username": typed}, user=User(username="Ada"), estate=Estate([], []), owned=[])
    assert not form.is_valid()


def test_an_old_login_is_asked_for_the_password_before_the_deletion(user: User) -> None:
    fresh, old = browser_of(user), browser_of(user, password_age=301)
    fresh.open(DELETE)
    old.client.cookies["csrftoken"] = fresh.client.cookies["csrftoken"].value
    old.response = fresh.response
    old.submit(username="Ada")
    assert old.response.request["PATH_INFO"] == "/accounts/reauthenticate/"
    assert not AccountDeletion.objects.exists()
    old.submit(password=PASSWORD)
    assert AccountDeletion.objects.get().user == user


def test_staff_read_why_they_cannot(db: None) -> None:
    client = browser_of(StaffFactory()).client
    client.handler.enforce_csrf_checks = False
    for answer in (client.get(DELETE), client.post(DELETE, {"username": "Ada"})):
        assert (answer.status_code, answer["Location"]) == (302, DATA)
    assert "Staff cannot delete their own account" in client.get(DATA).content.decode()
    assert not AccountDeletion.objects.exists()


def test_neither_staff_nor_others_can_ask(user: User) -> None:
    staff = StaffFactory(is_superuser=False)
    for account in (staff, user):
        with pytest.raises(PermissionDenied):
            deletions.ask(user=account, by=staff)


def test_a_get_changes_nothing(browser: Browser, user: User) -> None:
    browser.client.get(DELETE)
    assert not AccountDeletion.objects.exists()
    deletions.ask(user=user, by=user)
    assert browser.client.get(KEEP).status_code == 405
    assert AccountDeletion.objects.exists()


def _due(user: User, now: datetime) -> None:
    AccountDeletion.objects.create(user=user, asked_at=now - WEEK, due_at=now)


def test_the_job_deletes_what_is_due_and_nothing_else(user: User) -> None:
    now = timezone.now()
    ApiKeyFactory(owner=user)
    later, kept = UserFactory(), UserFactory()
    _due(user, now)
    _due(later, now + timedelta(minutes=10))
    assert call_command("delete_accounts") == "Deleted 1 accounts."
    assert set(User.objects.all()) == {later, kept}
    event = AuditEvent.objects.get(verb="user:deleted")
    assert (event.object_id, event.actor_kind, event.reason) == (user.pk, "SYSTEM", "Asked for by the person.")
    assert call_command("delete_accounts") == "Deleted 0 accounts."


def test_one_that_cannot_be_deleted_does_not_hold_up_the_others(
    user: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now, other = timezone.now(), UserFactory()
    _due(user, now - timedelta(hours=1))
    _due(other, now)
    monkeypatch.setitem(HELD, "user", user.pk)
    monkeypatch.setitem(settings.RECEIVERS, "user_deleted", [f"{__name__}.refuse"])
    with pytest.raises(CommandError, match="1 accounts could not be deleted, 1 were"):
        call_command("delete_accounts")
    assert list(User.objects.all()) == [user]
    assert not JobRun.objects.get(pk="delete_accounts").has_succeeded(timezone.now())
    assert f"The account {user.pk} could not be deleted." in caplog.text


HELD: dict[str, str] = {}


def refuse(user: User) -> None:
    """A hook of a room above that fails for one account."""
    if user.pk == HELD["user"]:
        raise RuntimeError("the storage is away")


def test_the_jobs_are_on_the_schedule() -> None:
    assert (SCHEDULE["delete_accounts"], SCHEDULE["remind_of_keys"]) == (timedelta(hours=1), timedelta(days=1))
