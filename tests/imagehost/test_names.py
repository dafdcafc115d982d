"""Names of folders, passwords, patterns of rules, and the header that names a file to the browser that saves it."""

import pytest
from django.core.exceptions import ValidationError
from django.http import HttpResponse

from imagehost import names
from imagehost.models import File, FolderRule
from imagehost.names import disposition

TOO_LONG = "Has 33 characters; at most 32 are allowed."
UNSEEN = "Contains control or invisible characters."


def test_a_name_loses_its_spaces_and_a_password_is_kept_as_it_is() -> None:
    assert names.folder_name(" cafe\u0301 \u200d1 ") == "caf\u00e9 \u200d1"
    assert names.folder_password(" cafe\u0301 ") == " cafe\u0301 "
    for rule in (names.folder_name, names.folder_password):
        assert rule("x" * 32) == "x" * 32
    assert names.folder_name("e\u0301" * 32) == "\u00e9" * 32  # counted as it is kept
    assert names.folder_name(" " * 40 + "<b>../Clips\r\n") == "<b>../Clips"


def test_what_is_refused_of_both_and_of_names() -> None:
    both = [("", "Must not be empty."), ("x" * 33, TOO_LONG), ("\ud800", UNSEEN)]
    for text, error in (*both, *((f"a{character}b", UNSEEN) for character in "\x00\n\u200b\u202e\u2028")):
        for rule in (names.folder_name, names.folder_password):
            with pytest.raises(ValidationError, match=error):
                rule(text)
    for text in (" ", " \u3000\n", "\u200d\u200c", " \u200d"):
        with pytest.raises(ValidationError, match="empty"):
            names.folder_name(text)
    for text in ("\u3164", "\u2800 \uffa0", "\ufe0f", "\u034f"):
        with pytest.raises(ValidationError, match="nothing that can be seen"):
            names.folder_name(text)
        assert names.shown(text, otherwise="file") == "file"  # a file of such a name is saved by another


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("shot.png", "inline; filename=\"shot.png\"; filename*=UTF-8''shot.png"),
        ("my shot (1).png", "inline; filename=\"my shot (1).png\"; filename*=UTF-8''my%20shot%20%281%29.png"),
        ("Übung.png", "inline; filename=\"Ubung.png\"; filename*=UTF-8''%C3%9Cbung.png"),
        ("日本.png", "inline; filename=\"__.png\"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.png"),
        ('a"b\\c/d.png', "inline; filename=\"a_b_c_d.png\"; filename*=UTF-8''a_b_c_d.png"),
        (
            "a\r\nSet-Cookie: x=1.png",
            "inline; filename=\"aSet-Cookie_ x=1.png\"; filename*=UTF-8''aSet-Cookie%3A%20x%3D1.png",
        ),
        ("exe\u202egnp.\x00jpg", "inline; filename=\"exegnp.jpg\"; filename*=UTF-8''exegnp.jpg"),
        ("half \ud800.gif", "inline; filename=\"half .gif\"; filename*=UTF-8''half%20.gif"),
        ("two  spaces.png", "inline; filename=\"two spaces.png\"; filename*=UTF-8''two%20%20spaces.png"),
        ("\n", "inline; filename=\"file\"; filename*=UTF-8''file"),
    ],
)
def test_a_name_is_sent_in_ascii_and_in_full(name: str, header: str) -> None:
    assert disposition(name) == header
    assert HttpResponse(headers={"Content-Disposition": header})["Content-Disposition"] == header
    assert disposition(name, attachment=True) == header.replace("inline", "attachment", 1)


PNG = File(mime="image/png", extension="png", original_name="Screenshot [1].PNG")
JPEG = File(mime="image/jpeg", extension="jpg", original_name="holiday.jpeg")
MOV = File(mime="video/quicktime", extension="mov", original_name="clip.mov")

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
    ("filename", "*[!0]*", PNG, False),
    ("filename", "Screenshot ???.png", PNG, True),
    ("filename", "Screenshot ??.png", PNG, False),
    ("filename", "screenshot", PNG, False),
    ("filename", "*", PNG, True),
    ("filename", "holiday?jpeg", JPEG, True),
    ("filename", "^holiday.*$", JPEG, False),
]


def test_what_a_rule_matches() -> None:
    found = [
        (kind, pattern, file, FolderRule(kind=kind, pattern=pattern).matches(file))
        for kind, pattern, file, _ in MATCHES
    ]
    assert found == MATCHES


LIKE = [
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
    ("[a]\\", "[?]\\", True),
    ("Straße.png", "STRASSE*", True),
    ("ΟΔΟΣ.png", "οδος.png", True),
    ("cafe\u0301.png", "caf\u00e9.png", True),
    ("caf\u00e9.png", "CAFE\u0301.png", True),
    ("e\u0301.png", "?.png", True),
    ("\u0130stanbul", "i\u0307stanbul", True),
]


def test_what_a_pattern_is_like() -> None:
    assert [(name, pattern, names.is_like(name, pattern)) for name, pattern, _ in LIKE] == LIKE


def test_a_hostile_pattern_is_answered() -> None:
    """A matcher that tries every way for every star would not come back from these."""
    for pattern in ("a*" * 50 + "b", "*" * 99 + "b", "a?*" * 33 + "b"):
        assert not names.is_like("a" * 255, pattern)
        assert names.is_like("a" * 255 + "b", pattern)


def test_how_a_pattern_is_stored() -> None:
    for kind, pattern, stored in (
        ("mime", " Image/PNG", "image/png"),
        ("mime", "image/JPG", "image/jpeg"),
        ("extension", " .JPEG ", "jpg"),
        ("extension", "*.gif", "gif"),
        ("extension", "*", "*"),
        ("filename", " My Shot*.PNG ", "My Shot*.PNG"),
        ("filename", "image/jpg", "image/jpg"),
    ):
        assert names.stored_pattern(kind, pattern) == names.stored_pattern(kind, stored) == stored
