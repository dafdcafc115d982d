"""What a member is doing: each field's rule, and which activity is worth showing."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
from pytest_django import Settings

from presence.answer import presentation
from presence.answer.presentation import Activity
from tests.presence.whole_members import CUSTOM, MUSIC, SHOWN_CUSTOM, SHOWN_MUSIC

CDN = "https://cdn.example"
APP = "383226320970055681"
LARGE, SMALL = "383226320970055682", "383226320970055683"
ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
NO_TYPES: list[object] = [None, True, False, "2", 1.5, [2], {}, 10**40, -(10**40), 1e300, float("inf"), float("nan")]
NO_IDS: list[object] = ["", "../1", "1 2", "1\n", "x", True, 1.5, [], {}, "1" * 21]
NO_LISTS: list[object] = [None, {}, "x", 1, True, 1.5, {"0": {"type": 0}}]
NO_TEXTS: list[Any] = [None, "", True, 1, [], {"x": "x"}]  # Any: of every JSON type but text


@pytest.fixture(autouse=True)
def _addresses(settings: Settings) -> None:
    settings.CHAT_CDN_URL = CDN
    settings.CHAT = replace(settings.CHAT, music_players=("Spotify", "Tidal"))


def shown(*sent: object) -> list[Activity]:
    return presentation.activities_of({"activities": list(sent)})


def one(**sent: Any) -> Activity:
    (only,) = shown(sent)
    return only


def plain(name: str = "", type: int = 0, **other: Any) -> Activity:
    nothing: dict[str, Any] = dict.fromkeys(("state", "details", "tooltip", "emoji", "image"))
    return Activity(**{"name": name, "type": type, **nothing, **other})


PLAYER = Activity(**SHOWN_MUSIC, is_music_player=True)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (MUSIC, PLAYER),
        (CUSTOM, plain(**SHOWN_CUSTOM)),
        (
            {"id": "x", "name": "Chess", "type": 0, "application_id": APP, "state": "In a match", "details": "Blitz",
             "assets": {"large_image": LARGE, "large_text": "Board", "small_image": SMALL, "small_text": "Rank"}},
            plain("Chess", 0, state="In a match", details="Blitz", tooltip="Board",
                  image=f"{CDN}/app-assets/{APP}/{LARGE}.png"),
        ),
        ({"name": "Chess", "type": 0, "application_id": APP}, plain("Chess", 0)),
        (
            {"name": "Twitch", "type": 1, "url": "https://twitch.example/ada", "state": "Chess",
             "details": "Blitz all night", "assets": {"large_image": "twitch:ada"}},
            plain("Twitch", 1, state="Chess", details="Blitz all night",
                  image="https://static-cdn.jtvnw.net/previews-ttv/live_user_ada-640x360.jpg"),
        ),
        (
            {"name": "YouTube", "type": 3, "assets": {"large_image": "youtube:dQw4w9WgXcQ"}},
            plain("YouTube", 3, image="https://i.ytimg.com/vi/dQw4w9WgXcQ/hqdefault.jpg"),
        ),
        (
            {"id": "custom", "name": "Custom Status", "type": 4, "state": "Reading", "details": "x",
             "emoji": {"name": "📚"}},
            plain("", 4, state="Reading", emoji="📚"),
        ),
        ({"name": "Arena", "type": 5}, plain("Arena", 5)),
        ({"name": "Hang Status", "type": 6, "state": "chilling", "details": "Chilling"},
         plain("Hang Status", 6, state="chilling", details="Chilling")),
        ({}, plain()),
    ],
)  # fmt: skip
def test_a_whole_activity(sent: dict[str, Any], expected: Activity) -> None:
    assert shown(sent) == [expected]


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        *((kind, kind) for kind in (0, 1, 2, 3, 4, 5, 6, 99, -1, 2**53 - 1)),
        *((float(kind), kind) for kind in (0, 2, 4, 6)),
        *((bad, 0) for bad in NO_TYPES),
    ],
)
def test_the_type_is_a_number(sent: object, expected: int) -> None:
    found = one(type=sent).type
    assert (found, type(found)) == (expected, int)


@pytest.mark.parametrize("bad", NO_TEXTS)
@pytest.mark.parametrize("kind", [0, 2, 4])
def test_fields_of_another_type_count_as_absent(bad: object, kind: int) -> None:
    fields = dict.fromkeys(("name", "state", "details", "assets", "emoji"), bad)
    assert one(type=kind, **fields) == plain("", kind)


@pytest.mark.parametrize(
    ("pictures", "tooltip"),
    [
        ({"large_text": "Large", "small_text": "Small"}, "Large"),
        ({"large_text": "Large"}, "Large"),
        ({"small_text": "Small"}, "Small"),
        ({"large_text": 1, "small_text": "Small"}, "Small"),
        ({"large_text": "", "small_text": []}, None),
        ({}, None),
    ],
)
def test_the_tooltip_is_the_text_of_the_large_or_small_picture(pictures: dict[str, Any], tooltip: str | None) -> None:
    assert one(assets=pictures) == plain(tooltip=tooltip)


@pytest.mark.parametrize(
    ("pictures", "picture"),
    [
        ({"large_image": LARGE, "small_image": SMALL}, LARGE),
        ({"large_image": LARGE}, LARGE),
        ({"small_image": SMALL}, SMALL),
        ({"large_image": "artwork", "small_image": SMALL}, SMALL),
        *(({"large_image": bad, "small_image": bad}, None) for bad in (*NO_TEXTS, "https://evil.example/a.png")),
        ({}, None),
    ],
)
def test_the_image_is_the_large_or_small_picture(pictures: dict[str, Any], picture: str | None) -> None:
    image = f"{CDN}/app-assets/{APP}/{picture}.png" if picture else None
    assert one(application_id=APP, assets=pictures) == plain(image=image)


@pytest.mark.parametrize("application_id", [None, "", "x", True, [], f"{APP}/..", f"{APP}\n"])
def test_an_uploaded_picture_needs_its_application(application_id: object) -> None:
    assert one(application_id=application_id, assets={"large_image": LARGE}) == plain()
    assert one(assets={"large_image": LARGE}) == plain()


@pytest.mark.parametrize(
    ("emoji", "expected"),
    [
        ({"id": "41771983429993937", "name": "LUL"}, f"{CDN}/emojis/41771983429993937.png"),
        ({"id": "41771983429993937", "animated": False}, f"{CDN}/emojis/41771983429993937.png"),
        ({"id": "41771983429993937", "animated": True}, f"{CDN}/emojis/41771983429993937.gif"),
        ({"id": "41771983429993937", "animated": "true"}, f"{CDN}/emojis/41771983429993937.png"),
        ({"id": "41771983429993937", "animated": 1}, f"{CDN}/emojis/41771983429993937.png"),
        ({"id": None, "name": "🔥"}, "🔥"),
        ({"name": ENGLAND}, ENGLAND),
        ({"name": "👨‍👩‍👧‍👦", "animated": True}, "👨‍👩‍👧‍👦"),
        ({"name": "\ud83d\udd25"}, "🔥"),
        pytest.param({"name": "🔥" * 64}, "🔥" * 64, id="64"),
        pytest.param({"name": "🔥" * 65}, None, id="65"),
        *(({"name": bad}, None) for bad in NO_TEXTS),
        *(({"id": bad, "name": "LUL"}, None) for bad in NO_IDS),
    ],
)  # fmt: skip
def test_the_emoji_is_a_url_or_a_character(emoji: dict[str, Any], expected: str | None) -> None:
    assert one(type=4, emoji=emoji) == plain("", 4, emoji=expected)


def test_activities_are_unfiltered_in_the_platforms_order() -> None:
    kinds = [6, 4, 0, 2, 5, 0, 1, 99, 3]
    assert [found.type for found in shown(*({"type": kind} for kind in kinds))] == kinds
    assert shown(MUSIC, {"name": "Chess", "type": 0}, MUSIC) == [PLAYER, plain("Chess"), PLAYER]


def test_an_entry_that_is_no_object_is_skipped() -> None:
    entries: list[object] = [None, 1, "x", True, [], [MUSIC], {"name": "Chess"}, 1.5]
    assert shown(*entries) == [plain("Chess")]


@pytest.mark.parametrize("sent", [None, {}, *({"activities": bad} for bad in NO_LISTS)])
def test_without_a_list_there_are_no_activities(sent: dict[str, Any] | None) -> None:
    assert presentation.activities_of(sent) == []


@pytest.mark.parametrize(
    ("sent", "is_player"),
    [
        ({"type": 2, "id": "spotify:1"}, True),
        ({"type": 2, "sync_id": "0VjIjW4GlUZAMYd2vXMi3b", "name": "Another Player"}, True),
        ({"type": 2, "name": "Spotify"}, True),
        ({"type": 2, "name": "Tidal"}, True),
        ({"type": 2.0, "name": "Tidal"}, True),
        ({"type": 2, "name": "Podcasts"}, False),
        ({"type": 2, "id": "custom", "sync_id": ""}, False),
        *(({"type": 2, "id": bad, "sync_id": bad, "name": bad}, False) for bad in NO_TEXTS),
        *(({**MUSIC, "type": kind}, False) for kind in (0, 1, 3, 4, 5, 6, None, "2")),
    ],
)
def test_which_activity_is_the_music_player(sent: dict[str, Any], is_player: bool) -> None:
    assert one(**sent).is_music_player is is_player


# Document 2: "activity is chosen in order". Kinds of a rank are taken in the order of the list.
RANKED: list[list[dict[str, Any]]] = [  # Any: JSON
    [MUSIC],
    [{"type": 0, "name": "Chess"}, {"type": 1, "name": "Twitch"}, {"type": 3, "name": "Films"}],
    [{"type": 2, "name": "Podcasts"}],
    [{"type": 4, "state": "Reading"}],
]
PAIRS = [
    (better, worse)
    for rank, kinds in enumerate(RANKED)
    for better in kinds
    for worse in itertools.chain.from_iterable(RANKED[rank + 1 :])
]


@pytest.mark.parametrize(("better", "worse"), PAIRS)
def test_the_better_activity_is_chosen_wherever_it_stands(better: dict[str, Any], worse: dict[str, Any]) -> None:
    for order in ([better, worse], [worse, better], [{"type": 5}, worse, {"type": 6}, better, worse]):
        running = shown(*order)
        assert presentation.main_activity(running) is running[order.index(better)]


@pytest.mark.parametrize("order", list(itertools.permutations(RANKED[1])))
def test_what_is_played_streamed_or_watched_is_taken_in_the_lists_order(order: tuple[dict[str, Any], ...]) -> None:
    running = shown(*order)
    assert presentation.main_activity(running) is running[0]


@pytest.mark.parametrize("kinds", [[], [5], [6], [5, 6, 99]])
def test_nothing_is_chosen_of_what_is_not_worth_showing(kinds: list[int]) -> None:
    assert presentation.main_activity(shown(*({"type": kind} for kind in kinds))) is None
