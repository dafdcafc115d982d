"""Demo data of the embedded default: an operator, three users, two apps and four keys, listed in VAR_DIR/demo.json, two
teams, and a small population.

A later start leaves existing rows as they are and makes missing ones. Rows that the file does not list get a fresh
password or secret, since the old one is hashed. `profile_content` fills the profiles, `image_files` the image host,
`reports` the desk of staff.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from accounts import users
from accounts.api_keys import keys
from accounts.linking import account_links
from accounts.models import ApiKey, LinkedAccount, Permission, User
from accounts.plans import Plan
from demo import image_files, profile_content, reports
from oidc_provider.applications import applications, invitations, teams, transfers
from oidc_provider.applications.scopes import LOCKED_SCOPES, SCOPES
from oidc_provider.models import Application, Role

Entry = dict[str, Any]
FILE_WAS_LOST = "demo.json was missing"


@dataclass(frozen=True)
class Person:
    """`linked`: the outside accounts, as kind, id and name there. `joined_at`: before the population."""

    username: str
    joined_at: datetime = datetime(2020, 5, 4, 9, 30, tzinfo=UTC)
    display_name: str = ""
    plan: Plan = Plan.FREE
    is_verified: bool = False
    unlocked: tuple[str, ...] = ()
    linked: tuple[tuple[str, str, str], ...] = ()

    @property
    def email(self) -> str:
        return f"{self.username}@demo.example"


@dataclass(frozen=True)
class App:
    """`owner`: which of PEOPLE."""

    owner: int
    name: str
    redirect_urls: tuple[str, ...]
    scopes: tuple[str, ...]


CHAT, SCROBBLER = LinkedAccount.Kind.CHAT, LinkedAccount.Kind.SCROBBLER
OPERATOR = Person("keeper")
PEOPLE = (
    Person(
        "ada",
        display_name="Ada Example",
        is_verified=True,
        unlocked=LOCKED_SCOPES,
        linked=((CHAT, "268473310986240001", "ada"), (SCROBBLER, "ada-listens", "ada-listens")),
    ),
    Person("ben", joined_at=datetime(2020, 5, 11, 18, 5, tzinfo=UTC), plan=Plan.IMAGEHOST),
    Person(
        "cleo",
        joined_at=datetime(2020, 5, 20, 21, 40, tzinfo=UTC),
        display_name="Cleo",
        plan=Plan.PREMIUM,
        linked=((CHAT, "268473310986240003", "cleo"),),
    ),
)
APPS = {
    "app": App(0, "Demo app", ("http://127.0.0.1:9999/callback", "https://app.example/callback"), tuple(SCOPES)),
    "second_app": App(1, "Second demo app", ("http://127.0.0.1:9998/callback",), ("openid", "identify")),
}
# On the simulated chat platform: an account that has not joined the chat server, and an unknown id.
CHAT_IDS = {"notMember": "268473310986249999", "notFound": "268473310986248888"}


def path() -> Path:
    return Path(settings.VAR_DIR) / "demo.json"


def seed() -> Entry:
    """Make what is missing and return the content of the file, which is written last: after a crash the next start
    gives accounts without an entry fresh passwords."""
    known = _read()
    known_users = [*known.get("users", []), *({} for _ in PEOPLE)]
    with transaction.atomic():
        entry: Entry = {"base_url": settings.BASE_URL, "operator": _operator(known.get("operator", {}))}
        entry["users"] = [_person(person, before) for person, before in zip(PEOPLE, known_users, strict=False)]
        accounts = [User.objects.get(pk=user["id"]) for user in entry["users"]]
        _team(accounts)  # before the demo app, whose values the documentation shows as those of the newest app
        for name, app in APPS.items():
            entry[name] = _application(app, accounts[app.owner], known.get(name, {}))
        entry["chat"] = {"guildId": settings.CHAT.guild_id, **CHAT_IDS}
        entry["api_keys"] = [_key(permission, accounts[0], known) for permission in Permission.values]
        keeper = User.objects.get(pk=entry["operator"]["id"])
        profile_content.furnish(keeper, *accounts)
        image_files.furnish(accounts[0])
        reports.furnish(keeper, *accounts)
    if entry != known:
        _write(entry)
    return entry


def _team(accounts: list[User]) -> None:
    """Make a team of the first user, with the second as developer, an app and two invitations, if there is none."""
    owner, developer, third = accounts
    if owner.team_memberships.exists():
        return
    team = teams.create(name="Harbour", by=owner)
    sent = invitations.invite(team=team, email=developer.email, role=Role.DEVELOPER, by=owner)
    invitations.accept(invitation=sent.invitation, by=developer)
    invitations.invite(team=team, email=third.email, role=Role.VIEWER, by=owner)
    registered = applications.register(
        owner=owner, name="Tidepool", redirect_urls=["https://tidepool.example/callback"], scopes=["openid"], by=None
    )
    transfers.transfer(application=registered.application, team=team, by=owner)
    other = teams.create(name="Islands", by=third)
    invitations.invite(team=other, email=owner.email, role=Role.DEVELOPER, by=third)


def _operator(known: Entry) -> Entry:
    return _account(
        OPERATOR,
        known,
        lambda password: users.create_operator(username=OPERATOR.username, email=OPERATOR.email, password=password),
    )


def _person(person: Person, known: Entry) -> Entry:
    entry = _account(person, known, lambda password: _new_user(person, password))
    if entry is not known:
        chat = LinkedAccount.objects.filter(user=entry["id"], kind=CHAT).first()
        entry["chatId"] = chat.external_id if chat else None
    return entry


def _account(person: Person, known: Entry, make: Callable[[str], User]) -> Entry:
    """Return the entry as it is while its account exists, renamed or not; else a fresh password or account."""
    if User.objects.filter(pk=known.get("id", "")).exists():
        return known
    user = User.objects.by_username(person.username).first() or User.objects.filter(email=person.email).first()
    if user is None:
        password = users.new_password()
        user = make(password)
        users.set_new_browser_mails(user=user, are_sent=False, by=None)  # their addresses are invented
    else:
        password = users.reset_password(user=user, by=None, reason=FILE_WAS_LOST)
    return {"username": user.username, "password": password, "email": user.email, "id": user.pk, "uid": user.uid}


def _new_user(person: Person, password: str) -> User:
    user = users.create(
        username=person.username,
        email=person.email,
        password=password,
        by=None,
        has_verified_email=True,
        display_name=person.display_name,
        plan=person.plan,
        is_verified=person.is_verified,
        created_at=person.joined_at,
    )
    for kind, external_id, name in person.linked:
        if not LinkedAccount.objects.filter(kind=kind, external_id=external_id).exists():
            picture = profile_content.chat_picture(external_id)
            account_links.link(user=user, kind=kind, external_id=external_id, name=name, avatar_url=picture, by=None)
    for scope in person.unlocked:
        applications.unlock_scope(owner=user, scope=scope, by=None, reason="Demo data")
    return user


def _application(app: App, owner: User, known: Entry) -> Entry:
    if Application.objects.filter(client_id=known.get("client_id", "")).exists():
        return known
    application = Application.objects.filter(user=owner, name=app.name).order_by("pk").first()
    if application is None:
        registered = applications.register(
            owner=owner, name=app.name, redirect_urls=app.redirect_urls, scopes=app.scopes, by=None
        )
        application, secret = registered.application, registered.client_secret
    else:
        secret = applications.reset_secret(application=application, by=None, reason=FILE_WAS_LOST)
    return {
        "client_id": application.client_id,
        "client_secret": secret,
        "redirect_uris": application.redirect_urls,
        "scopes": application.registered_scopes,
        "name": application.name,
    }


def _key(permission: str, owner: User, known: Entry) -> Entry:
    for entry in known.get("api_keys", []):
        if entry["permissions"] == [permission] and keys.find(entry["key"]) is not None:
            return dict(entry)
    name = f"Demo key: {permission}"
    for lost in ApiKey.objects.filter(owner=owner, name=name, revoked_at__isnull=True).order_by("pk"):
        keys.revoke(key=lost, by=None, reason=FILE_WAS_LOST)
    issued = keys.issue(owner=owner, permissions=[permission], name=name, by=None)
    return {"key": issued.secret, "permissions": issued.key.permissions, "owner": owner.username}


def _read() -> Entry:
    """Return the file's object; empty where it is missing or broken."""
    try:
        return dict(json.loads(path().read_text()))
    except (FileNotFoundError, ValueError):
        return {}


def _write(entry: Entry) -> None:
    """Replace the file atomically; only this account may read it."""
    fresh = path().with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "w") as file:
        json.dump(entry, file, indent=2)
        file.write("\n")
    fresh.replace(path())
