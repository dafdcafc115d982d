"""Which changes of an account are news to apps: every place where a claim gets another value, and no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core.mail import EmailMessage

from accounts import hooks, users
from accounts.linking import account_links
from accounts.models import LinkedAccount, User, WebhookEndpoint
from lookup.documents import documents
from lookup.editing import profiles, remedies
from lookup.models import Asset, Profile, ProfileDocument
from oidc_provider.applications.scopes import SCOPES
from oidc_provider.token import token_queries
from tests.accounts.test_sign_up import code_in
from tests.dashboard.signing_in import browser_of, client_of
from tests.factories.accounts import LinkedAccountFactory, StaffFactory, UserFactory, WebhookEndpointFactory
from tests.factories.lookup import AliasRowFactory, AssetFactory, ProfileFactory, main_profile
from tests.factories.oidc_provider import ApplicationFactory, ApprovalFactory
from tests.lookup.transfer_files import exported, load
from tests.support.outbox import posted

pytestmark = pytest.mark.django_db
CHAT = LinkedAccount.Kind.CHAT
EMAIL = "/accounts/email/"


@dataclass(frozen=True)
class Place:
    """Ada, an endpoint of an app that she allowed everything, and staff."""

    ada: User
    boss: User
    endpoint: WebhookEndpoint
    letters: list[EmailMessage]
    directory: Path

    def manage(self, act: str, email: str) -> None:
        client_of(browser_of(self.ada)).post(EMAIL, {act: "", "email": email})

    def has_picture(self) -> Asset:
        asset = AssetFactory(owner=self.ada)
        profiles.change(profile=main_profile(self.ada), values={"avatar": asset}, by=self.ada)
        return asset

    def mirrors(self, *, value: bool) -> None:
        profiles.change_setting(main_profile(self.ada), "avatarSettings", "mirrorChat", value=value, by=self.ada)

    def has_chat(self) -> LinkedAccount:
        return LinkedAccountFactory(user=self.ada, kind=CHAT, external_id="17", name="ada")

    def link(self, external_id: str = "17", name: str = "ada", avatar_url: str = "") -> None:
        found = {"external_id": external_id, "name": name, "avatar_url": avatar_url}
        account_links.link(user=self.ada, kind=CHAT, by=self.ada, **found)

    def is_named_again(self, name: str = "ada", avatar_url: str = "") -> None:
        account_links.refresh(kind=CHAT, external_id="17", name=name, avatar_url=avatar_url)

    def has_second_address(self) -> None:
        EmailAddress.objects.create(user=self.ada, email="new@example.org", verified=True)

    def has_unconfirmed_and_second_address(self) -> None:
        self.has_unconfirmed_address()
        self.has_second_address()

    def has_unconfirmed_address(self) -> None:
        EmailAddress.objects.filter(user=self.ada).update(verified=False)

    def confirms_by_code(self, email: str, act: str) -> None:
        client = client_of(browser_of(self.ada))
        client.post(EMAIL, {act: "", "email": email})
        client.post("/accounts/confirm-email/", {"code": code_in(self.letters[-1])})

    def removes_address(self) -> None:
        self.manage("action_remove", "ada@example.org")

    def imports(self, **user: Any) -> None:
        line = exported()["Ada"]
        line["user"].update(user)
        load(json.dumps(line) + "\n", self.directory)

    def imports_without_a_picture(self) -> None:
        line = exported()["Ada"]
        line["user"]["name"], line["profile"]["avatar"] = "Imported", None
        line["user"]["avatarUrl"] = None
        load(json.dumps(line) + "\n", self.directory)


@pytest.fixture
def place(db: None, mailoutbox: list[EmailMessage], tmp_path: Path) -> Place:
    ada = UserFactory(username="Ada", email="ada@example.org", display_name="Ada Example")
    app = ApplicationFactory()
    ApprovalFactory(user=ada, application=app, scopes=list(SCOPES))
    endpoint = WebhookEndpointFactory(application=app)
    return Place(ada, StaffFactory(username="Boss", is_superuser=True), endpoint, mailoutbox, tmp_path)


def _nothing(_: Place) -> None:
    pass


def _no_name(place: Place) -> None:
    users.set_display_name(user=place.ada, name="", by=place.ada)


def _staff(place: Place, **values: Any) -> None:
    users.change(user=place.ada, values=values, by=place.boss)


# Before, the change, and the claims that it changes.
NEWS: dict[str, tuple[Callable[[Place], object], Callable[[Place], object], str]] = {
    "a username": (
        _nothing,
        lambda place: users.rename(user=place.ada, username="Lovelace", by=place.ada),
        "preferred_username profile",
    ),
    "a username that is displayed": (
        _no_name,
        lambda place: users.rename(user=place.ada, username="Lovelace", by=place.ada),
        "name preferred_username profile",
    ),
    "a display name": (
        _nothing,
        lambda place: client_of(browser_of(place.ada)).post("/dashboard/account/display-name/", {"display_name": "A"}),
        "name",
    ),
    "no display name": (_nothing, _no_name, "name"),
    "a username by staff": (_nothing, lambda place: _staff(place, username="Byron"), "preferred_username profile"),
    "several values by staff": (
        _nothing,
        lambda place: _staff(place, username="Byron", display_name="Byron", plan="PREMIUM"),
        "name preferred_username profile",
    ),
    "a picture": (_nothing, Place.has_picture, "picture"),
    "another picture": (Place.has_picture, Place.has_picture, "picture"),
    "a mirrored picture": (_nothing, lambda place: place.mirrors(value=True), "picture"),
    "a picture that is mirrored no longer": (
        lambda place: place.mirrors(value=True),
        lambda place: place.mirrors(value=False),
        "picture",
    ),
    "a picture that staff remove": (
        Place.has_picture,
        lambda place: remedies.remove_picture(asset=Asset.objects.get(), by=place.boss, reason="It shows a card."),
        "picture",
    ),
    "a linked account": (_nothing, Place.link, "connections"),
    "another linked account": (Place.has_chat, lambda place: place.link(external_id="18"), "connections"),
    "a linked account with another name": (Place.has_chat, lambda place: place.link(name="ada_l"), "connections"),
    "a linked account that was renamed there": (
        Place.has_chat,
        lambda place: place.is_named_again(name="ada_l"),
        "connections",
    ),
    "no linked account": (
        Place.has_chat,
        lambda place: account_links.unlink(user=place.ada, kind=CHAT, by=place.ada),
        "connections",
    ),
    "another address": (
        Place.has_second_address,
        lambda place: place.manage("action_primary", "new@example.org"),
        "email",
    ),
    "a confirmed address in place of an unconfirmed one": (
        Place.has_unconfirmed_and_second_address,
        lambda place: place.manage("action_primary", "new@example.org"),
        "email email_verified",
    ),
    "no address": (_nothing, Place.removes_address, "email email_verified"),
    "a first address": (
        Place.removes_address,
        lambda place: place.confirms_by_code("new@example.org", "action_add"),
        "email email_verified",
    ),
    "an address that is confirmed": (
        Place.has_unconfirmed_address,
        lambda place: place.confirms_by_code("ada@example.org", "action_send"),
        "email_verified",
    ),
    "an import": (
        _nothing,
        lambda place: place.imports(username="Lovelace", name="Ada L.", chatId="268473310986241111"),
        "name preferred_username profile connections",
    ),
    "an import of several things": (Place.has_picture, Place.imports_without_a_picture, "name picture"),
}


def _claims(user: User) -> dict[str, Any]:
    return token_queries.read_subject(user.pk).claims(list(SCOPES))


@pytest.mark.parametrize("name", NEWS)
def test_each_change_of_claims_is_one_event_with_exactly_their_names(place: Place, name: str) -> None:
    prepare, act, changed = NEWS[name]
    prepare(place)
    before, known = _claims(place.ada), len(posted(place.endpoint))
    act(place)
    after = _claims(place.ada)
    assert {claim for claim in before.keys() | after.keys() if before.get(claim) != after.get(claim)} == set(
        changed.split()
    )
    about = {"client_id": place.endpoint.application.client_id, "sub": place.ada.pk}  # type: ignore[union-attr]
    assert posted(place.endpoint)[known:] == [("user.updated", place.ada.pk, {**about, "changed": changed.split()})]


NO_NEWS: dict[str, tuple[Callable[[Place], object], Callable[[Place], object]]] = {
    "the same display name": (
        _nothing,
        lambda place: users.set_display_name(user=place.ada, name="Ada Example", by=place.ada),
    ),
    "a plan": (_nothing, lambda place: _staff(place, plan="PREMIUM", username="Ada")),
    "a text of the profile": (
        _nothing,
        lambda place: profiles.change(profile=main_profile(place.ada), values={"description": "Hi"}, by=place.ada),
    ),
    "a picture behind a mirrored one": (lambda place: place.mirrors(value=True), Place.has_picture),
    "the picture of an alias": (
        lambda place: AliasRowFactory(name__user=place.ada, profile=ProfileFactory(user=place.ada)),
        lambda place: profiles.change(
            profile=Profile.objects.get(is_main=False), values={"avatar": AssetFactory(owner=place.ada)}, by=place.ada
        ),
    ),
    "a picture at the chat platform": (
        Place.has_chat,
        lambda place: place.is_named_again(avatar_url="https://cdn.chat.example/1.png"),
    ),
    "the same account, linked again": (
        Place.has_chat,
        lambda place: place.link(avatar_url="https://cdn.chat.example/1.png"),
    ),
    "nothing to unlink": (_nothing, lambda place: account_links.unlink(user=place.ada, kind=CHAT, by=place.ada)),
    "a second address": (_nothing, lambda place: place.confirms_by_code("new@example.org", "action_add")),
    "a second address that is removed": (
        Place.has_second_address,
        lambda place: place.manage("action_remove", "new@example.org"),
    ),
    "the main address, chosen again": (_nothing, lambda place: place.manage("action_primary", "ada@example.org")),
    "an import of what is here": (_nothing, Place.imports),
    "documents that are rendered again": (
        Place.has_picture,
        lambda place: (ProfileDocument.objects.update(fingerprint=""), documents.refresh(main_profile(place.ada).pk)),
    ),
}


@pytest.mark.parametrize("name", NO_NEWS)
def test_what_changes_no_claim_is_no_news(place: Place, name: str) -> None:
    prepare, act = NO_NEWS[name]
    prepare(place)
    before, known = _claims(place.ada), posted(place.endpoint)
    act(place)
    assert (_claims(place.ada), posted(place.endpoint)) == (before, known)


def test_changes_of_one_block_are_one_event_and_those_of_a_failed_one_are_none(place: Place) -> None:
    def change() -> None:
        hooks.claims_changed({place.ada.pk: {"picture"}})
        with hooks.merged_claims():
            hooks.claims_changed({place.ada.pk: {"name"}})
        assert posted(place.endpoint) == []

    with hooks.merged_claims():
        change()
    [(_, _, data)] = posted(place.endpoint)
    assert data["changed"] == ["name", "picture"]
    with pytest.raises(ZeroDivisionError), hooks.merged_claims():
        hooks.claims_changed({place.ada.pk: {"picture"}})
        raise ZeroDivisionError
    assert len(posted(place.endpoint)) == 1
