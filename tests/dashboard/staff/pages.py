"""The addresses of staff pages, and the acts on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from oidc_provider.models import Application
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.dashboard import AccessRequestFactory, PermissionRequestFactory
from tests.factories.oidc_provider import ApplicationFactory, SuspendedApplicationFactory
from tests.support.browser import Browser

QUEUE = "/dashboard/staff/"
APPS = "/dashboard/staff/apps/"
PEOPLE = "/dashboard/staff/people/"


def app_page(app: Application) -> str:
    return f"{APPS}{app.client_id}/"


def person_page(person: User) -> str:
    return f"{PEOPLE}{person.pk}/"


@dataclass(frozen=True)
class Act:
    """`page`: where it leads back to, and where its button stands; `path`: of its own page."""

    name: str
    permission: str
    verb: str
    done: str
    again: str
    make: Callable[..., Any]
    page: Callable[[Any], str]
    path: Callable[[Any], str]
    owner: Callable[[Any], User]


def _on_app(name: str, right: str, verb: str, make: Callable[..., Any], words: tuple[str, str]) -> Act:
    return Act(
        name,
        f"oidc_provider.{right}_application",
        f"application:{verb}",
        *words,
        make=make,
        page=app_page,
        path=lambda app: f"{app_page(app)}{name}/",
        owner=lambda app: app.user,
    )


def _on_person(name: str, right: str, verb: str, make: Callable[..., Any], words: tuple[str, str]) -> Act:
    return Act(
        name,
        f"accounts.{right}_user",
        f"user:{verb}",
        *words,
        make=make,
        page=person_page,
        path=lambda person: f"{person_page(person)}{name}/",
        owner=lambda person: person,
    )


def _on_key(name: str, verb: str, permission: str, words: tuple[str, str]) -> Act:
    return Act(
        f"{name}-permission",
        "accounts.change_apikey",
        f"api_key:permission_{verb}",
        *words,
        make=lambda **fields: ApiKeyFactory(prefix="ik_one", owner=UserFactory(username="Ada", **fields)),
        page=lambda key: person_page(key.owner),
        path=lambda key: f"{person_page(key.owner)}keys/{key.prefix}/{permission}/{name}/",
        owner=lambda key: key.owner,
    )


def _on_request(name: str, verb: str, make: Callable[..., Any], words: tuple[str, str]) -> Act:
    return Act(
        f"{name}-request",
        "dashboard.decide_accessrequest",
        f"access_request:{verb}",
        *words,
        make=lambda **fields: make(user=UserFactory(username="Ada", **fields)),
        page=lambda asked: QUEUE,
        path=lambda asked: f"{QUEUE}requests/{asked.pk}/{name}/",
        owner=lambda asked: asked.user,
    )


def _person(**fields: Any) -> User:
    return UserFactory(username="Ada", **fields)


def _app_of(factory: Any, **app: Any) -> Callable[..., Application]:
    return lambda **fields: factory(name="Notes", user=_person(**fields), **app)


ANSWERED = "This request is decided or withdrawn already."
ACTS = [
    _on_app(
        "suspend",
        "suspend",
        "suspended",
        _app_of(ApplicationFactory),
        ("Notes is suspended.", "This app is suspended already."),
    ),
    _on_app(
        "restore",
        "suspend",
        "restored",
        _app_of(SuspendedApplicationFactory),
        ("Notes works again.", "This app is not suspended."),
    ),
    _on_app(
        "verify",
        "verify",
        "verified",
        _app_of(ApplicationFactory),
        ("Notes is verified.", "This app is verified already."),
    ),
    _on_app(
        "unverify",
        "verify",
        "unverified",
        _app_of(ApplicationFactory, is_verified=True),
        ("Notes is no longer verified.", "This app is not verified."),
    ),
    _on_person("ban", "ban", "banned", _person, ("Ada is banned.", "This account is banned already.")),
    _on_person(
        "lift",
        "ban",
        "ban_lifted",
        lambda **fields: _person(is_active=False, banned_at="2026-01-01T00:00:00Z", **fields),
        ("Ada can sign in again.", "This account is not banned."),
    ),
    _on_person(
        "scopes/email/unlock",
        "unlock_scopes",
        "scope_unlocked",
        _person,
        ("email is unlocked for Ada.", "email is unlocked for this person already."),
    ),
    _on_person(
        "scopes/email/relock",
        "unlock_scopes",
        "scope_relocked",
        lambda **fields: _person(unlocked_scopes=["email"], **fields),
        ("email is locked again for Ada.", "email is not unlocked for this person."),
    ),
    _on_key(
        "grant",
        "granted",
        "lookup:user",
        ("The key ik_one has lookup:user.", "This key has lookup:user already."),
    ),
    _on_key(
        "withdraw",
        "withdrawn",
        "account",
        ("The key ik_one no longer has account.", "This key does not have account."),
    ),
    _on_request("grant", "granted", AccessRequestFactory, ("email for Ada: granted.", ANSWERED)),
    _on_request("deny", "denied", PermissionRequestFactory, ("lookup:user for Ada: denied.", ANSWERED)),
]
# What gives something to a person or decides over them; the others take away, or are about an app.
FOR_SUPERUSERS = [act for act in ACTS if act.name not in {"scopes/email/relock", "withdraw-permission"}]
FOR_SUPERUSERS = [act for act in FOR_SUPERUSERS if not act.permission.startswith("oidc_provider")]


def named(act: Act) -> str:
    return act.name.replace("/", "-")


def cost_of(browser: Browser, url: str) -> int:
    """How many queries the page takes."""
    with CaptureQueriesContext(connection) as queries:
        browser.open(url)
    assert browser.response.status_code == 200
    return len(queries)
