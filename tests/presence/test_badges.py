"""Which badges a member holds: flags, boosting, the ids of the profile source."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from presence.answer import presentation
from presence.answer.presentation import Badge
from tests.presence.whole_members import BADGES

FLAGS = {
    0: "staff",
    1: "partner",
    2: "events",
    3: "bughunter1",
    6: "bravery",
    7: "brilliance",
    8: "balance",
    9: "earlysupporter",
    14: "bughunter2",
    17: "developer",
    18: "moderator",
}
TENURES = (1, 3, 6, 12, 24, 36, 60, 72)
IDS = {
    "premium": "premium",
    **{f"premium_tenure_{months}_month_v2": "premium" for months in TENURES},
    **{f"guild_booster_lvl{level}": "boosted" for level in range(1, 10)},
    "legacy_username": "legacy",
    "quest_completed": "quest",
    "orb_profile_badge": "orb",
    "last_meadow": "leaf",
    "last_meadow_2026": "leaf",
    "gifting": "gifting",
    "gifting_tier_3": "gifting",
    "hypesquad": "events",
    "hypesquad_house_1": "bravery",
    "hypesquad_house_2": "brilliance",
    "hypesquad_house_3": "balance",
    "bug_hunter_level_1": "bughunter1",
    "bug_hunter_level_2": "bughunter2",
    "verified_developer": "developer",
    "certified_moderator": "moderator",
    "early_supporter": "earlysupporter",
    "staff": "staff",
    "partner": "partner",
}
NO_FLAGS: list[object] = [None, True, "1", 1.5, -1, [1], {}, 10**40, float("nan"), float("inf")]
NO_MOMENTS: list[object] = [None, "", True, 1, [], {}]


def held(member: dict[str, Any] | None = None, ids: Any = ()) -> list[str]:
    """Keys in the order of the answer."""
    return list(presentation.badges_of(member or {}, ids))


def flagged(flags: object) -> list[str]:
    return held({"user": {"public_flags": flags}})


@pytest.mark.parametrize("bit", [*FLAGS, 4, 5, 22, 63])
def test_each_bit_of_the_public_flags(bit: int) -> None:
    assert flagged(1 << bit) == ([FLAGS[bit]] if bit in FLAGS else [])


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (0, []),
        (64 + 512, ["bravery", "earlysupporter"]),
        (4194304 + 256, ["balance"]),
        (131072.0, ["developer"]),
        (2**53 - 1, [key for key in BADGES if key in FLAGS.values()]),
        *((bad, []) for bad in NO_FLAGS),
    ],
)
def test_public_flags_of_any_type(flags: object, expected: list[str]) -> None:
    assert flagged(flags) == expected


@pytest.mark.parametrize(
    ("since", "expected"),
    [("2021-03-04T05:06:07.000000+00:00", ["boosted"]), *((none, []) for none in NO_MOMENTS)],
)
def test_boosting_the_chat_server(since: object, expected: list[str]) -> None:
    assert held({"premium_since": since}) == expected


@pytest.mark.parametrize(("id", "key"), IDS.items())
def test_each_id_of_the_profile_source(id: str, key: str) -> None:
    assert held(ids=[id]) == [key]


@pytest.mark.parametrize(
    "id",
    ["", "PREMIUM", "premium_tenure_0_month_v2", "guild_booster_lvl0", "hypesquad_house_4", "my_gifting", "staff\n"],
)
def test_an_unknown_id_is_ignored_and_counted(id: str) -> None:
    before = presentation.unknown_badges[id]
    assert held(ids=[id, "partner"]) == ["partner"]
    assert presentation.unknown_badges[id] == before + 1


def test_the_count_of_unknown_ids_is_bounded() -> None:
    presentation.unknown_badges.clear()
    held(ids=[f"unknown_{number}" for number in range(1000)])
    assert len(presentation.unknown_badges) == 100
    presentation.unknown_badges.clear()


@pytest.mark.parametrize("ids", [[None, 1, True, 1.5, [], {}, ["premium"], "quest_completed"]])
def test_what_is_no_id_is_ignored(ids: list[Any]) -> None:
    assert held(ids=ids) == ["quest"]


@pytest.mark.parametrize("user", [None, [], "x", 1, True, {}, {"avatar": "a_" + "0" * 32, "premium_type": 2}])
def test_premium_is_never_inferred(user: object) -> None:
    assert held({"user": user}) == []


def test_a_badge_of_two_sources_is_there_once() -> None:
    member = {"user": {"public_flags": 1}, "premium_since": "2021-03-04T05:06:07+00:00"}
    assert held(member, ["guild_booster_lvl9", "guild_booster_lvl1", "staff"]) == ["staff", "boosted"]


def test_all_badges_in_the_canonical_order(settings: Settings) -> None:
    settings.ASSET_URL = "https://assets.example"
    shown = presentation.badges_of({}, list(reversed(IDS)))
    url = "https://assets.example/badges/chat"
    assert shown == {key: Badge(name, f"{url}/{key}.svg") for key, name in BADGES.items()}
    assert list(shown) == list(BADGES)
