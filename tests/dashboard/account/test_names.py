"""Username and display name, as people change them themselves."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from accounts import users
from accounts.models import AuditEvent, Name, User
from dashboard.account import actions as account_actions
from dashboard.account import reserved_names
from dashboard.account.forms import UsernameForm
from lookup.editing import aliases
from lookup.models import Alias
from tests.dashboard.signing_in import browser_of, client_of
from tests.factories.accounts import AliasFactory, UserFactory
from tests.factories.lookup import AliasRowFactory
from tests.pages.markup import problems_of
from tests.support.browser import Browser

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
    assert "Username changed to Lovelace." in browser.text
    event = AuditEvent.objects.get(verb="user:renamed")
    assert (event.actor, event.data) == (user, {"old_username": "Ada"})
    assert Client().get("/Ada").status_code in {301, 302}


def test_the_old_name_is_free_unless_it_is_kept(user: User) -> None:
    account_actions.rename(user=user, username="Lovelace", keeps_old=False, by=user)
    assert names_of(user) == {("Lovelace", "USERNAME")}
    UserFactory(username="ada", email="another@example.org")


def test_another_case_is_no_other_name(user: User) -> None:
    account_actions.rename(user=user, username="ADA", keeps_old=True, by=user)
    assert names_of(user) == {("ADA", "USERNAME")}


def test_with_10_aliases_there_is_no_place_for_the_old_name_and_nothing_changes(browser: Browser, user: User) -> None:
    for number in range(10):
        aliases.add(user=user, name=f"alias-{number}", by=user)
    browser.open(USERNAME).submit(username="Lovelace")
    (message,) = browser.errors()
    assert message == "Ada cannot be an alias: You have 10 aliases, which is the limit: delete one first."
    assert browser.form("username").fields["username"] == "Lovelace"
    user.refresh_from_db()
    assert (user.username, user.renamed_at) == ("Ada", None)
    client_of(browser).post(USERNAME, {"username": "Lovelace"})
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
    ],
)
def test_each_bad_name_is_refused_with_its_reason(user: User, name: str, message: str) -> None:
    UserFactory(username="Grace")
    AliasFactory(name="amazing")
    AliasFactory(name="Mine", user=user)
    with pytest.raises(ValidationError) as refusal:
        account_actions.rename(user=user, username=name, keeps_old=True, by=user)
    assert refusal.value.message_dict == {"username": [message]}
    assert User.objects.get(pk=user.pk).username == "Ada"


def test_the_form_takes_1_to_32_characters() -> None:
    names = {name: UsernameForm({"username": name}, user=User()).is_valid() for name in ("", "x" * 32, "x" * 33)}
    assert list(names.values()) == [False, True, False]


def test_a_username_changes_every_five_days(browser: Browser, user: User) -> None:
    users.rename(user=user, username="Lovelace", by=user)
    browser.open(USERNAME).submit(username="Byron")
    (message,) = browser.errors()
    assert message.startswith("A username can be changed every 5 days; yours again from ")
    assert "You can change your username again from" in browser.open("/dashboard/account/").text
    User.objects.update(renamed_at=timezone.now() - timedelta(days=5, minutes=-10))
    assert browser.open(USERNAME).submit(username="Byron").errors() != []
    User.objects.update(renamed_at=timezone.now() - timedelta(days=5))
    browser.open(USERNAME).submit(username="Byron")
    assert User.objects.get(pk=user.pk).username == "Byron"


def test_a_letter_names_the_change(
    user: User, mailoutbox: list[EmailMessage], django_capture_on_commit_callbacks: object
) -> None:
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]  # a fixture without a type
        account_actions.rename(user=user, username="Lovelace", keeps_old=True, by=user)
    (letter,) = mailoutbox
    assert "from Ada to Lovelace" in letter.body
    assert "Ada stays yours as an alias." in letter.body


def test_the_page_asks_for_the_password_after_5_minutes(user: User) -> None:
    browser = browser_of(user, password_age=301).open(USERNAME)
    assert browser.response.request["PATH_INFO"] == "/accounts/reauthenticate/"


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


@pytest.mark.parametrize(
    "name", ["\u05d0\u200f", "\u0645\u200c\u0645\u061c", "Ada 👩\u200d💻", "🏴\U000e0067\U000e0062\U000e007f"]
)
def test_a_display_name_may_have_marks_of_its_script(user: User, name: str) -> None:
    assert users.set_display_name(user=user, name=name, by=user).display_name == name


@pytest.mark.parametrize(
    "name", ["\u202eadA", "a\u200bb", "a\ufeff", "\u200f", " \u200d", "\u3164", "\u2800 \uffa0", "\ufe0f"]
)
def test_a_display_name_with_invisible_characters_is_refused(user: User, name: str) -> None:
    with pytest.raises(ValidationError):
        users.set_display_name(user=user, name=name, by=user)


def test_the_page_says_why_a_display_name_is_refused(browser: Browser, user: User) -> None:
    browser.open(DISPLAY_NAME).submit(display_name="\u202eadA")
    assert browser.errors() == ["Use at most 64 characters, and none that cannot be seen."]
    assert User.objects.get(pk=user.pk).display_name == ""


# --- Names that were taken before they were reserved ---


def freed(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("free_reserved_names", *arguments, stdout=out)
    return out.getvalue().splitlines()


def test_a_name_that_browsers_ask_for_is_refused_and_a_taken_one_is_freed(
    user: User, mailoutbox: list[EmailMessage], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    holder = UserFactory(username="Ads.txt")
    UserFactory(username="ads-TXT")
    alias = AliasRowFactory(name__user=user, name__name="sw.js", redirects=False)
    aliases.change(alias=alias, redirects=False, has_own_profile=True, by=None)
    assert Client().get("/Ads.txt").status_code == 404
    with pytest.raises(ValidationError, match="reserved"):
        users.rename(user=user, username="manifest.json", by=None)

    listed = [f"Ads.txt (username of uid {holder.uid}) would become Ads-txt-2."]
    listed += [f"sw.js (alias of uid {user.uid}) would become sw-js."]
    assert freed() == [*listed, "Nothing was changed. Run the command with --apply."]
    assert {name.name for name in Name.objects.all()} >= {"Ads.txt", "sw.js"}

    with django_capture_on_commit_callbacks(execute=True):
        assert freed("--apply") == [line.replace("would become", "is now") for line in listed]
    assert freed() == freed("--apply") == ["No user has a reserved name."]
    holder.refresh_from_db()
    assert (holder.username, users.renamable_at(holder)) == ("Ads-txt-2", None)
    kept = Alias.objects.get(name__user=user)
    assert (kept.name.name, kept.redirects, kept.profile, kept.created_at) == (
        *("sw-js", False, alias.profile),
        alias.created_at,
    )
    assert Client().get("/sw-js").status_code == 200
    mails = {mail.to[0]: mail for mail in mailoutbox}
    assert mails[holder.email].subject.endswith("Your username was changed")
    assert "Sign in with Ads-txt-2" in mails[holder.email].body
    assert "was changed to sw-js" in mails[user.email].body
    recorded = AuditEvent.objects.filter(verb__in=["user:renamed", "alias:renamed"]).order_by("pk")
    assert [(event.actor, event.data) for event in recorded] == [
        (None, {"old_username": "Ads.txt"}),
        (None, {"alias": "sw-js", "old_alias": "sw.js"}),
    ]


@pytest.mark.django_db
def test_a_name_that_changed_since_it_was_listed_is_left_as_it_is() -> None:
    renamed, deleted, respelled = (UserFactory(username=name) for name in ("Ads.txt", "sw.js", "Manifest.json"))
    listed = reserved_names.held()
    users.rename(user=renamed, username="Ada.Lovelace", by=None)
    users.rename(user=respelled, username="manifest.JSON", by=None)
    User.objects.filter(pk=deleted.pk).delete()
    assert [reserved_names.free(name) for name in listed] == [None] * 3
    assert {name.name for name in Name.objects.all()} >= {"Ada.Lovelace", "manifest.JSON"}
    assert not AuditEvent.objects.filter(data__old_username="manifest.JSON").exists()


@pytest.mark.django_db
def test_a_similar_name_that_is_taken_meanwhile_stops_only_its_own_change(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Ads.txt", "sw.js", "taken"):
        UserFactory(username=name)
    similar_to = reserved_names.similar_to
    monkeypatch.setattr(reserved_names, "similar_to", lambda name: "taken" if name == "Ads.txt" else similar_to(name))
    out, err = StringIO(), StringIO()
    with pytest.raises(CommandError, match=r"^Some names stay\. Run the command again\.$"):
        call_command("free_reserved_names", "--apply", stdout=out, stderr=err)
    assert "stays: username: This name is already taken." in err.getvalue()
    assert out.getvalue().endswith(" is now sw-js.\n")
    assert {name.name for name in Name.objects.all()} >= {"Ads.txt", "sw-js"}
