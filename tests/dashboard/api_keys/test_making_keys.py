"""Making a key: what is asked, what comes of it, its secret shown once, and the reminder before it ends."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta

import pytest
from allauth.account.app_settings import REAUTHENTICATION_TIMEOUT
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from time_machine import travel

from accounts import bans
from accounts.api_keys import keys
from accounts.models import ApiKey, AuditEvent, JobRun, KeyDay, User
from dashboard.api_keys.forms import NewKeyForm
from dashboard.models import AccessRequest
from tests.dashboard.api_keys.pages import FORM_ID, live_keys
from tests.dashboard.signing_in import browser_of, client_of
from tests.factories.accounts import PASSWORD, ApiKeyFactory, UserFactory
from tests.pages.markup import parsed, problems_of
from tests.support.browser import Browser
from tests.support.threads import together

NEW = "/dashboard/api-keys/new/"
VALID = {"name": "Server", "permissions": ["imagehost:upload"], "ends": "90", "form_id": FORM_ID}


def test_a_key_for_uploads_works_at_once_and_its_secret_is_shown_once(browser: Browser, user: User) -> None:
    browser.open(NEW)
    form = browser.form("form_id")
    form.fields["name"] = "My server"
    form.xpath(".//input[@value='imagehost:upload']")[0].checked = True
    answer = browser.client.post(NEW, dict(form.form_values()))
    assert answer.status_code == 200
    assert "no-store" in answer.headers["Cache-Control"]
    assert problems_of(answer) == []
    key = user.api_keys.get()
    page = answer.content.decode()
    assert 'role="alert"' in page
    assert f"KEY=&#x27;{key.prefix}_" in page
    assert "/api/imagehost/upload" in page
    (secret,) = set(re.findall(rf"{key.prefix}_\w{{40}}", page))
    found = keys.find(secret)
    assert found == key
    assert (key.name, key.permissions) == ("My server", ["imagehost:upload"])
    assert secret not in browser.open(f"/dashboard/api-keys/{key.prefix}/").response.content.decode()
    assert browser.client.session.get("_messages") is None


def test_a_key_is_made_with_origins(browser: Browser, user: User) -> None:
    browser.open(NEW)
    form = browser.form("form_id")
    form.fields["name"] = "My page"
    form.fields["origins"] = "https://www.example.org\r\nhttp://localhost:3000"
    form.xpath(".//input[@value='imagehost:upload']")[0].checked = True
    assert browser.client.post(NEW, dict(form.form_values())).status_code == 200
    assert user.api_keys.get().origins.split() == ["https://www.example.org", "http://localhost:3000"]


@pytest.mark.parametrize(
    ("changes", "ends_at"),
    [
        ({"ends": "30"}, datetime(2026, 3, 31, 12, tzinfo=UTC)),
        ({"ends": "365"}, datetime(2027, 3, 1, 12, tzinfo=UTC)),
        ({"ends": "never", "ends_on": "2026-04-01"}, None),
        ({"ends": "date", "ends_on": "2026-03-01"}, datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC)),
        ({"ends": "date", "ends_on": "2027-03-01"}, datetime(2027, 3, 1, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_a_key_ends_when_its_owner_said(changes: dict[str, str], ends_at: datetime | None) -> None:
    with travel(datetime(2026, 3, 1, 12, tzinfo=UTC), tick=False):
        form = NewKeyForm({**VALID, **changes})
        assert form.is_valid()
        assert form.ends_at() == ends_at


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"name": ""}, "name", "This field is required."),
        ({"name": "x" * 65}, "name", "Ensure this value has at most 64 characters (it has 65)."),
        ({"permissions": []}, "permissions", "Choose at least one permission."),
        (
            {"permissions": ["lookup:user"]},
            "permissions",
            "Select a valid choice. lookup:user is not one of the available choices.",
        ),
        (
            {"requested": ["imagehost:upload"]},
            "requested",
            "Select a valid choice. imagehost:upload is not one of the available choices.",
        ),
        ({"requested": ["lookup:user"], "reason": "  "}, "reason", "Write what you need it for."),
        ({"ends": "date"}, "ends_on", "Choose the last day."),
        ({"ends": "date", "ends_on": "2026-02-28"}, "ends_on", "This day has passed."),
        (
            {"ends": "date", "ends_on": "2027-03-02"},
            "ends_on",
            "Choose a day within the next 365 days, or choose “Never”.",
        ),
        ({"ends": "31"}, "ends", "Select a valid choice. 31 is not one of the available choices."),
        ({"form_id": "?"}, "form_id", "Enter a valid value."),
    ],
)
def test_each_mistake_is_named_at_its_field(changes: dict[str, object], field: str, message: str) -> None:
    with travel(datetime(2026, 3, 1, 12, tzinfo=UTC), tick=False):
        assert NewKeyForm({**VALID, **changes}).errors == {field: [message]}


def test_a_field_that_some_choices_need_is_not_called_optional() -> None:
    with travel(datetime(2026, 3, 1, 12, tzinfo=UTC), tick=False):
        form = NewKeyForm({**VALID, "requested": ["lookup:user"], "ends": "date"})
    assert set(form.errors) == {"reason", "ends_on"}
    for name in form.errors:
        label = " ".join(parsed(form[name].as_field_group()).text_content().split())
        assert "(needed for permissions that need approval)" in label or "(for “On a date”)" in label
        assert "optional" not in label


def test_a_form_with_a_mistake_comes_back_and_makes_no_key(client: Client, user: User) -> None:
    answer = client.post(NEW, {**VALID, "name": ""})
    assert answer.context["form"].errors == {"name": ["This field is required."]}
    assert problems_of(answer) == []
    assert not user.api_keys.exists()


def test_a_key_may_be_made_with_requests_alone_and_has_no_permission_until_staff_grant_one(
    client: Client, user: User
) -> None:
    wanted = {"permissions": [], "requested": ["lookup:user", "account"], "reason": "A bot for my club"}
    page = client.post(NEW, {**VALID, **wanted}).content.decode()
    assert "This key has no permissions yet." in page
    key = user.api_keys.get()
    assert key.permissions == []
    asked = AccessRequest.objects.order_by("subject").values_list("subject", "key", "reason", "state")
    assert list(asked) == [(name, key.pk, "A bot for my club", "PENDING") for name in ("account", "lookup:user")]


def test_a_form_that_is_sent_twice_makes_one_key(client: Client, user: User) -> None:
    client.post(NEW, VALID)
    key = user.api_keys.get()
    answer = client.post(NEW, VALID)
    assert user.api_keys.count() == 1
    (message,) = answer.context["form"].non_field_errors()
    assert message.startswith(f"This form was sent twice. The key {key.prefix} is made")
    client.post(NEW, {**VALID, "form_id": FORM_ID[::-1]})
    assert user.api_keys.count() == 2


def test_each_form_makes_a_key_of_its_own(browser: Browser) -> None:
    assert len({browser.open(NEW).form("form_id").fields["form_id"] for _ in range(2)}) == 2


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_of_four_that_come_at_once_one_makes_the_key_and_no_place_is_taken_twice() -> None:
    owner = UserFactory()

    def make(form_id: str) -> bool:
        try:
            keys.issue(owner=owner, permissions=["account"], form_id=form_id, by=owner)
        except ValidationError:
            return False
        return True

    assert sum(together(4, lambda _: make(FORM_ID))) == 1
    live_keys(owner, 22)
    assert sum(together(4, lambda number: make(str(number)))) == 2
    assert owner.api_keys.count() == 25


def test_a_form_id_of_somebody_else_is_no_matter(client: Client, user: User) -> None:
    ApiKeyFactory(form_id=FORM_ID)
    client.post(NEW, VALID)
    assert user.api_keys.count() == 1


def test_25_live_keys_are_enough_and_dead_ones_do_not_count(client: Client, user: User) -> None:
    live_keys(user, 24)
    ApiKeyFactory(owner=user, revoked_at=timezone.now())
    ApiKeyFactory(owner=user, expires_at=timezone.now())
    ApiKeyFactory(owner=user, is_enabled=False)
    assert "Your new API key" in client.post(NEW, VALID).content.decode()
    answer = client.post(NEW, {**VALID, "form_id": FORM_ID[::-1]})
    sentence = "You have 25 active keys, which is the limit. Revoke one that you do not need."
    assert answer.context["form"].non_field_errors() == [sentence]
    assert user.api_keys.live(timezone.now()).count() == 25


def test_a_new_key_is_announced_by_mail_and_in_the_trail(
    client: Client, user: User, mailoutbox: list[EmailMessage], django_capture_on_commit_callbacks: object
) -> None:
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]  # a fixture without a type
        client.post(NEW, VALID)
    key = user.api_keys.get()
    (letter,) = mailoutbox
    assert letter.to == [user.email]
    assert "A new API key was created" in letter.subject
    assert key.prefix in letter.body
    assert key.secret_hash not in letter.body
    event = AuditEvent.objects.get(verb="api_key:issued")
    assert (event.actor, event.object_id) == (user, str(key.pk))


def test_after_a_while_the_password_is_asked_again_and_the_form_is_not_lost(user: User) -> None:
    """Several ticks of one field, too."""
    client = client_of(browser_of(user, password_age=REAUTHENTICATION_TIMEOUT))
    assert client.get(NEW)["Location"].startswith("/accounts/reauthenticate/?")
    wanted = {**VALID, "requested": ["account", "lookup:user"], "reason": "A bot"}
    answer = client.post(NEW, wanted)
    assert answer["Location"].startswith("/accounts/reauthenticate/?")
    assert not user.api_keys.exists()
    page = client.post(answer["Location"], {"password": PASSWORD})
    key = user.api_keys.get()
    assert f"{key.prefix}_" in page.content.decode()
    assert "Your request was sent" in page.content.decode()
    assert "Look up users and their profiles" in page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]
    assert problems_of(page) == []
    assert set(AccessRequest.objects.values_list("subject", flat=True)) == {"account", "lookup:user"}


Commits = Callable[..., AbstractContextManager[object]]
DAY = timedelta(days=1)


@pytest.fixture
def remind(django_capture_on_commit_callbacks: Commits) -> Callable[[], str]:
    def run() -> str:
        with django_capture_on_commit_callbacks(execute=True):
            output: str = call_command("remind_of_keys")
        return output

    return run


def test_an_owner_is_notified_once_a_week_before_the_end(
    user: User, mailoutbox: list[EmailMessage], remind: Callable[[], str]
) -> None:
    key = ApiKeyFactory(owner=user, expires_at=timezone.now() + 7 * DAY)
    assert [remind(), remind()] == [f"Reminders sent: {count}; days of counts deleted: 0." for count in (1, 0)]
    (letter,) = mailoutbox
    assert letter.to == [user.email]
    assert f"{key.prefix}) expires on" in letter.body
    assert f"/dashboard/api-keys/{key.prefix}/" in letter.body


@pytest.mark.parametrize(
    "columns",
    [
        {"expires_at": 7 * DAY + timedelta(hours=1)},
        {"expires_at": -DAY},
        {"expires_at": DAY, "is_enabled": False},
        {},
    ],
)
def test_no_owner_is_notified_of_other_keys(
    user: User, mailoutbox: list[EmailMessage], remind: Callable[[], str], columns: dict[str, timedelta | bool]
) -> None:
    now = timezone.now()
    ApiKeyFactory(
        owner=user,
        **{name: now + value if isinstance(value, timedelta) else value for name, value in columns.items()},
    )
    remind()
    assert mailoutbox == []


def test_a_banned_owner_gets_no_letter(user: User, mailoutbox: list[EmailMessage], remind: Callable[[], str]) -> None:
    ApiKeyFactory(owner=user, expires_at=timezone.now() + DAY)
    bans.ban(user=user, by=None, reason="Spam")
    assert remind() == "Reminders sent: 0; days of counts deleted: 0."
    assert mailoutbox == []


def test_a_key_with_a_new_end_is_announced_again_and_a_replaced_one_is_not(
    user: User, mailoutbox: list[EmailMessage], remind: Callable[[], str]
) -> None:
    key = ApiKeyFactory(owner=user, expires_at=timezone.now() + DAY)
    remind()
    keys.change_end(key=key, expires_at=timezone.now() + 2 * DAY, by=user)
    remind()
    assert len(mailoutbox) == 2
    keys.change_end(key=key, expires_at=timezone.now() + 3 * DAY, by=user)
    ApiKey.objects.filter(pk=key.pk).update(replaced_by=ApiKeyFactory(owner=user))
    remind()
    assert len(mailoutbox) == 2


def test_an_owner_who_was_reminded_is_not_reminded_of_the_key_in_its_place(
    user: User, mailoutbox: list[EmailMessage], remind: Callable[[], str]
) -> None:
    key = ApiKeyFactory(owner=user, expires_at=timezone.now() + DAY)
    remind()
    keys.rotate(key=key, overlap=timedelta(), by=user)
    remind()
    assert len(mailoutbox) == 1


def test_the_job_forgets_how_often_keys_were_used_long_ago(user: User, remind: Callable[[], str]) -> None:
    KeyDay.objects.create(key=ApiKeyFactory(owner=user), day=timezone.now().date() - 91 * DAY, count=1)
    assert remind() == "Reminders sent: 0; days of counts deleted: 1."
    assert JobRun.objects.get(pk="remind_of_keys").has_succeeded(timezone.now())
