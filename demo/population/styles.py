"""What members change about the looks of their profiles."""

from __future__ import annotations

from typing import Any

from demo.population import sentences
from demo.seeded_random import SeededRandom
from lookup.shapes import settings_schema

THEMES = ("midnight", "paper", "forest", "ember", "glass", "dawn")
FONTS = ("serif", "rounded", "mono", "slab", "condensed", "handwriting")
SOUNDS = ("chime", "drop", "wood", "bell")
# accent, text, background, primary, secondary
PALETTES = (
    ("#2c8a6c", "#f2f5f3", "#10201a", "#2c8a6c", "#143d30"),
    ("#cf5a2b", "#fff4ec", "#221510", "#cf5a2b", "#5a2a16"),
    ("#6d7fd1", "#eef0fb", "#12152a", "#6d7fd1", "#2b3263"),
    ("#c99526", "#fdf6e3", "#1f1a0d", "#c99526", "#5c4511"),
    ("#b04a7f", "#fceef5", "#211019", "#b04a7f", "#56233d"),
    ("#3f8fb0", "#edf6fa", "#0e1c23", "#3f8fb0", "#1b4152"),
)
EFFECTS = ("snow", "rain", "fireflies", "stars", "petals")
CURSOR_EFFECTS = ("trail", "sparkle", "bubbles")

Settings = dict[str, dict[str, Any]]  # Any: a JSON value


def settings(rng: SeededRandom, *, share: float, mirrors_chat: bool = False) -> Settings:
    """Return what differs from the defaults; `share` of the groups is changed."""
    chosen = {key: values for key, values in _all(rng).items() if rng.chance(share)}
    if mirrors_chat:
        chosen["avatarSettings"] = {"mirrorChat": True}
    return settings_schema.validated(chosen)


def _all(rng: SeededRandom) -> Settings:
    accent, text, background, primary, secondary = rng.choice(PALETTES)
    coin, percent = rng.getrandbits, rng.randrange
    lines = [sentences.description(rng) for _ in range(2)]
    return {
        "badgesSettings": {"monochrome": not coin(2), "glow": bool(coin(1)), "glowStrength": percent(0, 100, 5)},
        "linksSettings": {"glow": bool(coin(1)), "glowStrength": percent(0, 100, 5), "monochrome": not coin(2)},
        "colorsSettings": {
            "accentColor": accent,
            "textColor": text,
            "backgroundColor": background,
            "iconColor": accent,
            "primaryColor": primary,
            "secondaryColor": secondary,
            "gradient": bool(coin(1)),
            "gradientAngle": percent(0, 360, 15),
        },
        "cardSettings": {
            "blur": percent(0, 40, 4),
            "opacity": percent(40, 100, 5),
            "border": bool(coin(1)),
            "borderColor": accent,
            "borderRadius": percent(0, 32, 4),
        },
        "textSettings": {"glowStrength": percent(0, 60, 5)},
        "usernameSettings": {"effect": rng.choice(("", "glow", "typewriter", "rainbow", "gradient"))},
        "backgroundSettings": {"effect": rng.choice(EFFECTS), "effectSettings": {"speed": percent(1, 10)}},
        "cursorSettings": {"effectEnabled": True, "effect": rng.choice(CURSOR_EFFECTS), "effectColor": accent},
        "audioSettings": {"shuffle": bool(coin(1)), "volumeControl": bool(coin(2))},
        "enterSettings": {"text": "Come in", "animation": rng.choice(("", "reveal", "split", "flash"))},
        "typewriterSettings": {"enabled": True, "descriptions": lines, "speed": percent(60, 180, 10)},
        "titleSettings": {"animated": True, "type": "scroll"},
        "presenceSettings": {"enabled": bool(coin(3)), "badges": bool(coin(1))},
        "aboutMeSettings": {"customization": True, "accentColor": accent, "opacity": percent(40, 100, 5)},
        "skillsSettings": {"enabled": bool(coin(2))},
        "projectsSettings": {"mode": rng.choice(("grid", "list")), "title": "Things I make"},
        "viewsSettings": {"enabled": bool(coin(3))},
        "feedbackSettings": {"enabled": bool(coin(3))},
        "commentsSettings": {"enabled": bool(coin(3))},
    }
