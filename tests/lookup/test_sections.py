"""The configuration of the nine types of sections: what is stored, what is filled in, what is refused."""

import copy
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from lookup.shapes import sections
from lookup.shapes.sections import Alignment, SectionType

ID, OTHER_ID = "0123456789abcdef" * 2, "f" * 32
GROUPS = "frontend backend database core game tools cloud mobile design music".split()
NO_SKILLS: dict[str, Any] = {name: [] for name in (*GROUPS, "custom")}
DEFAULTS: dict[str, dict[str, Any]] = {
    "ABOUT_ME": {
        "content": "",
        "widgetIds": [],
        "skills": NO_SKILLS,
        "skillsEnabled": True,
        "skillsAlignment": "left",
    },
    "PROJECTS": {"projectIds": []},
    "CUSTOM_TEXT": {"content": ""},
    "GALLERY": {},
    "AUDIO_PLAYER": {},
    "GAMES": {"gameIds": []},
    "ANIME": {"animeIds": []},
    "MEDIA": {"mediaIds": []},
    "MUSIC": {"music": []},
}
ICON = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h1"/></svg>'
COMPLETE: dict[str, dict[str, Any]] = {
    "ABOUT_ME": {
        "content": "Hello,\nworld \U0001f44b",
        "widgetIds": [ID, OTHER_ID],
        "skills": {
            **{group: [group, "two words", "C++"] for group in GROUPS},
            "custom": [
                {"label": "Knitting", "iconName": "yarn", "iconSvg": ""},
                *[{"label": "Knitting", "iconName": "", "iconSvg": ICON}] * 49,
            ],
        },
        "skillsEnabled": False,
        "skillsAlignment": "center",
    },
    "PROJECTS": {"projectIds": [f"{number:032x}" for number in range(100)]},
    "CUSTOM_TEXT": {"content": "x" * 20_000},
    "GALLERY": {},
    "AUDIO_PLAYER": {},
    "GAMES": {"gameIds": [3, 1, 2**53 - 1]},
    "ANIME": {"animeIds": list(range(1, 101))},
    "MEDIA": {"mediaIds": [1]},
    "MUSIC": {
        "music": [
            {"kind": "track", "musicId": "x"},
            {"kind": "album", "musicId": "x"},
            {"kind": "artist", "musicId": "y" * 100},
            *({"kind": "track", "musicId": str(number)} for number in range(97)),
        ]
    },
}

IDS = "Must be a list of ids."
TWICE = "Names an id twice."
ROW = "Entry 1: Must be an id of 32 lower-case hexadecimal characters."
CATALOGUE = "Entry 1: Must be a positive integer."
STRING, EMPTY = "Must be a string.", "Must not be empty."
STORABLE = "Contains a character that cannot be stored (NUL or half of a surrogate pair)."
ABOUT = "ABOUT_ME"
NO_OBJECTS: list[object] = [None, [], "x", 1, True]


def skills(**groups: object) -> dict[str, object]:
    return {"skills": groups}


def custom(**skill: object) -> dict[str, object]:
    return skills(custom=[skill])


