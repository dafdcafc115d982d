"""The addresses of staff pages, and the acts on them."""

from __future__ import annotations

import dataclasses
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

DESK = "/dashboard/staff/"
QUEUE = f"{DESK}requests/"
REPORTS = f"{DESK}reports/"
FILES = f"{DESK}files/"
APPS = f"{DESK}apps/"
PEOPLE = f"{DESK}people/"


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
    make: Callable[..., Any]
    page: Callable[[Any], str]
    path: Callable[[Any], str]
    owner: Callable[[Any], User]


def _on_app(name: str, right: str, verb: str, make: Callable[..., Any]) -> Act:
    return Act(
        name,
        f"oidc_provider.{right}_application",
        f"application:{verb}",
        make=make,
        page=app_page,
        path=lambda app: f"{app_page(app)}{name}/",
        owner=lambda app: app.user,
    )


def _on_person(name: str, right: str, verb: str, make: Callable[..., Any]) -> Act:
    return Act(
        name,
        f"accounts.{right}_user",
        f"user:{verb}",
        make=make,
        page=person_page,
        path=lambda person: f"{person_page(person)}{name}/",
        owner=lambda person: person,
    )


def _on_profile(name: str, verb: str, make: Callable[..., Any]) -> Act:
    return dataclasses.replace(_on_person(name, "hide", "", make), verb=f"profile:{verb}")


def _on_key(name: str, verb: str, permission: str) -> Act:
    return Act(
        f"{name}-permission",
        "accounts.change_apikey",
        f"api_key:permission_{verb}",
        make=lambda **fields: ApiKeyFactory(prefix="ik_one", owner=UserFactory(username="Ada", **fields)),
        page=lambda key: person_page(key.owner),
        path=lambda key: f"{person_page(key.owner)}keys/{key.prefix}/{permission}/{name}/",
        owner=lambda key: key.owner,
    )


def _on_request(name: str, verb: str, make: Callable[..., Any]) -> Act:
    return Act(
        f"{name}-request",
        "dashboard.decide_accessrequest",
        f"access_request:{verb}",
        make=lambda **fields: make(user=UserFactory(username="Ada", **fields)),
        page=lambda asked: QUEUE,
        path=lambda asked: f"{QUEUE}{asked.pk}/{name}/",
        owner=lambda asked: asked.user,
    )


def _person(**fields: Any) -> User:
    return UserFactory(username="Ada", **fields)


def _banned(**fields: Any) -> User:
    return _person(is_active=False, banned_at="2026-01-01T00:00:00Z", **fields)


def _hidden(**fields: Any) -> User:
    return _person(hidden_at="2026-01-01T00:00:00Z", public_api_access=False, **fields)


def _unlocked(**fields: Any) -> User:
    return _person(unlocked_scopes=["email"], **fields)


def _app_of(factory: Any, **app: Any) -> Callable[..., Application]:
    return lambda **fields: factory(name="Notes", user=_person(**fields), **app)


ACTS = [
    _on_app("suspend", "suspend", "suspended", _app_of(ApplicationFactory)),
    _on_app("restore", "suspend", "restored", _app_of(SuspendedApplicationFactory)),
    _on_app("verify", "verify", "verified", _app_of(ApplicationFactory)),
    _on_app("unverify", "verify", "unverified", _app_of(ApplicationFactory, is_verified=True)),
    _on_person("ban", "ban", "banned", _person),
    _on_person("lift", "ban", "ban_lifted", _banned),
    _on_person("warn", "warn", "warned", _person),
    _on_profile("hide", "hidden", _person),
    _on_profile("show", "shown_again", _hidden),
    _on_person("scopes/email/unlock", "unlock_scopes", "scope_unlocked", _person),
    _on_person("scopes/email/relock", "unlock_scopes", "scope_relocked", _unlocked),
    _on_key("grant", "granted", "lookup:user"),
    _on_key("withdraw", "withdrawn", "account"),
    _on_request("grant", "granted", AccessRequestFactory),
    _on_request("deny", "denied", PermissionRequestFactory),
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
