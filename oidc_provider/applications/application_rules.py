"""What may be registered for an app. Functions return problems as sentences; they do not raise."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError

from accounts.models import User
from infrastructure import outbound, text_rules
from oidc_provider import redirects
from oidc_provider.applications import roles
from oidc_provider.applications.scopes import SCOPES
from oidc_provider.models import Application, Team
from oidc_provider.models.applications import MAX_LINK_LENGTH, MAX_NAME_LENGTH

MAX_APPLICATIONS = 50
TOO_MANY = f"An account can have at most {MAX_APPLICATIONS} apps; delete one that you no longer need."
LINKS = ("homepage_url", "privacy_url", "terms_url", "support_url")
LOGOUT_URL = "backchannel_logout_uri"
# What `applications.change_details` sets. A staging app has its own LOGOUT_URL, like its redirect URLs.
DETAILS = ("name", *LINKS, LOGOUT_URL)
# By Latin letter: digits, Cyrillic, Greek and stroked Latin letters that look like it. Names are folded to lower case
# first. I, l and 1 are one stroke, so all of them are l.
_STAND_FOR = {
    "o": "0\u043e\u03bf\u0585\u00f8",
    "l": "1i|!\u0456\u04cf\u03b9\u0131\u2113\u0142\u0268",
    "a": "@\u0430\u03b1\u0251",
    "b": "\u0432\u03b2\u0180",
    "c": "\u0441\u03f2",
    "d": "\u0501\u0111",
    "e": "3\u0435\u03b5",
    "g": "\u0261",
    "h": "\u043d\u04bb\u0127",
    "j": "\u0458\u03f3",
    "k": "\u043a\u03ba",
    "m": "\u043c",
    "n": "\u03b7",
    "p": "\u0440\u03c1",
    "q": "\u051b",
    "s": "5$\u0455",
    "t": "7\u0442\u03c4\u0167",
    "u": "\u03c5",
    "v": "\u03bd",
    "w": "\u051d\u03c9",
    "x": "\u0445\u03c7",
    "y": "\u0443\u04af\u03b3",
}
# Greek capitals whose small letter looks like another Latin letter, or like none.
_CAPITALS = str.maketrans({"\u0396": "z", "\u0397": "h", "\u039c": "m", "\u039d": "n", "\u03a5": "y"})
_TABLE = str.maketrans({drawn: letter for letter, many in _STAND_FOR.items() for drawn in many})


def name_problems(name: str, owner: User, team: Team | None = None) -> list[str]:
    """Users read the name, of an app or of a team, on the consent screen, so it must not look like another app's.

    Apps of the owner, and of the team, may have the same one.
    """
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        return [f"Use 1 to {MAX_NAME_LENGTH} characters."]
    if name != name.strip():
        return ["Remove the white space around the name."]
    return _forbidden_name(name, owner, team)


def _forbidden_name(name: str, owner: User, team: Team | None) -> list[str]:
    kinds = {unicodedata.category(character) for character in name}
    if kinds & {"Cc", "Cf", "Cs", "Zl", "Zp"} or text_rules.find_filler(name):
        return ["The name contains control or invisible characters."]
    if not text_rules.has_something_to_see(name):
        return ["The name has no visible letter."]
    folded = unicodedata.normalize("NFKC", name).casefold()
    seen = skeleton(name)
    if folded == unicodedata.normalize("NFKC", settings.SITE_NAME).casefold():
        return ["This is the name of the service itself."]
    if seen and seen == skeleton(settings.SITE_NAME):
        return [f"The name looks like that of the service itself, {settings.SITE_NAME}."]
    if "official" in folded or skeleton("official") in seen:
        return ["The word “official” is not allowed in a name."]
    return _taken_by_verified(name, seen, owner, team)


def _taken_by_verified(name: str, seen: str, owner: User, team: Team | None) -> list[str]:
    """Compare with each verified app in Python, because databases cannot fold lookalikes; there are few."""
    others = Application.objects.filter(is_verified=True).exclude(user=owner)
    if team is not None:
        others = others.exclude(team=team)
    for known in others.values_list("name", flat=True):
        if known.casefold() == name.casefold():
            return ["A verified app has this name."]
        if seen and skeleton(known) == seen:
            return [f"The name looks like that of a verified app, {known}. Choose a name that looks different."]
    return []


def scope_problems(scopes: Sequence[str], owner: User, team: Team | None = None) -> list[str]:
    """Scopes are known, each listed once, and locked ones unlocked for the owner, or for a member of the team."""
    is_locked = [name for name in scopes if name in SCOPES and SCOPES[name].is_locked]
    unlocked = roles.unlocked_scopes(owner, team) if is_locked else set()
    problems = [f"{name} is not a scope; choose from {', '.join(SCOPES)}." for name in scopes if name not in SCOPES]
    problems += [
        f"{name} is locked: staff must unlock it for {'a member of the team' if team else owner} first."
        for name in is_locked
        if name not in unlocked
    ]
    problems += [f"{name} is given twice." for name in sorted({name for name in scopes if scopes.count(name) > 1})]
    if not scopes:
        problems.append("Register at least one scope.")
    return problems


def link_problems(links: dict[str, str]) -> dict[str, list[str]]:
    """Links are empty or web addresses. Return problems by name of the link."""
    problems: dict[str, list[str]] = {}
    for name, url in links.items():
        if len(url) > MAX_LINK_LENGTH:
            problems[name] = [f"Use at most {MAX_LINK_LENGTH} characters."]
        elif url:
            try:
                text_rules.validate_web_address(url)
            except ValidationError as error:
                problems[name] = error.messages
    return problems


def logout_url_problems(url: str) -> list[str]:
    """It is empty, or an address to which the service sends requests."""
    problem = outbound.problem_of(url, allows_loopback=settings.WEBHOOKS_TO_LOOPBACK) if url else None
    return [problem] if problem else []


def problems(*, owner: User, team: Team | None = None, **values: Any) -> dict[str, list[str]]:
    """Return the problems of `values` (details, redirect_urls and scopes, as far as given) by name."""
    found: dict[str, list[str]] = {}
    if "name" in values:
        found["name"] = name_problems(values["name"], owner, team)
    if "redirect_urls" in values:
        found["redirect_urls"] = redirects.problems_of_all(values["redirect_urls"])
    if "scopes" in values:
        found["scopes"] = scope_problems(values["scopes"], owner, team)
    if LOGOUT_URL in values:
        found[LOGOUT_URL] = logout_url_problems(values[LOGOUT_URL])
    found |= link_problems({name: values[name] for name in LINKS if name in values})
    return {name: sentences for name, sentences in found.items() if sentences}


def skeleton(name: str) -> str:
    """Return `name` without case, accents and gaps, with one letter for all that look like it.

    Two names look alike if their skeletons are equal. Empty for a name without letters and digits.
    """
    folded = unicodedata.normalize("NFKD", name).translate(_CAPITALS).casefold().translate(_TABLE)
    folded = unicodedata.normalize("NFKD", folded).translate(_TABLE)
    return "".join(character for character in folded if character.isalnum())