REFUSED: list[tuple[str, object, dict[str, list[str]]]] = [
    *[(kind, wrong, {"config": ["Must be an object."]}) for kind, wrong in zip(DEFAULTS, NO_OBJECTS, strict=False)],
    *[(kind, {"extra": 1}, {"extra": ["Unknown name."]}) for kind in DEFAULTS],
    ("CUSTOM_TEXT", {"content": "x" * 20_001}, {"content": ["Has 20001 characters; at most 20000 are allowed."]}),
    ("CUSTOM_TEXT", {"content": None}, {"content": [STRING]}),
    (ABOUT, {"content": "\ud83d"}, {"content": [STORABLE]}),
    (ABOUT, {"skillsEnabled": 1}, {"skillsEnabled": ["Must be true or false."]}),
    (ABOUT, {"skillsAlignment": "LEFT"}, {"skillsAlignment": ["Must be one of: left, center, right."]}),
    (ABOUT, {"widgetIds": ID}, {"widgetIds": [IDS]}),
    (ABOUT, {"widgetIds": [ID, ID]}, {"widgetIds": [TWICE]}),
    *[("PROJECTS", {"projectIds": [bad]}, {"projectIds": [ROW]}) for bad in (ID.upper(), ID[1:], f"{ID}\n", 1, [ID])],
    (
        "PROJECTS",
        {"projectIds": [f"{number:032x}" for number in range(101)]},
        {"projectIds": ["Has 101 entries; at most 100 are allowed."]},
    ),
    *[("GAMES", {"gameIds": [bad]}, {"gameIds": [CATALOGUE]}) for bad in (0, -1, 2**53, 10**400, 1.0, True, "1")],
    ("MEDIA", {"mediaIds": [float("nan")]}, {"mediaIds": [CATALOGUE]}),
    ("ANIME", {"animeIds": {"1": 1}}, {"animeIds": [IDS]}),
    ("ANIME", {"animeIds": [5, 6, 5]}, {"animeIds": [TWICE]}),
    ("ANIME", {"animeIds": list(range(1, 102))}, {"animeIds": ["Has 101 entries; at most 100 are allowed."]}),
    (ABOUT, {"skills": []}, {"skills": ["Must be an object."]}),
    (ABOUT, skills(cooking=[]), {"skills.cooking": ["Unknown name."]}),
    (ABOUT, skills(core="Python"), {"skills.core": ["Must be a list of strings."]}),
    (ABOUT, skills(core=["a", 1]), {"skills.core": ["Entry 2: Must be a string."]}),
    (ABOUT, skills(core=[""]), {"skills.core": ["Entry 1: Must not be empty."]}),
    (ABOUT, skills(core=["x" * 65]), {"skills.core": ["Entry 1: Has 65 characters; at most 64 are allowed."]}),
    (ABOUT, skills(core=["x"] * 101), {"skills.core": ["Has 101 entries; at most 100 are allowed."]}),
    (ABOUT, skills(custom={}), {"skills.custom": ["Must be a list of objects."]}),
    (ABOUT, skills(custom=["x"]), {"skills.custom.0": ["Must be an object."]}),
    (
        ABOUT,
        skills(custom=[{"label": "x"}] * 51),
        {"skills.custom": ["Has 51 entries; at most 50 are allowed."]},
    ),
    (ABOUT, custom(), {"skills.custom.0.label": ["Is missing."]}),
    (ABOUT, custom(label=""), {"skills.custom.0.label": ["Must not be empty."]}),
    (ABOUT, custom(label="x", width=1), {"skills.custom.0.width": ["Unknown name."]}),
    (ABOUT, custom(label="x", iconSvg=None), {"skills.custom.0.iconSvg": [STRING]}),
    (
        ABOUT,
        custom(label="x", iconSvg="<svg><script/></svg>"),
        {"skills.custom.0.iconSvg": ["The element script is not allowed."]},
    ),
    ("MUSIC", {"music": "x"}, {"music": ["Must be a list of objects."]}),
    ("MUSIC", {"music": [1]}, {"music.0": ["Must be an object."]}),
    ("MUSIC", {"music": [{}]}, {"music.0.kind": ["Is missing."], "music.0.musicId": ["Is missing."]}),
    (
        "MUSIC",
        {"music": [{"kind": "song", "musicId": "x"}]},
        {"music.0.kind": ["Must be one of: track, album, artist."]},
    ),
    ("MUSIC", {"music": [{"kind": ["track"], "musicId": ""}]}, {"music.0.kind": [STRING], "music.0.musicId": [EMPTY]}),
    (
        "MUSIC",
        {"music": [{"kind": "track", "musicId": "x" * 101}]},
        {"music.0.musicId": ["Has 101 characters; at most 100 are allowed."]},
    ),
    ("MUSIC", {"music": [{"kind": "track", "musicId": "x"}] * 2}, {"music": ["Names an entry twice."]}),
    (
        "MUSIC",
        {"music": [{"kind": "track", "musicId": str(number)} for number in range(101)]},
        {"music": ["Has 101 entries; at most 100 are allowed."]},
    ),
    (ABOUT, {"content": 1, "widgetIds": 2, "x": 3}, {"content": [STRING], "widgetIds": [IDS], "x": ["Unknown name."]}),
]


def refusal(type: str, config: object) -> dict[str, list[str]]:
    with pytest.raises(ValidationError) as refused:
        sections.validated(type, config)
    return dict(refused.value.message_dict)


def test_the_types_and_alignments_are_the_documented_ones() -> None:
    assert SectionType.values == list(DEFAULTS)
    assert Alignment.values == ["left", "center", "right"]


@pytest.mark.parametrize("type", DEFAULTS)
def test_a_new_section_has_the_defaults_of_its_type(type: str) -> None:
    assert sections.default(type) == DEFAULTS[type]
    assert sections.validated(type, {}) == DEFAULTS[type]
    assert sections.validated(SectionType[type], {}) == DEFAULTS[type]
    assert sections.is_valid(type, DEFAULTS[type])


@pytest.mark.parametrize("type", COMPLETE)
def test_a_complete_configuration_is_stored_as_it_was_given(type: str) -> None:
    given = copy.deepcopy(COMPLETE[type])
    stored = sections.validated(type, given)
    assert stored == COMPLETE[type]
    assert given == COMPLETE[type]
    assert sections.is_valid(type, stored)


@pytest.mark.parametrize(("type", "config", "problems"), REFUSED)
def test_a_wrong_configuration_is_refused_by_path_and_is_not_shown(
    type: str, config: object, problems: dict[str, list[str]]
) -> None:
    assert refusal(type, config) == problems
    assert not sections.is_valid(type, config)
    assert sections.filled(type, config) is None
    if isinstance(config, dict):
        assert not sections.is_valid(type, COMPLETE[type] | config)


@pytest.mark.parametrize(
    ("type", "missing"), [(kind, name) for kind, config in DEFAULTS.items() for name in config], ids=str
)
def test_a_stored_configuration_without_one_of_its_names_is_shown_with_the_default(type: str, missing: str) -> None:
    config = {name: value for name, value in DEFAULTS[type].items() if name != missing}
    assert sections.filled(type, config) == sections.validated(type, config) == DEFAULTS[type]


def test_what_is_filled_is_filled_at_every_depth() -> None:
    stored = {"content": "Me", "skills": {"core": ["Rust"], "custom": [{"label": "Knots"}]}}
    found = sections.filled(ABOUT, stored)
    assert found is not None
    assert found["skills"] == DEFAULTS[ABOUT]["skills"] | {
        "core": ["Rust"],
        "custom": [{"label": "Knots", "iconName": "", "iconSvg": ""}],
    }
    assert stored == {"content": "Me", "skills": {"core": ["Rust"], "custom": [{"label": "Knots"}]}}


def test_an_unknown_type_is_refused_and_not_shown() -> None:
    for unknown in ("", "about_me", "NEWS"):
        assert refusal(unknown, {}) == {"type": ["Unknown type of section."]}
        assert not sections.is_valid(unknown, {})
