"""Username and display name, as people change them themselves."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import timezone

from accounts import users
from accounts.models import AuditEvent, Name, User
from dashboard import own_account
from lookup import aliases
from tests.support.browser import Browser
from tests.factories.accounts import PASSWORD, AliasFactory, UserFactory
from tests.pages.markup import problems_of

USERNAME = "/dashboard/account/username/"
DISPLAY_NAME = "/dashboard/account/display-name/"


def names_of(user: User) -> set[tuple[str, str]]:
    return set(Name.objects.filter(user=user).values_list("name", "kind"))


def test_a_new_username_keeps_the_old_one_as_an_alias(browser: Browser, user: User) -> None:
    browser.open(USERNAME)
    assert problems_of(browser.response) == []
    browser.submit(username="Lovelace")
    user.refresh_from_db()
    assert user.username == "Lovelace"
    assert names_of(user) == {("Lovelace", "USERNAME"), ("Ada", "ALIAS")}
    assert "Your username is Lovelace now." in browser.text
    event = AuditEvent.objects.get(verb="user:renamed")
    assert (event.actor, event.data) == (user, {"old_username": "Ada"})
    assert Client().get("/Ada").status_code in {301, 302}


def test_the_old_name_is_free_where_nobody_wants_it(user: User) -> None:
    own_account.rename(user=user, username="Lovelace", keeps_old=False, by=user)
    assert names_of(user) == {("Lovelace", "USERNAME")}
    UserFactory(username="ada", email="another@example.org")


def test_another_case_is_no_other_name(user: User) -> None:
    own_account.rename(user=user, username="ADA", keeps_old=True, by=user)
    assert names_of(user) == {("ADA", "USERNAME")}


def test_with_10_aliases_there_is_no_place_for_the_old_name_and_nothing_changes(browser: Browser, user: User) -> None:
    for number in range(10):
        aliases.add(user=user, name=f"alias-{number}", by=user)
    browser.open(USERNAME).submit(username="Lovelace")
    (message,) = browser.errors()
    assert message == "Ada cannot be an alias: You have 10 aliases, which is the most: delete one first."
    assert browser.form("username").fields["username"] == "Lovelace"
    user.refresh_from_db()
    assert (user.username, user.renamed_at) == ("Ada", None)
    client = Client()
    client.cookies = browser.client.cookies
    client.post(USERNAME, {"username": "Lovelace"})
    assert names_of(user) >= {("Lovelace", "USERNAME")}
    assert not Name.objects.filter(key="ADA").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Ada", "This is your username already."),
        ("admin", "This name is reserved."),
        ("GRACE", "This name is already taken."),
        ("Amazing", "This name is already taken."),
        ("mine", "This is one of your aliases. Remove the alias first."),
        ("with space", "Use 1 to 32 letters, digits, dots, hyphens or underscores (A-Z, a-z, 0-9, . _ -)."),
        ("é", "Use 1 to 32 letters, digits, dots, hyphens or underscores (A-Z, a-z, 0-9, . _ -)."),
        ("x" * 33, "Ensure this value has at most 32 characters (it has 33)."),
        ("", "This field is required."),
    ],
)
def test_each_bad_name_is_refused_with_its_reason(browser: Browser, user: User, name: str, message: str) -> None:
    UserFactory(username="Grace")
    AliasFactory(name="amazing")
    AliasFactory(name="Mine", user=user)
    browser.open(USERNAME).submit(username=name)
    assert browser.errors() == [message]
    assert problems_of(browser.response) == []
    assert User.objects.get(pk=user.pk).username == "Ada"


def test_a_username_changes_every_five_days(browser: Browser, user: User) -> None:
    users.rename(user=user, username="Lovelace", by=user)
    browser.open(USERNAME).submit(username="Byron")
    (message,) = browser.errors()
    assert message.startswith("A username can be changed every 5 days; yours again from ")
    assert "You can change your username again from" in browser.open("/dashboard/account/").text
    User.objects.update(renamed_at=timezone.now() - timedelta(days=5))
    browser.open(USERNAME).submit(username="Byron")
    assert User.objects.get(pk=user.pk).username == "Byron"


@pytest.mark.django_db
def test_nobody_renames_staff_but_superusers_and_themselves() -> None:
    staff, other = UserFactory(is_staff=True), UserFactory(is_staff=True)
    with pytest.raises(PermissionDenied):
        users.rename(user=staff, username="Renamed", by=other)
    users.rename(user=staff, username="Renamed", by=staff)


def test_the_change_is_told_by_mail(
    user: User, mailoutbox: list[EmailMessage], django_capture_on_commit_callbacks: object
) -> None:
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]  # a fixture without a type
        own_account.rename(user=user, username="Lovelace", keeps_old=True, by=user)
    (letter,) = mailoutbox
    assert "from Ada to Lovelace" in letter.body
    assert "Ada stays yours as an alias." in letter.body


def test_a_login_of_long_ago_is_asked_for_the_password_first(browser: Browser, user: User) -> None:
    session = browser.client.session
    records = session["account_authentication_methods"]
    session["account_authentication_methods"] = [{**record, "at": record["at"] - 3600} for record in records]
    session.save()
    browser.open(USERNAME)
    assert browser.response.request["PATH_INFO"] == "/accounts/reauthenticate/"
    browser.submit(password=PASSWORD)
    assert browser.response.request["PATH_INFO"] == USERNAME


def test_the_display_name_is_changed_and_taken_away(browser: Browser, user: User) -> None:
    browser.open(DISPLAY_NAME)
    assert problems_of(browser.response) == []
    browser.submit(display_name="Ada <Lovelace>")
    user.refresh_from_db()
    assert user.display_name == "Ada <Lovelace>"
    assert "Ada &lt;Lovelace&gt;" in browser.response.content.decode()
    browser.open(DISPLAY_NAME).submit(display_name="")
    user.refresh_from_db()
    assert user.display_name == ""


@pytest.mark.parametrize("name", ["\u202eadA", "a\u200bb"])
def test_a_display_name_hides_nothing(browser: Browser, user: User, name: str) -> None:
    browser.open(DISPLAY_NAME).submit(display_name=name)
    assert browser.errors() == ["Use at most 64 characters, and none that cannot be seen."]
    assert User.objects.get(pk=user.pk).display_name == ""
