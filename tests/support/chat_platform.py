"""The simulated chat platform on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from demo.chat_platform import running
from demo.chat_platform.running import Simulator


@pytest.fixture
def simulator(settings: pytest.FixtureRequest) -> Iterator[Simulator]:
    """A chat platform with an empty chat server, which the settings point at. No profile source, and no pause that the
    failures of another one have begun."""
    from presence.answer import refreshing  # once the apps are loaded

    refreshing._pause.cache_clear()
    with running.simulator() as started:
        settings.CHAT = replace(  # type: ignore[attr-defined]  # pytest-django's own fixture
            settings.CHAT,  # type: ignore[attr-defined]  # as above
            guild_id=started.guild_id,
            bot_token=started.bot_token,
            api_url=started.api_url,
            profile_url="",
            simulator_port=started.port,
        )
        yield started
