"""Folder rules: what a pattern matches, and that the first one that does decides."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from imagehost.receiving import routing


@dataclass(frozen=True)
class Rule:
    kind: str
    pattern: str


@dataclass(frozen=True)
class Upload:
    mime: str
    extension: str
    original_name: str


PNG = Upload("image/png", "png", "Screenshot [1].PNG")
JPEG = Upload("image/jpeg", "jpg", "holiday.jpeg")
MOV = Upload("video/quicktime", "mov", "clip.mov")

MATCHES = [
    ("mime", "image/png", PNG, True),
    ("mime", " IMAGE/PNG ", PNG, True),
    ("mime", "image/*", PNG, True),
    ("mime", "image/*", MOV, False),
    ("mime", "*", MOV, True),
    ("mime", "image/jpg", JPEG, True),
    ("extension", "png", PNG, True),
    ("extension", ".PNG", PNG, True),
    ("extension", "*.png", PNG, True),
    ("extension", "*", PNG, True),
    ("extension", "pn", PNG, False),
    ("extension", "jpeg", JPEG, True),
    ("filename", "SCREENSHOT*", PNG, True),
    ("filename", "*.png", PNG, True),
    ("filename", "*[1]*", PNG, True),
    ("filename", "*[0-9]*", PNG, False),
    ("filename", "Screenshot ???.png", PNG, True),
    ("filename", "Screenshot ??.png", PNG, False),
    ("filename", "screenshot", PNG, False),
    ("filename", "*", PNG, True),
    ("filename", "holiday?jpeg", JPEG, True),
    ("filename", "^holiday.*$", JPEG, False),
]


def test_what_a_rule_matches() -> None:
    assert [(*case[:3], routing.is_match(Rule(*case[:2]), case[2])) for case in MATCHES] == MATCHES


@pytest.mark.parametrize(
    ("name", "pattern", "is_like"),
    [
        ("", "*", True),
        ("", "?", False),
        ("a", "", False),
        ("ab", "?*?", True),
        ("a", "?*?", False),
        ("abcabd", "a*b*d", True),
        ("abcabd", "a*bd*c", False),
        ("ab", "*a?b", False),
        ("axab", "*a?b", False),
        ("a\nb", "a*b", True),
        ("axb", "a.b", False),
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


def test_a_hostile_pattern_is_answered() -> None:
    """A matcher that tries every way for every star would not come back from these."""
    for pattern in ("a*" * 50 + "b", "*" * 99 + "b", "a?*" * 33 + "b"):
        assert not routing.is_like("a" * 255, pattern)
        assert routing.is_like("a" * 255 + "b", pattern)


def test_the_first_rule_that_matches_decides() -> None:
    rules = [Rule("mime", "video/*"), Rule("filename", "holiday*"), Rule("extension", "jpg"), Rule("mime", "image/*")]
    assert routing.first_match(rules, JPEG) is rules[1]
    assert routing.first_match(reversed(rules), JPEG) is rules[3]
    assert routing.first_match(rules, PNG) is rules[3]
    assert routing.first_match(rules, MOV) is rules[0]
    assert routing.first_match(rules[:3], PNG) is None  # it goes to the root


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
