"""Follow server-sent events (WHATWG HTML §9.2), and connect again where a stream ends or breaks off."""

from __future__ import annotations

import dataclasses
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import requests

from hearth_client import models
from hearth_client.calls import NO_ANSWER, Call, Caller
from hearth_client.errors import AnswerError, NoAnswerError

SILENCE = 40.0  # seconds without a byte: more than two heartbeats
RETRY = 3.0  # seconds before the next connection, until the stream says another number
LONGEST_RETRY = 60.0
LONGEST_EVENT = 4 * 1024 * 1024  # bytes


@dataclass(frozen=True)
class Event:
    """`data`: the parsed JSON. `id`: what a new connection sends as `Last-Event-ID`."""

    name: str
    data: Any
    id: str

    @property
    def presence(self) -> models.Presence | None:
        """Return the presence of an event `presence`."""
        return cast("models.Presence", self.data) if self.name == "presence" else None


@dataclass(frozen=True)
class MemberEvent(Event):
    """An event of a stream of several members."""

    @property
    def member(self) -> str | None:
        """Return whose event it is: an id of a chat account, or None for `closed`."""
        return cast("str | None", self.data.get("id"))

    @property
    def presence(self) -> models.Presence | None:
        """Return the presence of an event `presence`."""
        return cast("models.Presence", self.data["presence"]) if self.name == "presence" else None


@dataclass
class _Place:
    """Where a reader is in the stream, over all its connections."""

    last_id: str = ""
    retry: float = RETRY


def follow(caller: Caller, call: Call, *, tries: int, final: frozenset[str]) -> Iterator[Event]:
    """Yield events until one named in `final`, or until the caller closes the iterator.

    The service ends a stream after an hour, so an end is no failure. `tries`: short connections in a row without event.
    Raises AnswerError for an answer that another try does not change, NoAnswerError, WaitTooLongError.
    """
    place = _Place()
    failures = 0
    while True:
        started, count = time.monotonic(), 0
        named = None
        try:
            for event in _connection(caller, call, place):
                count += 1
                yield event
                if event.name in final:
                    return
            failures = failures + 1 if _is_short(started, count) else 0
            if failures >= tries:
                raise NoAnswerError("The streams end at once.")
        except NoAnswerError:
            failures = failures + 1 if _is_short(started, count) else 1
            if failures >= tries:
                raise
        except AnswerError as error:
            failures += 1
            if error.status not in (429, 503) or failures >= tries:
                raise
            named = error.retry_after
        pause = place.retry * 2 ** max(0, failures - 1) if named is None else named
        time.sleep(min(LONGEST_RETRY, pause) * random.uniform(1, 1.5))  # many followers do not come back at once


def _is_short(started: float, count: int) -> bool:
    """Tell whether a connection brought no event and ended before a quiet one would."""
    return count == 0 and time.monotonic() - started < SILENCE


def _connection(caller: Caller, call: Call, place: _Place) -> Iterator[Event]:
    headers = {"Accept": "text/event-stream", "Cache-Control": "no-store", **call.headers}
    if place.last_id:
        headers["Last-Event-ID"] = place.last_id
    with caller.stream(dataclasses.replace(call, headers=headers), silence=SILENCE) as answer:
        try:
            yield from _events(answer, place)
        except NO_ANSWER as problem:
            raise NoAnswerError(f"The stream broke off: {type(problem).__name__}") from None


def _events(answer: requests.Response, place: _Place) -> Iterator[Event]:
    name, data = "", list[str]()
    for line in _lines(answer):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif field == "id" and "\0" not in value:
            place.last_id = value
        elif field == "retry" and value.isdecimal():
            place.retry = min(LONGEST_RETRY, int(value) / 1000)
        elif not line:
            if data:
                yield Event(name or "message", _parsed("\n".join(data)), place.last_id)
            name, data = "", []


def _lines(answer: requests.Response) -> Iterator[str]:
    kept = b""
    for chunk in answer.iter_content(chunk_size=65536):
        *lines, kept = (kept + chunk).split(b"\n")
        if len(kept) > LONGEST_EVENT:
            raise NoAnswerError("An event of the stream is too long.")
        for line in lines:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise NoAnswerError("An event of the stream is no JSON.") from None
