"""Badges of the catalogue as profiles show them: each tier as its own profile has it, and none that is gone."""

from __future__ import annotations

import pytest

from lookup.documents import queries
from lookup.models import Badge, BadgeTier, ProfileBadge

pytestmark = pytest.mark.django_db


def test_profiles_that_share_a_badge_show_the_tiers_that_each_has() -> None:
    Badge.objects.create(id="early", name="Early", image="early.svg")
    BadgeTier.objects.bulk_create(BadgeTier(badge_id="early", tier=n, title=f"Tier {n}", image="t.svg") for n in (2, 1))
    rows = [
        ProfileBadge(badge_id="early", unlocked_tiers=[2, 1, 2], selected_tier=2),
        ProfileBadge(badge_id="early", unlocked_tiers=[1], selected_tier=2),
        ProfileBadge(badge_id="early", unlocked_tiers=[1], selected_tier=None),
        ProfileBadge(badge_id="early", unlocked_tiers=[1], selected_tier=None),
    ]
    shown = [
        (one.row, [(tier.tier, tier.is_unlocked, tier.is_selected) for tier in one.tiers])
        for one in queries.standard_badges(rows)
    ]
    assert shown == [
        (rows[0], [(1, True, False), (2, True, True)]),
        (rows[1], [(1, True, False), (2, False, True)]),
        (rows[2], [(1, True, False), (2, False, False)]),
        (rows[3], [(1, True, False), (2, False, False)]),
    ]


def test_a_badge_that_has_left_the_catalogue_is_left_out() -> None:
    assert list(queries.standard_badges([ProfileBadge(badge_id="gone")])) == []
