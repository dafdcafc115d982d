"""A profile that staff hide, and a picture that they remove: what visitors and programs see, what the owner reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.mail import EmailMessage
from django.test import Client

from accounts import notices, users
from accounts.models import AuditEvent, StaffNotice, User
from lookup import leaderboards, people
from lookup.editing import profiles, remedies
from lookup.models import Asset, Background, Profile
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.lookup import AssetFactory
from tests.lookup import answers
from tests.lookup.answers import PRIVATE
from tests.lookup.filled import ADA, Filled
from tests.support.browser import Browser

WHY = "It shows a private address."


@pytest.fixture
def ada(db: None) -> User:
    return UserFactory(username="Eda", email="eda@example.org")


@pytest.fixture
def boss(db: None) -> User:
    return StaffFactory(username="Boss")


@pytest.mark.embedded
def test_a_hidden_profile_is_seen_nowhere_until_staff_show_it_again(filled: Filled, unlimited: None) -> None:
    leaderboards.rank()

    def places() -> dict[str, bool]:
        board = [entry["user"]["username"] for entry in answers.board("uid").body]
        found, _ = people.find("ada", 10)
        return {
            "page": Client().get("/Ada").status_code == 200,
            "page of an alias": Client().get("/lovelace").status_code in {200, 302},
            "current form": answers.user("ada").whole != PRIVATE,
            "earlier form": answers.earlier("ada").whole != PRIVATE,
            "leaderboard": "Ada" in board,
            "search": ADA in {match.person.id for match in found},
        }

    everywhere = places()
    assert set(everywhere.values()) == {True}
    remedies.hide(user=filled.user, by=filled.operator, reason=WHY)
    assert places() == dict.fromkeys(everywhere, False)
    assert Client().get("/Ada").status_code == 404
    remedies.show_again(user=filled.user, by=filled.operator, reason="Mended")
    assert places() == everywhere


DOORS: dict[str, Callable[[User, User], object]] = {
    "the owner": lambda ada, _: profiles.set_public_access(user=ada, is_public=True, by=ada),
    "staff": lambda ada, boss: users.change(user=ada, values={"public_api_access": True}, by=boss),
}


@pytest.mark.parametrize("door", DOORS)
def test_no_one_makes_a_hidden_profile_public(ada: User, boss: User, door: str) -> None:
    remedies.hide(user=ada, by=boss, reason=WHY)
    with pytest.raises(ValidationError, match="Staff have hidden this profile"):
        DOORS[door](ada, boss)
    profiles.set_public_access(user=ada, is_public=False, by=ada)  # what it is already
    ada.refresh_from_db()
    assert (ada.public_api_access, ada.is_hidden) == (False, True)


@pytest.mark.parametrize("was_public", [True, False])
def test_a_profile_that_is_shown_again_is_as_public_as_before(ada: User, boss: User, was_public: bool) -> None:
    profiles.set_public_access(user=ada, is_public=was_public, by=ada)
    remedies.hide(user=ada, by=boss, reason=WHY)
    with pytest.raises(ValidationError, match="hidden already"):
        remedies.hide(user=ada, by=boss, reason="Again")
    remedies.show_again(user=ada, by=boss, reason="Mended")
    with pytest.raises(ValidationError, match="not hidden"):
        remedies.show_again(user=ada, by=boss, reason="Again")
    ada.refresh_from_db()
    assert (ada.public_api_access, ada.is_hidden) == (was_public, False)
    verbs = ["profile:hidden", "profile:shown_again"]
    events = AuditEvent.objects.filter(verb__in=verbs).order_by("pk")
    assert [(event.verb, event.actor, event.reason) for event in events] == [
        ("profile:hidden", boss, WHY),
        ("profile:shown_again", boss, "Mended"),
    ]


def test_an_owner_who_chooses_private_while_hidden_is_not_public_afterwards(ada: User, boss: User) -> None:
    remedies.hide(user=ada, by=boss, reason=WHY)
    browser = Browser()
    browser.client.force_login(ada)
    path = "/dashboard/profile/privacy/"
    sent = dict(browser.open(path).form("public_api_access").form_values())
    answer = browser.client.post(path, sent, follow=True)
    assert "Your profile is private." in answer.content.decode()
    remedies.show_again(user=ada, by=boss, reason="Mended")
    ada.refresh_from_db()
    assert (ada.public_api_access, ada.is_hidden) == (False, False)


def test_the_owner_reads_why_on_the_dashboard_and_by_email(
    ada: User, boss: User, mailoutbox: list[EmailMessage], django_capture_on_commit_callbacks: Any
) -> None:
    browser = Browser()
    browser.client.force_login(ada)
    with django_capture_on_commit_callbacks(execute=True):
        remedies.hide(user=ada, by=boss, reason=WHY)
    text = browser.open("/dashboard/").text
    assert f"Staff have hidden your profile {WHY}" in text
    assert "Dismiss" not in text
    assert "Staff have hidden your profile." in browser.open("/dashboard/profile/privacy/").text
    browser.submit(public_api_access="on")
    assert "Staff have hidden this profile. It stays private until they show it again." in browser.text
    (letter,) = mailoutbox
    assert (letter.to, letter.subject.partition(": ")[2]) == (["eda@example.org"], "Your profile was hidden")
    assert WHY in letter.body
    assert "Boss" not in letter.body + text
    with django_capture_on_commit_callbacks(execute=True):
        remedies.show_again(user=ada, by=boss, reason="Mended")
    assert "hidden" not in browser.open("/dashboard/").text
    assert "Other people and programs can see it again." in mailoutbox[-1].body


def test_a_warning_is_shown_until_its_reader_dismisses_it(
    ada: User, boss: User, mailoutbox: list[EmailMessage], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        warning = notices.warn(user=ada, by=boss, reason="Please <b>stop</b>.")
    with pytest.raises(ValidationError, match="has this warning already"):  # a second press of the button
        notices.warn(user=ada, by=boss, reason="Please <b>stop</b>.")
    browser, stranger = Browser(), Browser()
    browser.client.force_login(ada)
    stranger.client.force_login(UserFactory())
    path = f"/dashboard/notices/{warning.pk}/dismiss/"
    assert "Staff have sent you a warning Please <b>stop</b>." in browser.open("/dashboard/").text
    assert path not in stranger.open("/dashboard/").response.content.decode()
    token = stranger.open("/dashboard/account/").page.xpath("//input[@name='csrfmiddlewaretoken']/@value")[0]
    assert stranger.client.post(path, {"csrfmiddlewaretoken": token}).status_code == 302
    assert "Please" in browser.open("/dashboard/").text
    (form,) = [form for form in browser.page.forms if form.action == path]
    browser.client.post(path, dict(form.form_values()))
    assert "Please" not in browser.open("/dashboard/").text
    assert "Please <b>stop</b>." in mailoutbox[0].body
    event = AuditEvent.objects.get(verb="user:warned")
    assert (event.actor, event.object_id, event.reason) == (boss, ada.pk, "Please <b>stop</b>.")


@pytest.mark.parametrize("text", ["", " \u200b", "x" * 1001])
def test_the_words_of_staff_have_1_to_1000_characters(ada: User, boss: User, text: str) -> None:
    for act in (notices.warn, remedies.hide):
        with pytest.raises(ValidationError, match="1 to 1000 characters"):
            act(user=ada, by=boss, reason=text)
    ada.refresh_from_db()
    assert not ada.is_hidden
    assert not StaffNotice.objects.exists()


def test_a_removed_picture_leaves_every_place_and_the_store(filled: Filled) -> None:
    asset = AssetFactory(owner=filled.user, path="bad.png")
    kept = AssetFactory(owner=filled.user, path="good.png")
    profiles.change(profile=filled.profile, values={"avatar": asset, "banner": kept}, by=filled.user)
    Background.objects.create(profile=filled.profile, asset=asset, order=99)
    remedies.remove_picture(asset=asset, by=filled.operator, reason=WHY)
    shown = answers.user("ada", "profile", "backgrounds").text
    assert "bad.png" not in shown
    assert "good.png" in shown
    assert not Asset.objects.filter(pk=asset.pk).exists()
    with pytest.raises(ValidationError, match="removed already"):
        remedies.remove_picture(asset=asset, by=filled.operator, reason=WHY)
    notice = StaffNotice.objects.get()
    assert (notice.user, notice.kind, notice.text) == (filled.user, "PICTURE", WHY)
    assert AuditEvent.objects.get(verb="asset:removed").data["path"] == "bad.png"


def test_what_belongs_to_staff_is_for_superusers(boss: User) -> None:
    colleague, asset = UserFactory(is_staff=True), AssetFactory(owner=UserFactory(is_staff=True))
    helper = UserFactory(is_staff=True)
    for act in (notices.warn, remedies.hide):
        with pytest.raises(PermissionDenied):
            act(user=colleague, by=helper, reason=WHY)
    with pytest.raises(PermissionDenied):
        remedies.remove_picture(asset=asset, by=helper, reason=WHY)
    remedies.hide(user=colleague, by=boss, reason=WHY)
    assert not Profile.objects.filter(user=colleague, user__public_api_access=True).exists()
