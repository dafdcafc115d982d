"""The table of themes, and what picking one does to what a profile has."""

from __future__ import annotations

from typing import Any

import pytest

from lookup.models import Profile
from lookup.page.colors import EFFECTS, FONTS
from lookup.shapes import settings_schema, themes

BACKGROUND = ("colorsSettings.backgroundColor", "colorsSettings.gradient")
OTHERS = {field.name for field in Profile._meta.fields} - {"theme"}


def profile(theme: str = "", **values: Any) -> Profile:
    return Profile(theme=theme, **values)


def dressed(theme: str, **own: Any) -> Profile:
    """A profile with a theme and, on top of it, own values by path."""
    look = themes.plain(theme)
    for path, value in own.items():
        key, _, name = path.partition("__")
        (look["settings"][key] if name else look)[name or key] = value
    return Profile(**{**look, "settings": settings_schema.validated(look["settings"])})


def test_there_are_themes_enough_and_each_is_valid_and_different() -> None:
    assert len(themes.THEMES) >= 12
    for name, theme in themes.THEMES.items():
        Profile(theme=name).clean_fields(exclude=OTHERS)
        settings_schema.validated(themes.plain(name)["settings"])
        assert theme.about
        assert {theme.values[column] for column in themes.COLUMNS} <= {"", *FONTS}, "our page has the font"
        assert theme.values["backgroundSettings.effect"] in {"", *EFFECTS}
    assert len({str(theme.values) for theme in themes.THEMES.values()}) == len(themes.THEMES)
    without = [theme for theme in themes.THEMES.values() if not any(theme.values[path] for path in BACKGROUND)]
    assert len(without) >= 3, "themes that follow the reader's light or dark"


def test_the_first_theme_is_what_a_profile_without_any_choice_has() -> None:
    assert themes.own_changes(profile()) == []
    assert settings_schema.validated(themes.plain(themes.STARTER.name)["settings"]) == {}


def value(picked: dict[str, Any], path: str) -> Any:
    key, _, name = path.partition(".")
    return picked["settings"][key][name] if name else picked[key]


FOREST, PAPER = themes.THEMES["forest"].values, themes.THEMES["paper"].values


@pytest.mark.parametrize(
    ("before", "path", "after", "taken_back"),
    [
        (
            profile(),
            "colorsSettings.backgroundColor",
            PAPER,
            PAPER,
        ),  # without a theme, the defaults are not the owner's own
        (profile("dusk"), "font", PAPER, PAPER),  # nor are they with a name that is not in the table
        (profile("dusk", font="mono"), "font", "mono", PAPER),
        (dressed("forest"), "colorsSettings.textColor", PAPER, PAPER),
        (dressed("forest"), "colorsSettings.gradient", PAPER, PAPER),  # which paper does not have
        (dressed("forest", colorsSettings__textColor="#123456"), "colorsSettings.textColor", "#123456", PAPER),
        (dressed("forest", cardSettings__borderRadius=0), "cardSettings.borderRadius", 0, PAPER),
        (dressed("forest", font=""), "font", "", PAPER),  # an emptied field is a choice
        (profile("midnight"), "colorsSettings.textColor", PAPER, PAPER),  # a name from before there were themes
        (profile("midnight", font="mono"), "font", "mono", PAPER),
        (dressed("forest", colorsSettings__backgroundColor="#ff0000"), "colorsSettings.gradient", True, PAPER),
        (dressed("paper", colorsSettings__backgroundColor="#EFE7D6"), "colorsSettings.backgroundColor", PAPER, PAPER),
        (dressed("forest", cardSettings__borderRadius=3), "cardSettings.borderRadius", PAPER, PAPER),
    ],
)
def test_picking_a_theme_keeps_own_values_unless_they_are_taken_back(
    before: Profile, path: str, after: Any, taken_back: Any
) -> None:
    wanted = [one[path] if isinstance(one, dict) else one for one in (after, taken_back)]
    found = [value(themes.picked(before, "paper", keeps_own=keeps), path) for keeps in (True, False)]
    assert found == wanted


def test_settings_of_no_theme_are_never_touched() -> None:
    before = profile("forest", settings={"viewsSettings": {"enabled": False}, "metadataSettings": {"title": "Me"}})
    for keeps in (True, False):
        after = themes.picked(before, "neon", keeps_own=keeps)
        assert (value(after, "viewsSettings.enabled"), value(after, "metadataSettings.title")) == (False, "Me")
        assert after["theme"] == "neon"


def test_own_changes_are_what_differs_from_the_theme() -> None:
    assert themes.own_changes(dressed("forest")) == []
    changed = dressed("forest", font="mono", colorsSettings__textColor="#fff")
    assert themes.own_changes(changed) == ["font", "colorsSettings.textColor"]
    there = themes.picked(changed, "paper")
    back = themes.picked(Profile(**{**there, "settings": settings_schema.validated(there["settings"])}), "forest")
    assert back["settings"] == settings_schema.filled(changed.settings), "there and back again"
    assert back["font"] == "mono"


def test_a_taken_back_name_of_an_import_has_the_defaults_and_keeps_its_name() -> None:
    after = themes.picked(profile("dusk", font="mono"), "dusk", keeps_own=False)
    assert (after["theme"], after["font"]) == ("dusk", "")
