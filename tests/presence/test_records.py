"""Records as text, which hold whatever the platform sent, and the memory of texts that were read."""

from __future__ import annotations

from typing import Any

import pytest

from presence.memo import Memo
from presence.records import Record
from tests.presence.kept import record


@pytest.mark.parametrize("depth", [300, 900, 5_000])
def test_what_is_nested_beyond_reason_is_cut_and_the_rest_is_kept(depth: int) -> None:
    nested: list[Any] = []
    for _ in range(depth):
        nested = [nested]
    kept = Record.from_text(record(presence={"status": "idle", "activities": nested}).to_text())
    assert kept is not None
    assert kept.presence is not None
    assert (kept.member, kept.presence["status"]) == (record().member, "idle")
    assert str(kept.presence["activities"]).count("[") < 40


@pytest.mark.parametrize(
    "value", [10**5_000, b"bytes", {1, 2}, object()], ids=["5,000 digits", "bytes", "a set", "an object"]
)
def test_what_json_cannot_say_is_left_out_and_the_rest_is_kept(value: object) -> None:
    text = record(member={"nick": value, "user": {"username": "ada"}}).to_text()
    assert Record.from_text(text) == record(member={"nick": None, "user": {"username": "ada"}})


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "null",
        "{}",
        "[" * 100_000,
        '{"m":{},"p":null,"g":"1","t":1,"l":null}',
        '{"m":{},"p":null,"g":1,"t":NaN,"l":null}',
        '{"m":{},"p":null,"g":1e999,"t":1,"l":null}',
        '{"m":[],"p":null,"g":1,"t":1,"l":null}',
        '{"m":{},"p":null,"g":true,"t":1,"l":null}',
    ],
)
def test_a_damaged_text_is_no_record_and_is_logged(text: str, caplog: pytest.LogCaptureFixture) -> None:
    assert Record.from_text(text) is None
    assert caplog.messages == ["A record of the presence store is damaged."]


def test_what_is_not_needed_may_be_damaged() -> None:
    text = '{"m":{},"p":[],"g":1,"t":1.5,"l":"yesterday"}'
    assert Record.from_text(text) == Record({}, None, 1, 1.5, None)


class Reader:
    def __init__(self) -> None:
        self.read: list[int] = []

    def __call__(self, key: int) -> str | None:
        self.read.append(key)
        return None if key < 0 else str(key)


def test_each_key_is_read_once() -> None:
    memo: Memo[int, str] = Memo(2)
    reader = Reader()
    assert [memo.get(key, reader) for key in (1, 2, 1, 2)] == ["1", "2", "1", "2"]
    assert reader.read == [1, 2]


def test_it_holds_no_more_than_it_may() -> None:
    memo: Memo[int, str] = Memo(2)
    reader = Reader()
    assert [memo.get(key, reader) for key in (1, 2, 3, 3)] == ["1", "2", "3", "3"]
    assert (reader.read, len(memo._known)) == ([1, 2, 3], 2)


def test_what_was_kept_first_goes_first() -> None:
    memo: Memo[int, str] = Memo(2)
    for key in (1, 2, 1, 3):
        memo.keep(key, str(key))
    assert [memo.known(key) for key in (1, 2, 3)] == [None, "2", "3"]


def test_what_says_nothing_is_read_each_time() -> None:
    memo: Memo[int, str] = Memo(2)
    reader = Reader()
    assert [memo.get(-1, reader) for _ in range(2)] == [None, None]
    assert reader.read == [-1, -1]


def test_a_damaged_record_is_logged_each_time(caplog: pytest.LogCaptureFixture) -> None:
    assert [Record.from_text("no record") for _ in range(2)] == [None, None]
    assert len(caplog.messages) == 2


def test_a_record_is_read_once_and_names_its_text() -> None:
    text = record(1).to_text()
    assert Record.from_text(text) is Record.from_text(text)
    assert Record.from_text(text) == record(1)
    assert getattr(Record.from_text(text), "text", "") == text
