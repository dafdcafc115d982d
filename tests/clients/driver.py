"""Calls the library as each line of JSON says, and prints a line of JSON for each: `value` or `error`."""

from __future__ import annotations

import base64
import dataclasses
import itertools
import json
import logging
import sys
from collections.abc import Callable
from typing import Any

from hearth_client import AnswerError, Hearth, HearthError

CALLS: dict[str, Callable[..., Any]] = {
    "user": lambda hearth, **given: hearth.user(**given),
    "users": lambda hearth, **given: hearth.users(**given),
    "presence": lambda hearth, chat_id: hearth.presence(chat_id),
    "presences": lambda hearth, chat_ids: hearth.presences(chat_ids),
    "leaderboard": lambda hearth, board, limit: hearth.leaderboard(board, limit=limit),
    "upload": lambda hearth, file, name: hearth.upload(base64.b64decode(file), name=name),
    "presence_events": lambda hearth, chat_id, count: taken(hearth.presence_events(chat_id), count),
    "presences_events": lambda hearth, chat_ids, count: taken(hearth.presences_events(chat_ids), count),
}


def taken(events: Any, count: int) -> list[Any]:
    return [dataclasses.asdict(event) for event in itertools.islice(events, count)]


def problem(error: HearthError) -> dict[str, Any]:
    names = ("status", "code", "miss", "retry_after")
    text = error.error if isinstance(error, AnswerError) else None
    return {"kind": type(error).__name__, "error": text, **{name: getattr(error, name, None) for name in names}}


def main() -> None:
    logging.basicConfig(level=logging.DEBUG)  # to stderr: what the libraries below would write
    hearth = None
    for line in sys.stdin:
        step = json.loads(line)
        if step["call"] == "connect":
            hearth = Hearth(**step["given"])
            said: dict[str, Any] = {"value": repr(hearth)}
        else:
            try:
                said = {"value": CALLS[step["call"]](hearth, **step["given"])}
            except HearthError as error:
                said = {"error": problem(error)}
        sys.stdout.write(f"{json.dumps(said)}\n")
        sys.stdout.flush()


main()
