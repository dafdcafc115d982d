"""`Hearth`: the calls of programs, one method each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Literal, Self, Unpack, cast
from urllib.parse import quote

from hearth_client import models, streams
from hearth_client.calls import Call, Caller
from hearth_client.streams import Event, MemberEvent


class Hearth:
    """A client of one service with one API key. Threads may share it; close it, or use it in `with`.

    Every call waits for an answer at most `timeout` seconds, is sent at most `tries` times, and waits for limits and
    between tries at most `patience` seconds in all. `kept`: how many answers are kept for conditional requests.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        timeout: float = 30.0,
        tries: int = 4,
        patience: float = 90.0,
        kept: int = 256,
    ) -> None:
        if tries < 1:
            raise ValueError("A call is sent at least once.")
        self._tries = tries
        self._caller = Caller(base_url, key, timeout=timeout, tries=tries, patience=patience, kept=kept)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._caller.close()

    def user(self, **query: Unpack[models.LookupUserParametersQuery]) -> models.CurrentLookup:
        """Return a user: `user(type="username", value="ada", links=True)`. Needs `lookup:user`."""
        return cast("models.CurrentLookup", self._caller.json(Call("GET", "/api/lookup/user", query=_texts(query))))

    def users(self, **asked: Unpack[models.LookupBatchRequest]) -> models.LookupResults:
        """Return up to 50 users: `users(type="uid", values=["1", "2"], badges=True)`. Needs `lookup:user`.

        `results` has a user or an error for each value, in their order. It counts as a request for each ten begun.
        """
        call = Call("POST", "/api/lookup/users", body=asked, cost=_cost(asked["values"]))
        return cast("models.LookupResults", self._caller.json(call))

    def presence(self, chat_id: str) -> models.Presence:
        """Return the presence of a member of the chat server. Needs `lookup:presence`."""
        path = f"/api/lookup/presence/{quote(chat_id, safe='')}"
        return cast("models.Presence", self._caller.json(Call("GET", path)))

    def presences(self, chat_ids: Sequence[str]) -> models.Presences:
        """Return the presence of up to 50 members, or an error for each, in their order. Needs `lookup:presence`.

        It counts as a request for each ten begun.
        """
        call = Call("GET", "/api/lookup/presence", query={"ids": ",".join(chat_ids)}, cost=_cost(chat_ids))
        return cast("models.Presences", self._caller.json(call))

    def presence_events(self, chat_id: str) -> Iterator[Event]:
        """Yield the presence of a member now and after every change, until it can no longer be seen.

        Events are `presence`, `unavailable`, and at the end `gone` or `closed`. Needs `lookup:presence`.
        """
        call = Call("GET", f"/api/lookup/presence/{quote(chat_id, safe='')}/events")
        return streams.follow(self._caller, call, tries=self._tries, final=frozenset({"gone", "closed"}))

    def presences_events(self, chat_ids: Sequence[str]) -> Iterator[MemberEvent]:
        """Yield the presence of up to 100 members now and after every change; the event's `member` says whose.

        A member who is `gone` may come back, so that only `closed` ends the stream. Needs `lookup:presence`.
        """
        call = Call("GET", "/api/lookup/presence/events", query={"ids": ",".join(chat_ids)}, cost=_cost(chat_ids))
        for event in streams.follow(self._caller, call, tries=self._tries, final=frozenset({"closed"})):
            yield MemberEvent(event.name, event.data, event.id)

    def leaderboard(self, board: Literal["views", "badges", "uid"], *, limit: int = 10) -> list[models.BoardEntry]:
        """Return the first `limit` entries of a leaderboard. Needs `account`."""
        call = Call("GET", f"/api/leaderboard/{board}", query={"limit": limit}, door="Authorization")
        return cast("list[models.BoardEntry]", self._caller.json(call))

    def upload(self, file: bytes, *, name: str) -> models.Upload:
        """Store a picture or video of at most the plan's size, and return its link. Needs `imagehost:upload`.

        It is sent again only after a 429, when nothing was stored.
        """
        call = Call("POST", "/api/imagehost/upload", files={"file": (name, file)}, is_read=False)
        return cast("models.Upload", self._caller.json(call))


def _cost(asked: Sequence[str]) -> int:
    """Return as how many requests of the key a request for several counts: one for each ten begun."""
    return max(1, -(-len(asked) // 10))


def _texts(query: object) -> dict[str, str | int]:
    """Return the parameters as the service reads them: exactly `true`, and nothing for False."""
    given = cast("dict[str, str | int | bool]", query)
    return {name: "true" if value is True else value for name, value in given.items() if value is not False}
