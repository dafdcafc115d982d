"""Every regular expression of the apps takes a time that grows with the length of the text, and no faster."""

from __future__ import annotations

import re

import pytest

from tests.support import patterns
from tests.support.patterns import Found

pytestmark = pytest.mark.once

FOUND: dict[str, list[Found]] = {}
for one in patterns.collected():
    FOUND.setdefault(one.place, []).append(one)
# Patterns that read texts of ours, which no user sends.
OWN_TEXTS = {
    "config.observability.observation._GROUP",  # routes of URLs
    "dashboard.documentation.expansion._BLOCK",  # pages of the documentation
    "dashboard.documentation.expansion._DESCRIPTION",  # its drawings
    "dashboard.documentation.explorer._BLOCK",
}
_BAD = r"[^\s:/?#@]+(?:\.[^\s:/?#@]+)+(?::\d{1,5})?"


@pytest.mark.parametrize("place", sorted(FOUND.keys() - OWN_TEXTS))
def test_a_long_text_takes_no_longer_than_its_length_asks_for(place: str) -> None:
    assert [patterns.slow_text(found) for found in FOUND[place]] == [None] * len(FOUND[place])


def test_patterns_of_every_kind_of_place_are_found() -> None:
    places = {
        *OWN_TEXTS,
        "accounts.text_rules.find_unstorable.__self__",  # a method of a pattern
        "accounts.user_agents._BROWSERS.4.1",  # a row of a table
        "dashboard.profile.media._IMAGES.1.signature",  # a field of an object
        "presence.records.Ending._SHAPE",  # an attribute of a class
        "dashboard.profile.import_preview:135",  # the argument of a function
        "lookup.models.badges.validate_color.regex",  # a validator of a column
        "the URL <name:name>/comments/<link_id:comment_id>",
    }
    assert places - FOUND.keys() == set()


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (_BAD, "fullmatch"),
        (rf"[^\s:/?#@]+@{_BAD}", "fullmatch"),
        (r"[a-z][a-z0-9+.-]*://\S*|\b(?:[\w-]+\.)+[^\W\d_]{2,}\b\S*", "search"),
        (r"\bVersion/(\d+)\S* (?:Mobile/\S+ )?Safari/", "search"),
        (r"^r/(?P<first>.+)/(?P<second>.+)/\Z", "search"),
        (r"\s+\Z", "search"),
        (rb"(a|aa)+;", "fullmatch"),
    ],
)
def test_a_pattern_that_backtracks_is_found_out(pattern: str | bytes, method: str) -> None:
    assert patterns.slow_text(Found("here", re.compile(pattern), frozenset({method})))
