"""The gateway's messages as the feed's library reads them: what is broken costs nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from presence.gateway.payloads import IGNORED, LONG_PAUSE, GatewayDecoder


class Reader:
    """Counts the complaints, and notes the events."""

    def __init__(self) -> None:
        self.complaints = 0
        self.events: list[tuple[str, Any]] = []
        self.envelopes = GatewayDecoder(
            lambda name, payload: self.events.append((name, payload)), complain=self._complain
        )

    def _complain(self) -> None:
        self.complaints += 1

    def read(self, message: Any) -> Any:
        return self.envelopes.read(message if isinstance(message, str | bytes) else json.dumps(message))


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.mark.parametrize(
    "text",
    ["", "no JSON", "[]", "5", '"x"', "null", '{"op":0}', '{"op":0,"t":5,"d":{},"s":1}', b"\xff", "[" * 100_000],
    ids="empty text list number string null bare no-name bytes deep".split(),
)
def test_a_message_that_is_none_is_ignored_and_logged(reader: Reader, text: str | bytes) -> None:
    assert (reader.read(text), reader.complaints) == (IGNORED, 1)


@pytest.mark.parametrize("payload", [None, [], 5, "x", True])
def test_a_dispatch_without_an_object_is_read_as_an_empty_one(reader: Reader, payload: Any) -> None:
    message = {"op": 0, "t": "PRESENCE_UPDATE", "s": 3, "d": payload}
    assert (reader.read(message), reader.complaints) == ({**message, "d": {}}, 0)


def test_each_event_is_passed_on_once_in_order_and_nothing_else_is(reader: Reader) -> None:
    messages = [{"op": 0, "t": f"EVENT_{number}", "s": number, "d": {"n": number}} for number in range(3)]
    for message in (*messages, {"op": 11}, {"op": 0, "t": None, "s": 4, "d": {}}, {"url": "wss://x"}):
        reader.read(message)
    assert reader.events == [(message["t"], message["d"]) for message in messages]


def test_a_dispatch_without_a_number_keeps_the_one_before(reader: Reader) -> None:
    reader.read({"op": 0, "t": "RESUMED", "s": 7, "d": {}})
    for bad in (None, True, -1, "8", 2**53 + 1):
        assert reader.read({"op": 0, "t": "TYPING_START", "s": bad, "d": {}})["s"] == 7


def test_a_chat_server_without_an_id_is_ignored(reader: Reader) -> None:
    assert reader.read({"op": 0, "t": "GUILD_CREATE", "s": 1, "d": {"id": None}}) == IGNORED


@pytest.mark.parametrize(
    ("said", "seconds"),
    [(7, 7.0), (0.5, 0.5), (0, 0.0), (86_400, 86_400.0), (86_401, LONG_PAUSE), (-1, LONG_PAUSE), (True, LONG_PAUSE),
     ("7", LONG_PAUSE), (None, LONG_PAUSE)],
)  # fmt: skip
def test_a_rate_limit_has_a_pause(reader: Reader, said: object, seconds: float) -> None:
    message = {"op": 0, "t": "RATE_LIMITED", "s": 1, "d": {"opcode": 8, "retry_after": said}}
    assert reader.read(message)["d"] == {"opcode": 8, "retry_after": seconds, "meta": {}}


@pytest.mark.parametrize("opcode", ["8", None, True])
def test_a_rate_limit_of_an_odd_operation_is_of_none(reader: Reader, opcode: object) -> None:
    assert reader.read({"op": 0, "t": "RATE_LIMITED", "s": 1, "d": {"opcode": opcode}})["d"]["opcode"] == -1


def test_a_number_of_thousands_of_digits_costs_nothing_else(reader: Reader) -> None:
    text = f'{{"op":0,"t":"X","s":3,"d":{{"huge":{"9" * 5000},"fine":12}}}}'
    assert reader.read(text)["d"] == {"huge": None, "fine": 12}


@pytest.mark.parametrize(("op", "data", "order"), [(7, None, "op 7"), (9, True, "op 9"), (9, "x", "op 9"), (11, 1, "")])
def test_why_the_platform_ends_a_connection_is_kept(reader: Reader, op: int, data: object, order: str) -> None:
    read = reader.read({"op": op, "d": data})
    assert (reader.envelopes.last_order, read["d"]) == (order, data is True if op == 9 else data)


def test_an_answer_of_rest_has_no_operation(reader: Reader) -> None:
    assert reader.read({"url": "wss://x"}) == {"url": "wss://x", **IGNORED}
