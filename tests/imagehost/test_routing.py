"""Folder rules: what a pattern matches, and that the first one that does decides."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from imagehost import routing
from imagehost.routing import Upload


@dataclass(frozen=True)
class Rule:
    kind: str
    pattern: str


PNG = Upload("image/png", "png", "Screenshot [1].PNG")
JPEG = Upload("image/jpeg", "jpg", "holiday.jpeg")
MOV = Upload("video/quicktime", "mov", "clip.mov")

MATCHES = [
    ("mime", "image/png", PNG, True),
    ("mime", " IMAGE/PNG ", PNG, True),
    ("mime", "image/*", PNG, True),
    ("mime", "image/*", MOV, False),
    ("mime", "video/*", MOV, True),
    ("mime", "*", MOV, True),
    ("mime", "image/pn", PNG, False),
    ("mime", "image/png2", PNG, False),
    ("mime", "image/jpg", JPEG, True),
    ("mime", "png", PNG, False),
    ("extension", "png", PNG, True),
    ("extension", ".PNG", PNG, True),
    ("extension", "*.png", PNG, True),
    ("extension", "*", PNG, True),
    ("extension", "pn", PNG, False),
    ("extension", "jpg", JPEG, True),
    ("extension", "jpeg", JPEG, True),
    ("extension", ".JPEG", JPEG, True),
    ("extension", "jpg", PNG, False),
    ("filename", "screenshot*", PNG, True),
    ("filename", "SCREENSHOT*", PNG, True),
    ("filename", "*.png", PNG, True),
    ("filename", "*[1]*", PNG, True),
    ("filename", "*[0-9]*", PNG, False),
    ("filename", "*[!a]*", PNG, False),
    ("filename", "Screenshot ???.png", PNG, True),
    ("filename", "Screenshot ??.png", PNG, False),
    ("filename", "screenshot", PNG, False),
    ("filename", "*", PNG, True),
    ("filename", "holiday.jpg", JPEG, False),
    ("filename", "holiday.jpeg", JPEG, True),
    ("filename", "holiday?jpeg", JPEG, True),
    ("filename", "^holiday.*$", JPEG, False),
    ("filename", "(a|holiday).jpeg", JPEG, False),
    ("filename", r"holiday\.jpeg", JPEG, False),
]


@pytest.mark.parametrize(("kind", "pattern", "upload", "is_match"), MATCHES)
def test_what_a_rule_matches(kind: str, pattern: str, upload: Upload, is_match: bool) -> None:
    assert routing.is_match(Rule(kind, pattern), upload) is is_match


@pytest.mark.parametrize(
    ("name", "pattern", "is_like"),
    [
        ("", "", True),
        ("", "*", True),
        ("", "***", True),
        ("", "?", False),
        ("a", "", False),
        ("a", "?*", True),
        ("ab", "?*?", True),
        ("a", "?*?", False),
        ("abcabd", "*abd", True),
        ("abcabd", "a*b*d", True),
        ("abcabd", "a*bd*c", False),
        ("aab", "*a?b", True),
        ("ab", "*a?b", False),
        ("axab", "*a?b", False),
        ("axbab", "*a?b*", True),
        ("a\nb", "a*b", True),
        ("a\nb", "a?b", True),
        ("a.b", "a.b", True),
        ("axb", "a.b", False),
        ("*", "*", True),
        ("\U0001f331.png", "?.png", True),
        ("Straße.png", "STRASSE*", True),
        ("ΟΔΟΣ.png", "οδος.png", True),
        ("cafe\u0301.png", "caf\u00e9.png", True),
        ("caf\u00e9.png", "CAFE\u0301.png", True),
        ("e\u0301.png", "?.png", True),
        ("\u0130stanbul", "i\u0307stanbul", True),
    ],
)
def test_what_a_pattern_is_like(name: str, pattern: str, is_like: bool) -> None:
    assert routing.is_like(name, pattern) is is_like


@pytest.mark.parametrize(
    "pattern", ["a*" * 50 + "b", "*a" * 49 + "*b", "*" * 99 + "b", "?*" * 49 + "b", "a?*" * 33 + "b"]
)
def test_a_hostile_pattern_is_answered(pattern: str) -> None:
    """A matcher that tries every way for every star would not come back from these."""
    assert not routing.is_like("a" * 255, pattern)
    assert routing.is_like("a" * 255 + "b", pattern)


def test_the_first_rule_that_matches_decides() -> None:
    rules = [Rule("mime", "video/*"), Rule("filename", "holiday*"), Rule("extension", "jpg"), Rule("mime", "image/*")]
    assert routing.first_match(rules, JPEG) is rules[1]
    assert routing.first_match(reversed(rules), JPEG) is rules[3]
    assert routing.first_match(rules, PNG) is rules[3]
    assert routing.first_match(rules, MOV) is rules[0]


def test_what_no_rule_matches_goes_to_the_root() -> None:
    assert routing.first_match([Rule("extension", "gif"), Rule("filename", "x*")], PNG) is None
    assert routing.first_match([], PNG) is None


@pytest.mark.parametrize(
    ("kind", "pattern", "normal"),
    [
        ("mime", " Image/PNG", "image/png"),
        ("mime", "image/JPG", "image/jpeg"),
        ("extension", " .JPEG ", "jpg"),
        ("extension", "*.gif", "gif"),
        ("extension", "*", "*"),
        ("filename", " My Shot*.PNG ", "My Shot*.PNG"),
        ("filename", "image/jpg", "image/jpg"),
    ],
)
def test_how_a_pattern_is_stored(kind: str, pattern: str, normal: str) -> None:
    assert routing.normal(kind, pattern) == normal
    assert routing.normal(kind, normal) == normal
