"""Files that are not JSON lines, and lines that conflict with each other or with stored users."""

from __future__ import annotations

import copy
import io
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from lookup.models import Profile
from lookup.transfer import reading
from lookup.transfer.reading import LineRefused
from tests.factories.accounts import AliasFactory, LinkedAccountFactory, UserFactory
from tests.lookup.transfer_files import export, load, refusal
from tests.lookup.transfer_line import (
    AUTHOR,
    SECOND,
    USER,
    changed,
    comment,
    line,
    new_id,
    second,
    text_of,
)

pytestmark = pytest.mark.django_db

# The text of the line, and the problem.
NOT_READ: list[tuple[bytes, str]] = [
    (b"{", "Is not JSON: Expecting property name enclosed in double quotes at character 2."),
    (b"\xff{}", "Is not UTF-8."),
    (b"[]", "Must be an object."),
    (b'{"a":NaN}', "Is not JSON that can be read: NaN is no number of JSON."),
    (b'{"a":' + b"9" * 5000 + b"}", "Is not JSON that can be read: a number has too many digits."),
    (b"[" * 100_000, "Is not JSON that can be read: it is nested too deep."),
    (b'{"user":{"id":1,"id":2}}', "user.id: Appears twice."),
    (b'{"links":[{},{"url":1,"\\u0075rl":1}],"a":1,"a":1}', "links.1.url: Appears twice."),
    (b"{} {}", "Is not JSON: Extra data at character 4."),
    (b'{"a":"\x01"}', "Is not JSON: Invalid control character at at character 7."),
    (b'{"a":"' + b"x" * 10_000_000 + b'"}', "Has more than 8388608 bytes."),
]


@pytest.mark.parametrize(("text", "said"), NOT_READ, ids=[f"{text!r:.30}" for text, _ in NOT_READ])
def test_what_cannot_be_read_is_refused_with_a_sentence(text: bytes, said: str) -> None:
    with pytest.raises(LineRefused) as refused:
        reading.read(1, text)
    assert said in [": ".join(filter(None, problem)) for problem in refused.value.problems]


def test_a_line_that_cannot_be_read_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    found = refusal(b"\xff{}\n" + text_of(line()).encode(), tmp_path)
    assert found == ["line 1: Is not UTF-8."]
    assert User.objects.count() == 2


def test_a_number_beyond_all_floats_is_out_of_bounds() -> None:
    text = text_of(changed("views", 12345678987)).replace("12345678987", "1e999")
    with pytest.raises(LineRefused) as refused:
        reading.read(1, text.encode())
    assert refused.value.problems == [("views", "Must be an integer.")]


def test_a_byte_order_mark_line_ends_of_windows_and_empty_lines_do_no_harm(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbf" + text_of(line()).encode().replace(b"\n", b"\r\n") + b"\r\n \n" + b"{}\r\n\n"
    assert refusal(text, tmp_path)[0] == "line 4: error: Is missing."
    assert User.objects.count() == 2


def test_a_line_that_is_too_long_is_not_read_into_memory() -> None:
    file = io.BytesIO(b"x" * (3 * reading.MAX_BYTES) + b"\n{}\n")
    found = list(reading.lines(file))
    assert [(number, len(text)) for number, text in found] == [(1, reading.MAX_BYTES + 2), (2, 2)]


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(CommandError, match="/nowhere/x cannot be read: No such file or directory"):
        call_command("import_profiles", "/nowhere/x")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text_of(line()).rstrip("\n").encode())))
    out = io.StringIO()
    call_command("import_profiles", "-", stdout=out)
    assert out.getvalue() == "Imported 1 profiles, 1 of them new.\n"


def test_who_is_here_keeps_uid_and_names(tmp_path: Path) -> None:
    holder = UserFactory(username="Holder", email="")
    AliasFactory(user=holder, name="zed")
    LinkedAccountFactory(user=holder, external_id="268473310986249999")
    bad = changed("user.uid", holder.uid)
    assert refusal(text_of(bad), tmp_path) == [
        f"line 1: user.uid: The uid 0 belongs to Holder ({holder.pk}), not to {USER}.",
        f"line 1: user.chatId: The chat account 268473310986249999 belongs to Holder ({holder.pk}), not to {USER}.",
        f"line 1: aliases.0.name: The name ZED belongs to Holder ({holder.pk}), not to {USER}.",
    ]


def test_two_new_authors_with_one_uid(tmp_path: Path) -> None:
    items = [comment(80), comment(81, author={**comment(81)["author"], "id": "9" * 32, "username": "New"})]
    said = f"line 1: comments.items.1.author.uid: The uid 7 belongs to {AUTHOR}, not to {'9' * 32}."
    assert refusal(text_of(line(comments={"count": 2, "items": items})), tmp_path) == [said]


def test_an_author_of_two_lines_has_one_uid(tmp_path: Path) -> None:
    other = second()
    for item in other["comments"]["items"]:
        item["author"]["uid"] = 8
    said = f"line 2: comments.items.0.author.uid: The user {AUTHOR} has the uid 7 here, not 8."
    assert said in refusal(text_of(line(), other), tmp_path, "--check")


def test_an_author_whose_own_line_comes_later_is_what_that_says(tmp_path: Path) -> None:
    author = copy.deepcopy(second(id=AUTHOR, uid=7, username="Author", name=None))
    for other_files in (False, True):
        lines = [text_of(line()), text_of(author)]
        for text in lines if other_files else ["".join(lines)]:
            load(text, tmp_path)
        assert Profile.objects.get(user=AUTHOR, is_main=True).pk == "2" * 32
        before = export()
        load(before, tmp_path)
        assert export() == before
        User.objects.all().delete()


def test_a_refused_line_takes_nothing_from_the_lines_after_it(tmp_path: Path) -> None:
    bad = changed("comments.items.0.author.id", new_id(7))
    bad["comments"]["items"][0]["author"]["uid"] = 41
    said = refusal(text_of(bad, second(uid=41, username="Hand.Written")), tmp_path)
    assert {one.partition(":")[0] for one in said} == {"line 1"}
    assert User.objects.filter(username="Hand.Written").get().pk == SECOND


def test_a_check_writes_nothing_and_sees_conflicts_across_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lookup.transfer.importing.BATCH_LINES", 1)
    out, err = load(text_of(line(), second()), tmp_path, "--check")
    assert (out, err) == ("Could import 2 profiles, 2 of them new.\n", "")
    said = refusal(text_of(line(), second(uid=41)), tmp_path, "--check")
    assert said == [f"line 2: user.uid: The uid 41 belongs to {USER}, not to {SECOND}."]
    assert not User.objects.exists()


def test_what_lookups_say_in_another_way_is_a_warning(tmp_path: Path) -> None:
    odd = line()
    odd["projects"].reverse()
    odd["badges"][0]["unlockedTiers"] = [3, 1]
    odd["comments"]["items"].reverse()
    assert load(text_of(odd), tmp_path)[1].splitlines() == [
        "line 1: projects: Warning: Lookups show them by order, then by id.",
        "line 1: badges.0.unlockedTiers: Warning: Lookups show them in ascending order, each once.",
        "line 1: comments.items: Warning: Lookups show pinned ones first, then the newest.",
    ]
