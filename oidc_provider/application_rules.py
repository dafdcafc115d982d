"""What may be registered for an app. Every function returns the problems, in sentences; none raises."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from accounts.models import User
from oidc_provider import redirects
from oidc_provider.models import Application
from oidc_provider.scopes import SCOPES

MAX_NAME_LENGTH = 64
MAX_LINK_LENGTH = 200
LINKS = ("homepage_url", "privacy_url", "terms_url", "support_url")
_valid_link = URLValidator(schemes=["https", "http"])


def name_problems(name: str, owner: User) -> list[str]:
    """A person reads the name on the consent screen, so it must not pass for somebody else's."""
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        return [f"Use 1 to {MAX_NAME_LENGTH} characters."]
    if name != name.strip():
        return ["Remove the white space around the name."]
    return _forbidden_name(name, owner)


def _forbidden_name(name: str, owner: User) -> list[str]:
    if any(unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for character in name):
        return ["The name contains control or invisible characters."]
    folded = unicodedata.normalize("NFKC", name).casefold()
    if folded == unicodedata.normalize("NFKC", settings.SITE_NAME).casefold():
        return ["This is the name of the service itself."]
    if "official" in folded:
        return ["The word “official” is not allowed in a name."]
    if Application.objects.filter(name__iexact=name, is_verified=True).exclude(user=owner).exists():
        return ["A verified app has this name."]
    return []


def scope_problems(scopes: Sequence[str], owner: User) -> list[str]:
    """Known, each once, and locked ones only where staff unlocked them for the owner."""
    problems = [f"{name} is not a scope; choose from {', '.join(SCOPES)}." for name in scopes if name not in SCOPES]
    problems += [
        f"{name} is locked: staff must unlock it for {owner} first."
        for name in scopes
        if name in SCOPES and SCOPES[name].is_locked and name not in owner.unlocked_scopes
    ]
    problems += [f"{name} is given twice." for name in sorted({name for name in scopes if scopes.count(name) > 1})]
    if not scopes:
        problems.append("Register at least one scope.")
    return problems


def link_problems(links: dict[str, str]) -> dict[str, list[str]]:
    """Empty, or a web address. By name of the link."""
    problems: dict[str, list[str]] = {}
    for name, url in links.items():
        if len(url) > MAX_LINK_LENGTH:
            problems[name] = [f"Use at most {MAX_LINK_LENGTH} characters."]
        elif url:
            try:
                _valid_link(url)
            except ValidationError as error:
                problems[name] = error.messages
    return problems


def problems(*, owner: User, **values: Any) -> dict[str, list[str]]:
    """What is wrong with `values` (name, redirect_urls, scopes and links, as far as given), by name; empty: nothing."""
    found: dict[str, list[str]] = {}
    if "name" in values:
        found["name"] = name_problems(values["name"], owner)
    if "redirect_urls" in values:
        found["redirect_urls"] = redirects.problems_of_all(values["redirect_urls"])
    if "scopes" in values:
        found["scopes"] = scope_problems(values["scopes"], owner)
    found |= link_problems({name: values[name] for name in LINKS if name in values})
    return {name: sentences for name, sentences in found.items() if sentences}
