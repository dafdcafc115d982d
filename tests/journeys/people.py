"""The participants: a person with an account, a registered app."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.journeys.browser import Browser
from tests.journeys.operators import Operator

OWNER = "owner-of-the-apps"
REDIRECT_URL = "https://app.example.org/callback"
ALL_SCOPES = ("openid", "identify", "email", "connections", "offline_access")
PLAIN_SCOPES = ("openid", "identify", "offline_access")
_number = itertools.count(1)


@dataclass(frozen=True)
class Person:
    username: str
    email: str
    password: str = field(repr=False)
    id: str = ""
    uid: int = -1

    def sign_in(self, browser: Browser) -> Browser:
        """Fill in the login page, which must be the current page."""
        assert browser.heading.startswith("Sign in"), browser.text
        return browser.press("Sign in", login=self.username, password=self.password)


@dataclass(frozen=True)
class App:
    name: str
    client_id: str
    client_secret: str = field(repr=False)
    redirect_url: str = REDIRECT_URL
    scopes: tuple[str, ...] = PLAIN_SCOPES


def stranger() -> Person:
    """A person without account."""
    name = f"person-{next(_number)}-{secrets.token_hex(3)}"
    return Person(name, f"{name}@mail.example", secrets.token_urlsafe(15))


def new_person(operator: Operator) -> Person:
    """A person with an account and a confirmed address."""
    person = stranger()
    made = operator.do("new_person", username=person.username, email=person.email, password=person.password)
    return Person(person.username, person.email, person.password, made["id"], made["uid"])


def new_app(
    operator: Operator, *, redirect_urls: Sequence[str] = (REDIRECT_URL,), scopes: Sequence[str] = PLAIN_SCOPES
) -> App:
    """An app of the owner of all apps, whom `settle` has created."""
    name = f"Journey app {next(_number)}"
    made = operator.do("new_app", owner=OWNER, name=name, redirect_urls=list(redirect_urls), scopes=list(scopes))
    return App(name, made["client_id"], made["client_secret"], redirect_urls[0], tuple(scopes))


def settle(operator: Operator) -> None:
    """Create the owner of all apps."""
    password = secrets.token_urlsafe(15)
    operator.do("new_person", username=OWNER, email=f"{OWNER}@mail.example", password=password)
