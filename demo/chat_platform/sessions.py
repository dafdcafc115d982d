"""Gateway sessions: which intents each has, its sequence numbers, and what it may ask to hear again."""

from __future__ import annotations

import secrets
from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

GUILDS, GUILD_MEMBERS, GUILD_PRESENCES = 1 << 0, 1 << 1, 1 << 8
PRIVILEGED = GUILD_MEMBERS | GUILD_PRESENCES | 1 << 15
KNOWN = (1 << 26) - 1
# The intent that a dispatch needs; all other events reach every session.
NEEDED = {
    "GUILD_CREATE": GUILDS,
    "GUILD_UPDATE": GUILDS,
    "GUILD_DELETE": GUILDS,
    "GUILD_MEMBER_ADD": GUILD_MEMBERS,
    "GUILD_MEMBER_UPDATE": GUILD_MEMBERS,
    "GUILD_MEMBER_REMOVE": GUILD_MEMBERS,
    "PRESENCE_UPDATE": GUILD_PRESENCES,
}
REMEMBERED = 32 * 1024 * 1024  # characters of one session's past
KEPT = 16  # sessions; the one that was cut off first is forgotten first


class Line(Protocol):
    """A connection as a session sees it."""

    def send(self, text: str) -> None: ...


@dataclass(eq=False)
class Session:
    """`line`: None while it is cut off. `sees_guild`: the chat server belongs to its shard."""

    intents: int
    large_threshold: int
    sees_guild: bool
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    seq: int = 0
    line: Line | None = None
    past: deque[tuple[int, str]] = field(default_factory=deque)
    size: int = 0

    def may(self, intent: int) -> bool:
        return self.intents & intent == intent

    def hears(self, name: str) -> bool:
        return self.sees_guild and self.may(NEEDED.get(name, 0))

    def dispatch(self, name: str, data: str) -> None:
        """Send the event, and keep it for RESUME. `data`: JSON."""
        self.seq += 1
        text = f'{{"op":0,"t":"{name}","s":{self.seq},"d":{data}}}'
        self.past.append((self.seq, text))
        self.size += len(text)
        while self.size > REMEMBERED and len(self.past) > 1:
            self.size -= len(self.past.popleft()[1])
        if self.line is not None:
            self.line.send(text)

    def since(self, seq: int) -> list[str] | None:
        """Return what came after that number; None where that is not known, or the number never was."""
        oldest = self.past[0][0] if self.past else self.seq + 1
        if not oldest - 1 <= seq <= self.seq:
            return None
        return [text for number, text in self.past if number > seq]


class Sessions:
    """All sessions, in the order in which they were opened."""

    def __init__(self) -> None:
        self._by_id: dict[str, Session] = {}

    def open(self, session: Session) -> None:
        self._by_id[session.id] = session
        cut_off = [other for other in self._by_id.values() if other.line is None and other is not session]
        for other in cut_off[: max(len(self._by_id) - KEPT, 0)]:
            self.end(other)

    def find(self, session_id: object) -> Session | None:
        return self._by_id.get(session_id) if isinstance(session_id, str) else None

    def end(self, session: Session) -> None:
        self._by_id.pop(session.id, None)
        session.line = None

    def dispatch(self, name: str, data: str) -> None:
        """Dispatch to each session that has the intent, cut off or not."""
        for session in self._by_id.values():
            if session.hears(name):
                session.dispatch(name, data)
