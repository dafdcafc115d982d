"""What no text and no link may hold: control characters, bidirectional overrides, user info."""

from __future__ import annotations

import itertools

import pytest
from django.core.exceptions import ValidationError

from accounts.models import ApiKey, User
from infrastructure import http_client, text_rules

OVERRIDES = [*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))]
CONTROLS = [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0))]
BREAKS = ["\t", "\n", "\r\n"]
ALLOWED = [
    *("", "Ada", "Grüße 🌱 👩\u200d💻", "\u0645\u062d\u0645\u062f\u061c", "\u05d0\u200f\u200e", "\u2028 \u00ad \xa0"),
    *("\u2029", "\u2027", "\u202f", "\u2065", "\u206a"),
]


@pytest.mark.parametrize("character", [*OVERRIDES, *CONTROLS], ids=lambda one: f"U+{ord(one):04X}")
def test_a_line_holds_no_control_character_and_no_override(character: str) -> None:
    said = f"Contains a control character or a bidirectional override (U+{ord(character):04X}); remove it."
    assert text_rules.problem_of_line(f"a{character}b") == said
    assert text_rules.problem_of_text(f"a{character}b") == (None if character in BREAKS else said)
    assert text_rules.cleaned_line(f"a{character}b") == "ab"


@pytest.mark.parametrize("text", ALLOWED)
def test_other_characters_stay_and_so_do_the_marks_of_arabic_and_hebrew(text: str) -> None:
    assert (text_rules.problem_of_line(text), text_rules.problem_of_text(text)) == (None, None)
    assert text_rules.cleaned_line(text) == text


def test_a_folded_text_is_folded_and_case_never_matters() -> None:
    """Of every character that the service stores."""
    for code in itertools.chain(range(1, 0xD800), range(0xE000, 0x30000)):
        folded = text_rules.folded(chr(code))
        assert text_rules.folded(folded) == folded, hex(code)
        assert text_rules.folded(chr(code).upper()) == text_rules.folded(chr(code).upper().lower()), hex(code)


@pytest.mark.parametrize(
    ("name", "beginnings"),
    [
        ("Straße", ["strasse", "STRASSE", "straß"]),
        ("ΣΊΣΥΦΟΣ", ["σισυφος", "Σίσυφος", "σίσυφοσ"]),
        ("Ёлка Й", ["елка", "ЁЛКА"]),
        ("\ufb01lm", ["film", "FILM"]),
        ("مُحَمَّد", ["محمد"]),
        ("がくせい", ["が", "がく"]),
        ("ｶﾞｸ", ["ガ", "ガク"]),
        ("한국", ["한", "한국"]),
        ("สมชาย", ["ส", "สม"]),
        ("กี่", ["กี"]),
    ],
)
def test_a_folded_name_begins_with_the_folded_beginning_of_any_case_accents_and_width(
    name: str, beginnings: list[str]
) -> None:
    for beginning in beginnings:
        assert text_rules.folded(name).startswith(text_rules.folded(beginning)), beginning


SEEN = [
    *("Ada", "7", "?", "+", "\u5bb6", "\u0e01", "\U0001f525", "\U0001faea", "\ue000", "\u05d0\u200f"),
    *("1\ufe0f\u20e3", "👩\u200d💻", "👍🏽", "🇩🇪", "❤\ufe0f", "🏴\U000e0067\U000e0062\U000e007f", "e\u0301", "\u3164a"),
]
UNSEEN = [
    *("\u115f", "\u1160", "\u3164", "\uffa0", "\u2800", "\u034f", "\ufe0f", "\U000e0100", "\U000e0067\U000e007f"),
    *("\u200b", "\u200d\u200c", "\u2060", "\ufeff", "\u00ad", "\u180e", "\u061c", "\u200f", "\u2064", "\u17b4"),
    *(" ", "\xa0", "\u2003", "\u3000", "\u2028", "\u0301", "\ufffc", "\u2065", "\U000e0fff", "\U0001d159"),
    "\u3164 \u2800\u200b\ufe0f" * 10,
]


@pytest.mark.parametrize("text", SEEN)
def test_a_text_with_a_letter_a_digit_a_sign_or_an_emoji_can_be_seen(text: str) -> None:
    for validate in (text_rules.validate_line, text_rules.validate_text):
        validate(text)


@pytest.mark.parametrize("text", UNSEEN, ids=ascii)
def test_a_text_of_format_filler_and_blank_characters_is_refused(text: str) -> None:
    for validate in (text_rules.validate_line, text_rules.validate_text):
        with pytest.raises(ValidationError, match=r"^\['Contains nothing that can be seen; "):
            validate(text)


@pytest.mark.parametrize("text", [*BREAKS, "a\r\n\r\n\tb"])
def test_a_long_text_has_lines_and_tabs(text: str) -> None:
    assert text_rules.problem_of_text(text) is None
    assert text_rules.problem_of_line(text) is not None


@pytest.mark.parametrize(
    "url", ["https://bank.example/", "http://a.example:8080/@me?x=@y#@", "https://[::1]/a@b", "HTTPS://A.example"]
)
def test_a_link_is_a_web_address(url: str) -> None:
    text_rules.validate_web_address(url)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "https://bank.example@evil.example/",
            "https://a:b@evil.example",
            "http://@evil.example",
            "https://a%40b@c.example",
        ),
        *("https://bank.example/\u202e", "https://bank.example/\x01", "https://bank.example\n", "bank.example", ""),
        *("ftp://bank.example", "javascript:alert(1)", "https://bank.example\\@evil.example"),
    ],
)
def test_a_link_with_user_info_or_an_unsafe_character_is_refused(url: str) -> None:
    with pytest.raises(ValidationError):
        text_rules.validate_web_address(url)


def test_a_name_from_another_service_comes_without_them() -> None:
    assert http_client.name_of(" \u202eada\x07\ud83d\x00 ") == "ada"


@pytest.mark.parametrize(("model", "column"), [(User, "display_name"), (ApiKey, "name")])
def test_the_columns_of_names_have_the_rule(model: type[User | ApiKey], column: str) -> None:
    """So that every form of them has it, the admin's too."""
    (field,) = [field for field in model._meta.fields if field.name == column]
    assert text_rules.validate_line in field.validators
