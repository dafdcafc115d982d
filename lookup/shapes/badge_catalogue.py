"""The badges that the service comes with, which badges.toml lists.

`lookup.editing.badge_tiers` puts them into the database, where staff may change them.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CATALOG = "standard"

BRONZE, SILVER, GOLD, PINE, EMBER = "#b0743f", "#7b8b93", "#c99526", "#2c8a6c", "#cf5a2b"
# The colors of tiers, by their number: the last one never looks like one in the middle.
LADDERS = {
    2: (BRONZE, GOLD),
    3: (BRONZE, SILVER, GOLD),
    4: (BRONZE, SILVER, GOLD, PINE),
    5: (BRONZE, SILVER, GOLD, PINE, EMBER),
}


@dataclass(frozen=True, slots=True)
class CatalogTier:
    tier: int
    threshold: float
    title: str
    description: str
    color: str
    image: str


@dataclass(frozen=True, slots=True)
class CatalogBadge:
    """`rule` names the counter that unlocks the tiers; "" for a badge that staff give."""

    id: str
    name: str
    image: str
    rule: str
    order: int
    tiers: tuple[CatalogTier, ...]


def _badge(place: int, id: str, name: str, rule: str = "", tiers: tuple[dict[str, Any], ...] = ()) -> CatalogBadge:
    """Any: texts and a threshold."""
    steps = tuple(
        CatalogTier(tier=number, color=color, image=f"{id}-{number}.svg", **tier)
        for number, (tier, color) in enumerate(zip(tiers, LADDERS.get(len(tiers), ()), strict=True), start=1)
    )
    # Orders leave room for badges that staff put in between.
    return CatalogBadge(id, name, f"{id}.svg", rule, 10 * place, steps)


_LISTED = tomllib.loads(Path(__file__).with_name("badges.toml").read_text("utf-8"))["badges"]
BADGES = tuple(_badge(place, **listed) for place, listed in enumerate(_LISTED, start=1))
