"""Where the chat platform is, from the environment."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import chat

GUILD = {"CHAT_GUILD_ID": "268473310000000000", "CHAT_BOT_TOKEN": "a-token-of-the-tests"}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in [*GUILD, "CHAT_SIMULATOR_PORT", "CHAT_PROFILE_URL", "CHAT_PROFILE_HEADER", "CHAT_API_URL"]:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_the_demo_has_a_simulated_platform_at_the_next_port(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found, scrobbler = chat.options(tmp_path, has_demo=True, web_port=8000)
    assert (found.simulator_port, found.api_url) == (8001, "http://127.0.0.1:8001/api/v10")
    assert (found.guild_id, scrobbler.api_url) == (chat.SIMULATED_GUILD, "http://127.0.0.1:8001/scrobbler/2.0/")
    assert found == chat.options(tmp_path, has_demo=True, web_port=8000)[0]  # its token is kept
    environment.setenv("CHAT_SIMULATOR_PORT", "9000")
    assert chat.options(tmp_path, has_demo=True, web_port=8000)[0].simulator_port == 9000


@pytest.mark.parametrize("has_demo", [True, False])
def test_a_named_chat_server_is_a_real_one(environment: pytest.MonkeyPatch, tmp_path: Path, has_demo: bool) -> None:
    for name, value in GUILD.items():
        environment.setenv(name, value)
    found, _ = chat.options(tmp_path, has_demo=has_demo, web_port=8000)
    assert (found.simulator_port, found.api_url) == (0, "https://discord.com/api/v10")
    assert (found.guild_id, found.bot_token) == tuple(GUILD.values())


@pytest.mark.parametrize(("web_port", "said", "port"), [(65_535, "", 65_534), (80, "", 81), (80, "0", 0)])
def test_the_simulated_platform_has_a_port_or_is_not_there(
    environment: pytest.MonkeyPatch, tmp_path: Path, web_port: int, said: str, port: int
) -> None:
    environment.setenv("CHAT_SIMULATOR_PORT", said)
    found, scrobbler = chat.options(tmp_path, has_demo=True, web_port=web_port)
    assert (found.simulator_port, bool(found.guild_id), bool(scrobbler.api_key)) == (port, bool(port), bool(port))


def test_a_port_below_none_is_refused(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment.setenv("CHAT_SIMULATOR_PORT", "-5")
    with pytest.raises(ImproperlyConfigured, match="must be a port, or 0 for none"):
        chat.options(tmp_path, has_demo=True, web_port=8000)


def test_production_without_a_chat_server_has_no_presence(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found, scrobbler = chat.options(tmp_path, has_demo=False, web_port=8000)
    assert (found.guild_id, found.bot_token, found.simulator_port, scrobbler.api_key) == ("", "", 0, "")


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("CHAT_GUILD_ID", "1" * 16, "17 to 19 digits"),
        ("CHAT_GUILD_ID", "\u0661" * 18, "17 to 19 digits"),
        ("CHAT_BOT_TOKEN", "", "CHAT_GUILD_ID and CHAT_BOT_TOKEN must be set together"),
        ("CHAT_GUILD_ID", "", "CHAT_GUILD_ID and CHAT_BOT_TOKEN must be set together"),
        ("CHAT_OAUTH_CLIENT_ID", "1", "CHAT_OAUTH_CLIENT_SECRET must be set together"),
        ("SCROBBLER_SECRET", "a-secret", "SCROBBLER_SECRET must be set together"),
        ("SCROBBLER_AUTHORIZE_URL", "javascript:alert(1)", "SCROBBLER_AUTHORIZE_URL must be a URL"),
        ("SCROBBLER_API_URL", "https:///2.0/", "SCROBBLER_API_URL must be a URL"),
        ("CHAT_PROFILE_URL", "https://profiles.example/", "{id} in it"),
        ("CHAT_PROFILE_URL", "profiles.example/{id}", "{id} in it"),
        ("CHAT_PROFILE_HEADER", "a-secret-without-a-name", "Name: value"),
        ("CHAT_PROFILE_HEADER", "X-Key: \u00e9", "Name: value"),
        ("CHAT_API_URL", "discord.com/api", "must be a URL"),
    ],
)
def test_what_cannot_be_used_is_said(
    environment: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str, sentence: str
) -> None:
    for known, good in GUILD.items():
        environment.setenv(known, good)
    environment.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=sentence) as refused:
        chat.options(tmp_path, has_demo=False, web_port=8000)
    assert "a-secret" not in str(refused.value)
