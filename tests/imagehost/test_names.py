"""Names of folders, passwords, and the header that names a file to the browser that saves it."""

import pytest
from django.http import HttpResponse

from imagehost import names
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


@pytest.mark.parametrize(
    ("text", "error"),
    [
        *(("", "Must not be empty."), ("x" * 33, TOO_LONG), ("\ud800", UNSEEN)),
        *((f"a{character}b", UNSEEN) for character in "\x00\n\u200b\u202e\u2028"),
    ],
)
def test_what_is_refused_of_both(text: str, error: str) -> None:
    for rule in (names.folder_name, names.folder_password):
        with pytest.raises(ValueError, match=f"^{error}$"):
            rule(text)


@pytest.mark.parametrize("text", [" ", " \u3000\n", "\u200d\u200c", " \u200d"])
def test_a_name_that_shows_nothing_is_empty(text: str) -> None:
    with pytest.raises(ValueError, match="empty"):
        names.folder_name(text)


@pytest.mark.parametrize("text", ["\u3164", "\u2800 \uffa0", "\ufe0f", "\u034f"])
def test_a_name_of_fillers_is_refused_and_a_file_of_such_a_name_is_saved_by_another(text: str) -> None:
    with pytest.raises(ValueError, match="nothing that can be seen"):
        names.folder_name(text)
    assert names.shown(text, otherwise="file") == "file"


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


def test_an_attachment_says_so() -> None:
    assert (
        disposition("folder.zip", attachment=True) == "attachment; filename=\"folder.zip\"; filename*=UTF-8''folder.zip"
    )
