"""Where pictures and videos are: each rule of the platform's CDN, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pytest_django import Settings

from presence.answer import presentation

CDN = "https://cdn.example"
GUILD = "268473310000000077"
ADA = 80351110224678912
HASH = "8342729096ea3675442027381ff50dfe"
MOVING = "a_1269e74af4df7417b13759eae50c83dc"
APP = "383226320970055681"
MEDIA = "https://media.discordapp.net"
TWITCH = "https://static-cdn.jtvnw.net/previews-ttv"


@pytest.fixture(autouse=True)
def _addresses(settings: Settings) -> None:
    settings.CHAT_CDN_URL = CDN
    settings.CHAT = replace(settings.CHAT, guild_id=GUILD)


NO_HASHES: list[Any] = [  # Any: of every JSON type
    None, "", 1, [HASH], {}, "../x", HASH + "\n", f"{HASH}?x", f"{HASH}%2e", "a.png", "é", "\ud800",
    pytest.param("a" * 101, id="101"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("chat_id", "discriminator", "number"),
    [
        (0 << 22, "0", 0),
        (5 << 22, "0", 5),
        ((6 << 22) + (1 << 22) - 1, "0000", 0),
        (ADA, "0", (ADA >> 22) % 6),
        (ADA, None, (ADA >> 22) % 6),
        (2**63 - 1, 0, (2**63 - 1 >> 22) % 6),
        (ADA, "1337", 2),
        (ADA, "0005", 0),
        (ADA, 1338, 3),
        (ADA, "1337x", (ADA >> 22) % 6),
        (ADA, -3, (ADA >> 22) % 6),
    ],
)
def test_a_default_avatar(chat_id: int, discriminator: object, number: int) -> None:
    url = f"{CDN}/embed/avatars/{number}.png"
    assert presentation.avatar(chat_id, {"avatar": None, "discriminator": discriminator}) == url


@pytest.mark.parametrize("bad", NO_HASHES)
def test_without_a_known_hash_there_is_the_default_avatar(bad: object) -> None:
    assert presentation.avatar(6 << 22, {"avatar": bad}) == f"{CDN}/embed/avatars/0.png"


NAMEPLATE = "nameplates/nameplates_v2/twilight-1/"


@pytest.mark.parametrize(
    ("hash", "file"), [(HASH, f"{HASH}.png"), (MOVING, f"{MOVING}.gif"), ("b_a_1", "b_a_1.png"), ("A_1", "A_1.png")]
)
def test_hashes_tell_what_moves(hash: str, file: str) -> None:
    assert presentation.avatar(ADA, {"avatar": hash}) == f"{CDN}/avatars/{ADA}/{file}"
    assert presentation.banner_url(ADA, hash) == f"{CDN}/banners/{ADA}/{file}"
    assert presentation.server_avatar(ADA, hash) == f"{CDN}/guilds/{GUILD}/users/{ADA}/avatars/{file}"
    assert presentation.server_banner(ADA, hash) == f"{CDN}/guilds/{GUILD}/users/{ADA}/banners/{file}"


@pytest.mark.parametrize("hash", [HASH, MOVING, f"v2_{MOVING}"])
def test_decorations_and_tag_badges_are_png(hash: str) -> None:
    decorated = {"avatar_decoration_data": {"asset": hash, "sku_id": "1144058844004233369"}}
    assert presentation.decoration(decorated) == f"{CDN}/avatar-decoration-presets/{hash}.png"
    assert presentation.tag_badge(GUILD, hash) == f"{CDN}/guild-tag-badges/{GUILD}/{hash}.png"
    assert presentation.tag_badge(int(GUILD), hash) == f"{CDN}/guild-tag-badges/{GUILD}/{hash}.png"


def test_a_nameplate_is_a_webm() -> None:
    owner = {"collectibles": {"nameplate": {"sku_id": "1", "asset": NAMEPLATE, "label": "X", "palette": "cobalt"}}}
    assert presentation.nameplate(owner) == f"{CDN}/assets/collectibles/{NAMEPLATE}asset.webm"


def test_a_custom_emoji() -> None:
    assert presentation.emoji("41771983429993937", is_animated=False) == f"{CDN}/emojis/41771983429993937.png"
    assert presentation.emoji("41771983429993937", is_animated=True) == f"{CDN}/emojis/41771983429993937.gif"
    assert presentation.emoji(41771983429993937, is_animated=False) == f"{CDN}/emojis/41771983429993937.png"


@pytest.mark.parametrize("bad", NO_HASHES)
def test_a_name_of_another_shape_is_null(bad: object) -> None:
    assert presentation.banner_url(ADA, bad) is None
    assert presentation.server_avatar(ADA, bad) is None
    assert presentation.server_banner(ADA, bad) is None
    assert presentation.decoration({"avatar_decoration_data": {"asset": bad}}) is None
    assert presentation.decoration({"avatar_decoration_data": bad}) is None
    assert presentation.nameplate({"collectibles": {"nameplate": {"asset": bad}}}) is None
    assert presentation.nameplate({"collectibles": {"nameplate": bad}}) is None
    assert presentation.nameplate({"collectibles": bad}) is None
    assert presentation.tag_badge(GUILD, bad) is None


@pytest.mark.parametrize(
    "bad",
    ["nameplates/x", "/nameplates/", "nameplates//x/", "../x/", "nameplates/../", "a b/", "a/\n", "%2e%2e/", "a/" * 9],
)
def test_a_nameplate_of_another_shape_is_null(bad: str) -> None:
    assert presentation.nameplate({"collectibles": {"nameplate": {"asset": bad}}}) is None


@pytest.mark.parametrize(
    "bad", [None, "", "x", "-1", -2, 2**64, True, 1.0, [], {}, "1" * 21, "1\n", " 1", "1/..", "١٢"]
)
def test_an_id_of_another_shape_is_null(bad: object) -> None:
    assert presentation.emoji(bad, is_animated=True) is None
    assert presentation.tag_badge(bad, HASH) is None
    assert presentation.activity_image("123", bad) is None


@pytest.mark.parametrize(
    ("asset", "url"),
    [
        ("383226320970055682", f"{CDN}/app-assets/{APP}/383226320970055682.png"),
        (
            "mp:external/Ab_-9/https/example.com/a.png",
            MEDIA + "/external/Ab_-9/https/example.com/a.png",
        ),
        (
            "mp:external/Ab/%3Fwidth%3D1%26x%3Da%252Fb/https/example.com//a(1),b.jpg",
            MEDIA + "/external/Ab/%3Fwidth%3D1%26x%3Da%252Fb/https/example.com//a(1),b.jpg",
        ),
        (
            "mp:external/A/http/example.com%3A8080/a..b",
            MEDIA + "/external/A/http/example.com%3A8080/a..b",
        ),
        (
            "mp:attachments/12/34/cover.png?ex=67&is=66&hm=ab&",
            MEDIA + "/attachments/12/34/cover.png?ex=67&is=66&hm=ab&",
        ),
        (
            "spotify:ab67616d0000b273c5649add07ed3720be9d5526",
            "https://i.scdn.co/image/ab67616d0000b273c5649add07ed3720be9d5526",
        ),
        ("twitch:some_Streamer9", f"{TWITCH}/live_user_some_Streamer9-640x360.jpg"),
        ("youtube:dQw4w9WgXc-", "https://i.ytimg.com/vi/dQw4w9WgXc-/hqdefault.jpg"),
    ],
)
def test_the_artwork_of_an_activity(asset: str, url: str) -> None:
    assert presentation.activity_image(asset, APP) == url


@pytest.mark.parametrize(
    "asset",
    [
        None, "", True, 1, 383226320970055682, 1.5, [], {}, ["1"], "artwork", "embedded_cover", "12 34", "12\n",
        "-12", "1" * 21, "١٢٣", "../1", "1/2", "1.png", "https://evil.example/a.png", "http://127.0.0.1/",
        "//evil.example/a", "javascript:alert(1)", "data:image/png;base64,AA", "file:///etc/passwd",
        "MP:external/a/b", "mp", "mp:", "mp://evil.example/a", "mp:/external/a", "mp:..", "mp:../a",
        "mp:external/../../a", "mp:external/a/..", "mp:external/./a", "mp:external/%2e%2e/a", "mp:external/.%2E/a",
        "mp:external/a%2f..%2fb", "mp:external/%2e/a", "mp:external\\..\\a", "mp:external/a%5c..%5cb",
        "mp:external/a b", "mp:external/a\nb", "mp:external/a\n", "mp:external/a\tb", 'mp:external/a"b',
        "mp:external/a'b", "mp:external/<a>", "mp:external/`a`", "mp:external/a\0", "mp:external/é",
        "mp:external/\ud800", "mp:external/a#b", "mp:https://evil.example/a", "mp:@evil.example/a",
        "mp:evil.example/a", pytest.param("mp:external/" + "a" * 2048, id="long mp"), "spotify:", "spotify:../x",
        "spotify:a/b", "spotify:a b", "spotify:a\n", "spotify:a?b",
        pytest.param("spotify:" + "a" * 65, id="long spotify"), "spotify:track:abc", "twitch:", "twitch:a/b",
        "twitch:..", "twitch:a-b", "twitch:a b", pytest.param("twitch:" + "a" * 65, id="long twitch"), "twitch:{0}",
        "youtube:", "youtube:a/b", "youtube:..", "youtube:a?b", "youtube:a b",
        pytest.param("youtube:" + "a" * 65, id="long youtube"), "other:abc",
    ],
)  # fmt: skip
def test_artwork_of_another_shape_is_null(asset: object) -> None:
    assert presentation.activity_image(asset, APP) is None
