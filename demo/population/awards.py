"""The badges of members: unlocked by their counters, given by staff, or their own."""

from __future__ import annotations

from collections.abc import Mapping

from accounts.models import User
from accounts.plans import PREMIUM_PLANS, Plan
from demo.population.people import LATEST
from demo.population.profile_pages import Page, looks
from infrastructure.databases import bulk
from lookup.editing import badge_tiers
from lookup.models import Badge, CustomBadge, ProfileBadge, UnlockRule

# What staff give, and to how many: badges without tiers, then badges with tiers.
GIVEN = (
    *(("partner", 0.002), ("champion", 0.002), ("winner", 0.004), ("guild-tag", 0.05), ("bug-hunter", 0.006)),
    *(("developer", 0.004), ("translator", 0.006), ("tester", 0.02), ("artist", 0.03), ("contributor", 0.008)),
    *(("booster", 0.07), ("gifter", 0.02), ("donations", 0.03), ("level", 0.22), ("season", 0.12), ("event", 0.10)),
)
EARLY_UIDS = 1000
CUSTOM_NAMES = ("Night owl", "Tea person", "Founding guest", "Map maker", "Ask me anything", "Slow reader")


def catalogue() -> dict[str, Badge]:
    """Return the badges of the catalogue, with their tiers, in shown order. 2 queries."""
    return {badge.pk: badge for badge in Badge.objects.order_by("order", "pk").prefetch_related("tiers")}


def add_badges(page: Page, badges: Mapping[str, Badge], counters: Mapping[str, int]) -> None:
    """Add badges. `counters`: views, likes and comments of the owner."""
    rng = page.rng
    given = {badge_id for badge_id, share in GIVEN if rng.chance(share)} | _marks(page.profile.user)
    held: list[ProfileBadge] = []
    for badge in badges.values():
        tiers = [tier.tier for tier in badge.sorted_tiers]
        if badge.rule:
            unlocked = badge_tiers.reached(badge, counters[badge_tiers.COUNTERS[UnlockRule(badge.rule)]])
        elif badge.pk in given:
            unlocked = tiers[: rng.randint(1, len(tiers))] if tiers else []
        else:
            continue
        if unlocked or not badge.rule:
            held.append(award(page, badge, unlocked, order=len(held)))
    page.rows.extend(held)


def award(page: Page, badge: Badge, unlocked: list[int], *, order: int) -> ProfileBadge:
    rng = page.rng
    return bulk.build(
        ProfileBadge,
        id=rng.new_id(),
        profile=page.profile,
        badge=badge,
        is_enabled=rng.chance(0.9),
        selected_tier=(unlocked[-1] if rng.chance(0.8) else rng.choice(unlocked)) if unlocked else None,
        unlocked_tiers=unlocked,
        color=rng.choice(looks.PALETTES)[0] if rng.chance(0.1) else "",
        recolor=rng.chance(0.1),
        order=order,
        obtained_at=rng.timestamp(page.profile.created_at, LATEST),
    )


def add_custom(page: Page, *, order: int) -> None:
    """Add a badge of one's own, with a picture or an icon, at the end."""
    rng = page.rng
    badge = bulk.build(
        CustomBadge,
        id=rng.new_id(),
        profile=page.profile,
        name=rng.choice(CUSTOM_NAMES),
        color=rng.choice(looks.PALETTES)[0] if rng.chance(0.5) else "",
        recolor=rng.chance(0.3),
        order=order,
        created_at=rng.timestamp(page.profile.created_at, LATEST),
    )
    if rng.chance(0.5):
        badge.image = page.any_picture("link")
    else:
        badge.icon_svg = page.icon()
    page.rows.add(badge)


def _marks(user: User) -> set[str]:
    """Return what the account itself says."""
    marks = {
        "verified": user.is_verified,
        "premium": user.plan in PREMIUM_PLANS,
        "imagehost": user.plan == Plan.IMAGEHOST,
        "early-member": user.uid < EARLY_UIDS,
    }
    return {name for name, is_held in marks.items() if is_held}
