"""The badges of profiles as lookups show them: those of the catalogue and custom ones, in one shape."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from lookup import addresses
from lookup.models import Asset, Badge, CustomBadge, ProfileBadge


@dataclass(frozen=True)
class ShownTier:
    tier: int
    threshold: float
    title: str
    description: str
    color: str
    image_url: str
    is_unlocked: bool
    is_selected: bool


@dataclass(frozen=True)
class ShownBadge:
    """A catalogue badge or a custom one, in one shape. `row` is where it came from."""

    row: ProfileBadge | CustomBadge
    type: str
    badge_id: str | None = None
    selected_tier: int | None = None
    unlocked_tiers: tuple[int, ...] = ()
    name: str = ""
    image: Asset | None = None
    image_url: str | None = None
    icon_svg: str = ""
    tiers: tuple[ShownTier, ...] = ()

    @property
    def id(self) -> str:
        return self.row.id

    @property
    def is_enabled(self) -> bool:
        return self.row.is_enabled

    @property
    def color(self) -> str:
        return self.row.color

    @property
    def recolor(self) -> bool:
        return self.row.recolor

    @property
    def order(self) -> int:
        return self.row.order


def standard(rows: Collection[ProfileBadge]) -> Iterator[ShownBadge]:
    """Badges of the catalogue; one that has left it meanwhile is left out. 2 queries, none without rows."""
    badges = Badge.objects.prefetch_related("tiers").in_bulk({row.badge_id for row in rows})
    tiers_of = functools.cache(_tiers)  # many profiles show a badge in the same way
    for row in rows:
        if badge := badges.get(row.badge_id):
            unlocked = tuple(sorted(set(row.unlocked_tiers)))
            yield ShownBadge(
                row,
                "STANDARD",
                badge_id=badge.pk,
                selected_tier=row.selected_tier,
                unlocked_tiers=unlocked,
                name=badge.name,
                image_url=addresses.badge_image(badge.catalog, badge.image),
                tiers=tiers_of(badge, unlocked, row.selected_tier),
            )


def _tiers(badge: Badge, unlocked: tuple[int, ...], selected: int | None) -> tuple[ShownTier, ...]:
    return tuple(
        ShownTier(
            tier=tier.tier,
            threshold=tier.threshold,
            title=tier.title,
            description=tier.description,
            color=tier.color,
            image_url=addresses.badge_image(badge.catalog, tier.image),
            is_unlocked=tier.tier in unlocked,
            is_selected=tier.tier == selected,
        )
        for tier in badge.sorted_tiers
    )


def custom(rows: Iterable[CustomBadge]) -> Iterator[ShownBadge]:
    for row in rows:
        yield ShownBadge(row, "CUSTOM", name=row.name, image=row.image, icon_svg=row.icon_svg)
