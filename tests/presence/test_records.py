"""Records as text, which hold whatever the platform sent."""

from __future__ import annotations

from typing import Any

import pytest

from presence.store.records import Record
from tests.presence.store_contents import record


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
