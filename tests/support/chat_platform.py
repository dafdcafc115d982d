"""The simulated chat platform on loopback, whose members change and whose gateway fails as a test wants."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from demo.chat_platform import gateway, running, shapes
from demo.chat_platform.sessions import Session
from demo.chat_platform.shapes import Json
from demo.chat_platform.world import Counters


class Simulator(running.Simulator):
    """A dispatched event may not have been read yet when a method returns."""

    @property
    def counters(self) -> Counters:
        return self._world.counters

    # --- Who is there ------------------------------------------------------------------------------------------------
    def remove_member(self, chat_id: int | str) -> None:
        """Remove the member; the account stays."""
        self._do(lambda: self._remove(str(chat_id)))

    def _remove(self, chat_id: str) -> None:
        world = self._world
        world.others[chat_id] = user = world.members.pop(chat_id).user()
        shown = {key: value for key, value in user.items() if key not in shapes.ONLY_IN_ACCOUNTS}
        world.dispatch("GUILD_MEMBER_REMOVE", shapes.text({"guild_id": world.guild_id, "user": shown}))

    def update_member(self, chat_id: int | str, *, member: Json | None = None, user: Json | None = None) -> None:
        """Lay the given fields over the member and its user."""
        self._do(lambda: self._update(str(chat_id), dict(member or {}), user or {}))

    def _update(self, chat_id: str, member: Json, user: Json) -> None:
        world = self._world
        before = world.members[chat_id]
        value, inner = before.value(), member.pop("user", None) or {}
        after = shapes.make_member({**value, **member, "user": {**value["user"], **inner, **user}})
        after.presence, after.profile = before.presence, before.profile
        world.members[chat_id] = after
        world.dispatch("GUILD_MEMBER_UPDATE", shapes.with_guild(world.guild_id, after.text))

    def set_presence(self, chat_id: int | str, presence: Json) -> None:
        """Replace the presence. `presence` is laid over a plain one: `{"status": "idle"}` means idle at the desktop."""
        self._do(lambda: self._world.set_presence(str(chat_id), presence))

    def set_presences(self, presences: Mapping[int, Json]) -> None:
        """Replace many presences at once, by id: for measurements."""

        def change() -> None:
            for chat_id, presence in presences.items():
                self._world.set_presence(str(chat_id), presence)

        self._do(change)

    def presence(self, chat_id: int | str) -> Json | None:
        """Return the presence as the lists have it; None while offline."""
        return self._do(lambda: self._world.presence(str(chat_id)))

    # --- What the gateway does ---------------------------------------------------------------------------------------
    def dispatch(self, name: str, payload: Any) -> None:
        """Send any event, even a malformed one, to every session that has its intent. The state does not change."""
        self._do(lambda: self._world.sessions.dispatch(name, shapes.text(payload)))

    def send_text(self, text: str) -> None:
        """Send every connection a frame that need not even be JSON."""

        def send() -> None:
            for conversation in self._gateway.conversations:
                conversation.connection.send(text)

        self._do(send)

    def garble(self) -> None:
        """Send every connection a frame that is no part of its compressed stream."""

        def send() -> None:
            for conversation in self._gateway.conversations:
                self._gateway.start(conversation.connection.socket.send_bytes(b"\x01garbage\x00\x00\xff\xff"))

        self._do(send)

    def drop(self, *, sessions_too: bool = False) -> None:
        """Cut every connection off. `sessions_too`: RESUME is answered op 9 false afterwards."""

        def cut() -> None:
            self._gateway.drop()
            if sessions_too:
                self._end_sessions()

        self._do(cut)

    def reconnect(self) -> None:
        """Send op 7."""

        def send() -> None:
            for conversation in self._gateway.conversations:
                conversation.connection.send_op(7)

        self._do(send)

    def invalidate(self, *, resumable: bool) -> None:
        """Send op 9. If not resumable, each client may identify itself again on its connection."""

        def send() -> None:
            for conversation in self._gateway.conversations:
                conversation.connection.send_op(9, data=resumable)
                if not resumable:
                    conversation.session = None
            if not resumable:
                self._end_sessions()

        self._do(send)

    def close_with(self, code: int) -> None:
        """Close every connection. After a fatal code the sessions are over, too."""
        self._wait_for(self._close(code))

    async def _close(self, code: int) -> None:
        conversations = list(self._gateway.conversations)
        for conversation in conversations:
            conversation.detach(is_over=code in gateway.FATAL)
        await asyncio.gather(*(conversation.connection.close(code) for conversation in conversations))

    def set_unavailable(self, unavailable: bool) -> None:
        """Begin or end an outage of the chat server. Changes during it are not dispatched."""

        def change() -> None:
            world = self._world
            if unavailable:
                world.dispatch("GUILD_DELETE", shapes.text({"id": world.guild_id, "unavailable": True}))
            world.is_unavailable = unavailable
            for session in () if unavailable else self._sessions():
                if session.hears("GUILD_CREATE"):
                    session.dispatch("GUILD_CREATE", gateway.create_guild(world, session))

        self._do(change)

    def _sessions(self) -> list[Session]:
        return list(self._world.sessions._by_id.values())

    def _end_sessions(self) -> None:
        for session in self._sessions():
            self._world.sessions.end(session)


@pytest.fixture
def simulator(settings: pytest.FixtureRequest) -> Iterator[Simulator]:
    """A chat platform with an empty chat server, which the settings point at. No profile source, and no pause that the
    failures of another one have begun."""
    from presence.answer import refreshing  # once the apps are loaded

    refreshing._pause.cache_clear()
    refreshing.waits.cache_clear()
    with Simulator.started() as started:
        settings.CHAT = replace(  # type: ignore[attr-defined]  # pytest-django's own fixture
            settings.CHAT,  # type: ignore[attr-defined]  # as above
            guild_id=started.guild_id,
            bot_token=started.bot_token,
            api_url=started.api_url,
            profile_url="",
            simulator_port=started.port,
        )
        yield started
