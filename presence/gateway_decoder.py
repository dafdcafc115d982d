"""Sanitises gateway messages that hikari would crash on.

hikari trusts the platform's envelopes: text that is not JSON, or a dispatch whose payload is null, would end its
connection and with it the session. This decoder turns a broken message into an operation that hikari
ignores.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from presence import payloads
from presence.fields import Json

DISPATCH, RECONNECT, INVALID_SESSION = 0, 7, 9
IGNORED: Json = {"op": -1}
MAX_SEQUENCE = 2**53
LONG_PAUSE = 30.0  # seconds, where a rate limit does not say how long


class GatewayDecoder:
    """Reads messages; given to the library as its JSON decoder. `dispatch` gets each event,
    `complain` each broken message.

    The library makes a task for each event that it passes on, which costs more than all the rest of an event here.
    `last_order`: why the platform ended the connection, where it said so: "op 7", "op 9" or "".
    """

    def __init__(self, dispatch: Callable[[str, Json], None], *, complain: Callable[[], None]) -> None:
        self.last_order = ""
        self._tell = dispatch
        self._complain = complain
        self._sequence: int | None = None

    def read(self, text: str | bytes) -> Json:
        """REST's answers come here, too: they have no `op`, and one more name does no harm there."""
        value = _decoded(text)
        if not isinstance(value, dict):
            self._complain()
            return dict(IGNORED)
        return self._mended(value) if "op" in value else {**value, **IGNORED}

    def _mended(self, envelope: Json) -> Json:
        operation = envelope["op"]
        if operation == RECONNECT:
            self.last_order = "op 7"
        elif operation == INVALID_SESSION:
            self.last_order = "op 9"
            return {**envelope, "d": envelope.get("d") is True}
        elif operation == DISPATCH:
            return self._dispatch(envelope)
        return envelope

    def _dispatch(self, envelope: Json) -> Json:
        name, payload = envelope.get("t"), envelope.get("d")
        sequence = payloads.number(envelope, "s", at_most=MAX_SEQUENCE)
        self._sequence = self._sequence if sequence is None else sequence
        if not isinstance(payload, dict):
            payload = {}
        is_nameless_guild = name == "GUILD_CREATE" and payloads.id_of(payload.get("id")) is None
        if not isinstance(name, str) or self._sequence is None or is_nameless_guild:
            self._complain()
            return dict(IGNORED)
        if name == "RATE_LIMITED":
            payload = {**payload, "opcode": _whole(payload.get("opcode")), "retry_after": _pause(payload)}
            payload.setdefault("meta", {})
        self._tell(name, payload)
        return {"op": DISPATCH, "t": name, "s": self._sequence, "d": payload}


def _decoded(text: str | bytes) -> Any:
    """None where it is no JSON. Python reads no number of thousands of digits: one of those must not cost the rest."""
    try:
        return json.loads(text)
    except RecursionError:
        return None
    except ValueError:
        text = text.decode(errors="replace") if isinstance(text, bytes) else text
    try:
        return json.loads(text, parse_int=_int)
    except (RecursionError, ValueError):
        return None


def _int(digits: str) -> int | None:
    return int(digits) if len(digits) <= 300 else None


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _pause(payload: Json) -> float:
    """Seconds."""
    value = payload.get("retry_after")
    if not isinstance(value, int | float) or isinstance(value, bool):
        return LONG_PAUSE
    return float(value) if 0 <= value <= 86_400 else LONG_PAUSE
