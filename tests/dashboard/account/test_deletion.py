"""Deleting one's own account: asked for, stopped, and carried out by the job."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.core.mail import EmailMessage
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from time_machine import travel

from accounts import deletions
from accounts.models import AccountDeletion, AuditEvent, JobRun, User
from config.jobs import SCHEDULE
from tests.support.browser import Browser
from tests.factories.accounts import PASSWORD, ApiKeyFactory, StaffFactory, UserFactory
from tests.pages.markup import problems_of

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


def test_both_are_told_by_mail(
    browser: Browser, mailoutbox: list[EmailMessage], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        browser.open(DELETE).submit(username="Ada")
        _keep(browser)
    told, stopped = mailoutbox
    assert "Your account will be deleted" in told.subject
    assert "Keep my account" in told.body
    assert "Your account stays" in stopped.subject


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("", "This field is required."),
        ("ada", "This is not your username; it is written exactly as on your account page."),
        ("Grace", "This is not your username; it is written exactly as on your account page."),
    ],
)
def test_another_name_deletes_nothing(browser: Browser, typed: str, message: str) -> None:
    browser.open(DELETE).submit(username=typed)
    assert browser.errors() == [message]
    assert not AccountDeletion.objects.exists()


def test_a_login_of_long_ago_is_asked_for_the_password_and_the_request_goes_on(browser: Browser, user: User) -> None:
    browser.open(DELETE)
    session = browser.client.session
    records = session["account_authentication_methods"]
    session["account_authentication_methods"] = [{**record, "at": record["at"] - 3600} for record in records]
    session.save()
    browser.submit(username="Ada")
    assert browser.response.request["PATH_INFO"] == "/accounts/reauthenticate/"
    assert not AccountDeletion.objects.exists()
    browser.submit(password=PASSWORD)
    assert AccountDeletion.objects.get().user == user


def test_asking_again_does_not_move_the_day(user: User) -> None:
    first = deletions.ask(user=user, by=user)
    with travel(timezone.now() + timedelta(days=3)):
        assert deletions.ask(user=user, by=user).due_at == first.due_at


def test_staff_are_told_why_not_instead_of_asked(db: None) -> None:
    staff = StaffFactory()
    client = Client()
    client.post("/accounts/login/", {"login": staff.username, "password": PASSWORD})
    for answer in (client.get(DELETE), client.post(DELETE, {"username": staff.username})):
        assert (answer.status_code, answer["Location"]) == (302, DATA)
    assert "only a superuser can delete your account" in client.get(DATA).content.decode()
    assert not AccountDeletion.objects.exists()


def test_staff_cannot(db: None) -> None:
    staff = StaffFactory(is_superuser=False)
    with pytest.raises(PermissionDenied):
        deletions.ask(user=staff, by=staff)
    with pytest.raises(PermissionDenied):
        deletions.ask(user=UserFactory(), by=staff)


@pytest.mark.parametrize("path", [DELETE, KEEP, DATA, "/dashboard/account/data/download/"])
def test_nobody_does_it_without_login(path: str, user: User) -> None:
    deletions.ask(user=user, by=user)
    for answer in (Client().get(path), Client().post(path)):
        assert answer.status_code in {302, 405}
        assert answer.headers.get("Location", "/accounts/login/").startswith("/accounts/login/")
    assert AccountDeletion.objects.exists()


@pytest.mark.parametrize("path", [DELETE, KEEP])
def test_opening_a_page_changes_nothing(browser: Browser, user: User, path: str) -> None:
    browser.client.get(path)
    assert not AccountDeletion.objects.exists()
    deletions.ask(user=user, by=user)
    browser.client.get(path)
    assert AccountDeletion.objects.exists()


def test_the_banner_costs_one_query(browser: Browser, user: User) -> None:
    counts = []
    for _ in range(2):
        browser.open("/dashboard/account/")
        with CaptureQueriesContext(connection) as captured:
            browser.open("/dashboard/account/")
        counts.append(len([query for query in captured if "accountdeletion" in query["sql"]]))
        deletions.ask(user=user, by=user)
    assert counts == [1, 1]


def _due(user: User, now: datetime) -> None:
    AccountDeletion.objects.create(user=user, asked_at=now - WEEK, due_at=now)


def test_the_job_deletes_what_is_due_and_nothing_else(user: User) -> None:
    now = timezone.now()
    ApiKeyFactory(owner=user)
    later, kept = UserFactory(), UserFactory()
    _due(user, now)
    _due(later, now + timedelta(hours=1))
    assert call_command("delete_accounts") == "Deleted 1 accounts."
    assert set(User.objects.all()) == {later, kept}
    event = AuditEvent.objects.get(verb="user:deleted")
    assert (event.object_id, event.actor_kind, event.reason) == (user.pk, "SYSTEM", "Asked for by the person.")
    assert call_command("delete_accounts") == "Deleted 0 accounts."


def test_who_stopped_it_or_became_staff_or_was_banned_in_the_meantime_stays(user: User) -> None:
    now = timezone.now()
    people = [user, UserFactory(), UserFactory()]
    for person in people:
        _due(person, now)
    assert set(deletions.due(now)) == {person.pk for person in people}
    deletions.stop(user=people[0], by=people[0])
    User.objects.filter(pk=people[1].pk).update(is_staff=True)
    User.objects.filter(pk=people[2].pk).update(is_active=False)
    assert [deletions.carry_out(person.pk, now=now) for person in people] == [False, False, False]
    assert deletions.due(now) == []
    assert User.objects.count() == 3


def test_one_that_cannot_be_deleted_does_not_hold_up_the_others(
    user: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now, other = timezone.now(), UserFactory()
    _due(user, now - timedelta(hours=1))
    _due(other, now)
    monkeypatch.setitem(HELD, "user", user.pk)
    monkeypatch.setattr("django.conf.settings.ON_DELETE", [f"{__name__}.refuse"])
    with pytest.raises(CommandError, match="1 accounts could not be deleted, 1 were"):
        call_command("delete_accounts")
    assert list(User.objects.all()) == [user]
    assert not JobRun.objects.get(pk="delete_accounts").has_succeeded()
    assert f"The account {user.pk} could not be deleted." in caplog.text


HELD: dict[str, str] = {}


def refuse(user: User) -> None:
    """A hook of a room above that fails for one account."""
    if user.pk == HELD["user"]:
        raise RuntimeError("the storage is away")


def test_a_deletion_without_days_of_grace_is_refused_by_the_table(user: User) -> None:
    now = timezone.now()
    with pytest.raises(IntegrityError):
        AccountDeletion.objects.create(user=user, asked_at=now, due_at=now)


def test_the_jobs_are_on_the_schedule() -> None:
    assert SCHEDULE["delete_accounts"] == timedelta(hours=1)
    assert SCHEDULE["remind_of_keys"] == timedelta(days=1)
