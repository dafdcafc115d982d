"""The scopes, and what a registered app may ask for. Source: docs/spec/sign-in.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oauth2_provider.scopes import BaseScopes

from oidc_provider import lifetimes

if TYPE_CHECKING:
    from oidc_provider.models import Application


@dataclass(frozen=True)
class Scope:
    """`label` is shown on the consent screen; `is_locked`: owners register it only after staff unlock it for them."""

    name: str
    label: str
    description: str
    claims: tuple[str, ...] = ()
    is_locked: bool = False


SCOPES = {
    scope.name: scope
    for scope in (
        Scope("openid", "Sign in", "Confirms that it is you.", ("sub",)),
        Scope(
            "identify",
            "Basic profile",
            "Your user id, names, picture and profile page.",
            ("uid", "name", "preferred_username", "picture", "profile"),
        ),
        Scope(
            "email",
            "Email address",
            "Your email address, and whether you confirmed it.",
            ("email", "email_verified"),
            is_locked=True,
        ),
        Scope(
            "connections",
            "Connected accounts",
            "The chat and music accounts that you linked.",
            ("connections",),
            is_locked=True,
        ),
        Scope(
            "offline_access",
            "Refresh session",
            f"Stays signed in for {lifetimes.REFRESH_TOKEN} after each use, without asking again.",
        ),
    )
}
LOCKED_SCOPES = tuple(scope.name for scope in SCOPES.values() if scope.is_locked)


_NAME = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")  # RFC 6749 §3.3


def parse(text: str) -> list[str]:
    """Return the names in a `scope` parameter, known or not; none where one is malformed.

    Spaces and tabs separate names, also several together or around them: apps join lists that have empty entries.
    """
    names = [name for name in text.replace("\t", " ").split(" ") if name]
    return names if all(map(_NAME.fullmatch, names)) else []


def in_order(names: Iterable[str]) -> list[str]:
    """Return the known scopes among `names`, once each, in the order of SCOPES."""
    wanted = set(names)
    return [name for name in SCOPES if name in wanted]


class RegisteredScopes(BaseScopes):
    """SCOPES_BACKEND_CLASS: an app may ask for the scopes that it registered; there is no default."""

    def get_all_scopes(self) -> dict[str, str]:
        return {scope.name: scope.label for scope in SCOPES.values()}

    def get_available_scopes(self, application: Application | None = None, *args: Any, **kwargs: Any) -> list[str]:
        return application.registered_scopes if application is not None else []

    def get_default_scopes(self, *args: Any, **kwargs: Any) -> list[str]:
        return []
