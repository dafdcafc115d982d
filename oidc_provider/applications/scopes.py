"""The five scopes, and what a registered app may ask for. Source: docs/spec/sign-in.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oauth2_provider.scopes import BaseScopes

if TYPE_CHECKING:
    from oidc_provider.models import Application


@dataclass(frozen=True)
class Scope:
    """`label` stands on the consent screen; `is_locked`: staff must unlock it for an owner first."""

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
        Scope("offline_access", "Refresh session", "Stays signed in for 30 days after each use, without asking again."),
    )
}
LOCKED_SCOPES = tuple(scope.name for scope in SCOPES.values() if scope.is_locked)


# RFC 6749 §3.3: names of these characters with one space between two of them, and nothing around.
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*\Z")


def parse(text: str) -> list[str]:
    """The names in a `scope` parameter, known or not; none where it is malformed."""
    return text.split(" ") if _SCOPE.match(text) else []


def in_order(names: Iterable[str]) -> list[str]:
    """The known scopes among `names`, once each, in the document's order."""
    wanted = set(names)
    return [name for name in SCOPES if name in wanted]


class RegisteredScopes(BaseScopes):
    """Tells the toolkit which scopes exist, and that an app may ask for what it registered, with no default."""

    def get_all_scopes(self) -> dict[str, str]:
        return {scope.name: scope.label for scope in SCOPES.values()}

    def get_available_scopes(
        self, application: Application | None = None, request: Any = None, *args: Any, **kwargs: Any
    ) -> list[str]:
        """`request` is oauthlib's, which has no types; it is not used."""
        return application.registered_scopes if application is not None else []

    def get_default_scopes(
        self, application: Application | None = None, request: Any = None, *args: Any, **kwargs: Any
    ) -> list[str]:
        return []
