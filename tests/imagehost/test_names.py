"""Names of folders and passwords: what is kept of them, and what is refused."""

import pytest

from imagehost import names

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
