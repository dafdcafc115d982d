"""What a process remembers of the store's texts: bounded, and nothing that could not be read."""

from __future__ import annotations

import pytest

from presence.memo import Memo
from presence.records import Record
from tests.presence.kept import record


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
