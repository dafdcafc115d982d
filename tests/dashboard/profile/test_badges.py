"""Badges of the catalogue: users order them, switch them off and choose a tier."""

from __future__ import annotations

import pytest
from django.core.exceptions import ObjectDoesNotExist, ValidationError

from lookup.documents import registry
from lookup.editing import content
from lookup.models import Profile, ProfileBadge
from tests.dashboard.profile.editor import ROOT, Editor
from tests.factories.lookup import BadgeFactory, BadgeTierFactory, CustomBadgeFactory, ProfileBadgeFactory, shown
from tests.pages.markup import problems_of


@pytest.fixture
def badge(profile: Profile) -> ProfileBadge:
    """With three tiers, two of them unlocked."""
    catalogue = BadgeFactory(id="views", name="Views")
    for tier in (1, 2, 3):
        BadgeTierFactory(badge=catalogue, tier=tier, title=f"Seen {tier}")
    row: ProfileBadge = ProfileBadgeFactory(profile=profile, badge=catalogue, order=0, unlocked_tiers=[1, 2])
    shown(profile.user)
    return row


def test_a_tier_is_chosen_among_the_unlocked_ones(editor: Editor, badge: ProfileBadge) -> None:
    page = f"{ROOT}/badges/{badge.pk}/"
    editor.open(page)
    assert problems_of(editor.response) == []
    offered = editor.page.xpath("//select[@name='selected_tier']/option")
    assert [option.text for option in offered] == ["The highest", "1: Seen 1", "2: Seen 2"]
    editor.send(page, selected_tier="1", color="#abcdef", recolor=True)
    [entry] = editor.shown("badges")
    assert (entry["selectedTier"], entry["color"], entry["recolor"]) == (1, "#abcdef", True)
    editor.fill(page, selected_tier="")
    assert editor.shown("badges")[0]["selectedTier"] is None


def test_a_locked_tier_is_refused_by_the_form_and_by_the_operation(editor: Editor, badge: ProfileBadge) -> None:
    page = f"{ROOT}/badges/{badge.pk}/"
    editor.open(page).send(page, selected_tier=["3"])
    assert editor.errors() == ["Select a valid choice. 3 is not one of the available choices."]
    with pytest.raises(ValidationError, match="Choose one of the unlocked tiers"):
        content.change(
            content=registry.BADGES, profile=badge.profile, pk=badge.pk, values={"selected_tier": 3}, by=None
        )
    assert editor.shown("badges")[0]["selectedTier"] is None


def test_a_badge_without_tiers_has_a_form_too(editor: Editor, profile: Profile) -> None:
    row = ProfileBadgeFactory(profile=profile, badge=BadgeFactory(id="staff"))
    editor.fill(f"{ROOT}/badges/{row.pk}/", color="#123456")
    assert editor.shown("badges")[0]["color"] == "#123456"


def test_both_kinds_share_one_order(editor: Editor, profile: Profile, badge: ProfileBadge) -> None:
    own = CustomBadgeFactory(profile=profile, order=1)
    editor.open(f"{ROOT}/badges/").press(f"{ROOT}/badges/{own.pk}/move/", places="up")
    assert [entry["id"] for entry in editor.shown("badges")] == [own.pk, badge.pk]
    editor.press(f"{ROOT}/badges/order/", pk=[badge.pk, own.pk])
    assert [entry["id"] for entry in editor.shown("badges")] == [badge.pk, own.pk]


def test_a_given_badge_is_switched_off_but_not_deleted(editor: Editor, badge: ProfileBadge) -> None:
    editor.open(f"{ROOT}/badges/")
    assert f"{badge.pk}/delete/" not in editor.response.content.decode()
    editor.press(f"{ROOT}/badges/{badge.pk}/switch/", is_on="0")
    assert editor.shown("badges")[0]["enabled"] is False
    assert editor.press(f"{ROOT}/badges/{badge.pk}/delete/").response.status_code == 404
    with pytest.raises(ObjectDoesNotExist):
        content.delete(content=registry.BADGES, profile=badge.profile, pk=badge.pk, by=None)
    assert [entry["id"] for entry in editor.shown("badges")] == [badge.pk]
