"""The badge catalogue in the database, and the tiers that views, likes and comments unlock."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from lxml import etree

from accounts import bans
from accounts.models import User
from lookup.documents import counters
from lookup.editing import badge_tiers
from lookup.models import Badge, BadgeTier, ProfileBadge, ProfileDocument, UserDocument
from lookup.shapes import badge_catalogue
from lookup.shapes.svg import svg_problems
from lookup.social import comments, feedback
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.lookup import answers
from tests.lookup.filled import ART


@pytest.fixture
def ada(operator: User) -> User:
    return UserFactory(username="Ada")


def _badge(rule: str, *thresholds: float, **values: Any) -> Badge:
    """A badge of the catalogue with tiers 1, 2, ... at these thresholds; Any: columns."""
    badge = make.BadgeFactory(**{"rule": rule, "catalog": "standard", **values})
    for tier, threshold in enumerate(thresholds, start=1):
        make.BadgeTierFactory(badge=badge, tier=tier, threshold=threshold)
    return badge


def _count(user: User, **counters: int) -> None:
    """Set counters as the doors do, which say that badges are due."""
    UserDocument.objects.filter(user=user).update(unlock_due=True, **counters)


def _unlocked(user: User) -> dict[str, list[int]]:
    rows = ProfileBadge.objects.filter(profile=make.main_profile(user)).order_by("badge")
    return {row.badge_id: row.unlocked_tiers for row in rows}


@pytest.mark.parametrize(
    ("count", "tiers"), [(0, []), (99, []), (100, [1]), (499, [1]), (500, [1, 2]), (1000, [1, 2]), (10**9, [1, 2, 3])]
)
def test_a_counter_reaches_the_tiers_up_to_it(db: None, count: int, tiers: list[int]) -> None:
    assert badge_tiers.reached(_badge("VIEWS", 100, 500, 1000.5), count) == tiers


@pytest.mark.parametrize(("rule", "counter"), [("VIEWS", "views"), ("LIKES", "likes"), ("COMMENTS", "comments")])
def test_a_counter_unlocks_the_tiers_of_its_rule(ada: User, rule: str, counter: str) -> None:
    _badge(rule, 100, 500, id="reached")
    for other in {"VIEWS", "LIKES", "COMMENTS"} - {rule}:
        _badge(other, 1)
    _count(ada, **{counter: 99})
    assert (badge_tiers.unlock(), _unlocked(ada)) == (0, {})
    _count(ada, **{counter: 500})
    assert (badge_tiers.unlock(), _unlocked(ada)) == (2, {"reached": [1, 2]})


def test_a_badge_comes_by_itself_enabled_behind_the_others_and_is_served_at_once(ada: User) -> None:
    badge = _badge("VIEWS", 1, 5, id="seen", name="Seen", image="seen.svg")
    make.CustomBadgeFactory(profile=make.main_profile(ada), order=7)
    make.shown(ada)
    _count(ada, views=1)
    call_command("unlock_badges")
    held, new = answers.user("ada", "badges").body["badges"]
    assert held["type"] == "CUSTOM"
    tiers = new.pop("tiers")
    assert new == {
        "id": new["id"],
        "type": "STANDARD",
        "badgeId": "seen",
        "enabled": True,
        "selectedTier": None,
        "unlockedTiers": [1],
        "color": None,
        "recolor": False,
        "name": "Seen",
        "order": 8,
        "image": None,
        "imageUrl": f"{ART}/badges/standard/seen.svg",
        "iconSvg": None,
    }
    assert [(tier["tier"], tier["unlocked"], tier["selected"]) for tier in tiers] == [
        (1, True, False),
        (2, False, False),
    ]
    assert UserDocument.objects.get(user=ada).badge_count == 2
    earlier = answers.earlier("ada").body["badges"]
    assert [(entry["badgeId"], entry["enabled"]) for entry in earlier] == [(badge.pk, True)]


def test_what_its_owner_chose_stays(ada: User) -> None:
    badge = _badge("VIEWS", 1, 5)
    chosen = {"is_enabled": False, "selected_tier": 1, "color": "#123456", "recolor": True, "order": 3}
    row = make.ProfileBadgeFactory(profile=make.main_profile(ada), badge=badge, unlocked_tiers=[1], **chosen)
    _count(ada, views=5)
    assert badge_tiers.unlock() == 1
    assert ProfileBadge.objects.filter(pk=row.pk, obtained_at=row.obtained_at).values(*chosen).get() == chosen
    assert _unlocked(ada) == {badge.pk: [1, 2]}


def test_a_tier_stays_unlocked_when_the_counter_falls(ada: User) -> None:
    badge = _badge("LIKES", 1, 2)
    voters = UserFactory.create_batch(2)
    for voter in voters:
        feedback.vote(user=ada, is_like=True, by=voter)
    badge_tiers.unlock()
    for voter in voters:
        feedback.withdraw(user=ada, by=voter)
    assert badge_tiers.unlock() == 0
    assert _unlocked(ada) == {badge.pk: [1, 2]}


def test_a_tier_that_staff_gave_stays_and_is_not_counted_again(ada: User) -> None:
    badge = _badge("VIEWS", 1, 5, 9)
    make.ProfileBadgeFactory(profile=make.main_profile(ada), badge=badge, unlocked_tiers=[3])
    _count(ada, views=1)
    assert badge_tiers.unlock() == 1
    assert _unlocked(ada) == {badge.pk: [1, 3]}


def test_a_badge_without_a_rule_is_given_by_staff_alone(ada: User) -> None:
    _badge("", 0)
    _count(ada, views=10**6, likes=10**6, comments=10**6)
    assert badge_tiers.unlock() == 0
    assert _unlocked(ada) == {}


def test_an_alias_profile_gets_none(ada: User) -> None:
    own = make.ProfileFactory(user=ada)
    make.AliasRowFactory(name__user=ada, profile=own)
    _badge("VIEWS", 1)
    _count(ada, views=1)
    assert badge_tiers.unlock() == 1
    assert not ProfileBadge.objects.filter(profile=own).exists()


def test_every_door_of_a_counter_makes_badges_due(ada: User) -> None:
    liked, discussed = _badge("LIKES", 1, id="liked"), _badge("COMMENTS", 1, id="discussed")
    seen = _badge("VIEWS", 1, id="seen")
    visitor = UserFactory()
    assert badge_tiers.unlock() == 0
    feedback.vote(user=ada, is_like=True, by=visitor)
    assert (badge_tiers.unlock(), _unlocked(ada)) == (1, {liked.pk: [1]})
    comments.write(user=ada, content="Hello", by=visitor)
    assert (badge_tiers.unlock(), _unlocked(ada)) == (1, {discussed.pk: [1], liked.pk: [1]})
    counters.add(ada.pk, views=1)
    assert (badge_tiers.unlock(), _unlocked(ada)) == (1, {discussed.pk: [1], liked.pk: [1], seen.pk: [1]})


def test_the_end_of_a_ban_brings_counts_and_badges_back(ada: User) -> None:
    badge = _badge("LIKES", 1)
    voter = UserFactory()
    feedback.vote(user=ada, is_like=True, by=voter)
    bans.ban(user=voter, by=None, reason="x")
    assert (badge_tiers.unlock(), _unlocked(ada)) == (0, {})
    bans.lift(user=voter, by=None, reason="x")
    assert (badge_tiers.unlock(), _unlocked(ada)) == (1, {badge.pk: [1]})


def test_who_has_been_looked_at_is_not_looked_at_again_until_something_changes(ada: User) -> None:
    _badge("VIEWS", 1, 2)
    _count(ada, views=1)
    assert badge_tiers.unlock() == 1
    assert not UserDocument.objects.filter(unlock_due=True).exists()
    UserDocument.objects.filter(user=ada).update(views=2)
    assert badge_tiers.unlock() == 0
    _count(ada)
    assert badge_tiers.unlock() == 1


def test_a_new_tier_reaches_everybody_once_all_are_due(ada: User) -> None:
    badge = _badge("VIEWS", 5)
    _count(ada, views=3)
    badge_tiers.unlock()
    make.BadgeTierFactory(badge=badge, tier=2, threshold=3)
    assert badge_tiers.unlock() == 0
    assert badge_tiers.have_everybody_checked() == UserDocument.objects.count()
    assert badge_tiers.unlock() == 1
    assert _unlocked(ada) == {badge.pk: [2]}


ARTWORK = Path(settings.BASE_DIR) / "static" / "badges" / badge_catalogue.CATALOG
IMAGES = sorted(
    [badge.image for badge in badge_catalogue.BADGES]
    + [tier.image for badge in badge_catalogue.BADGES for tier in badge.tiers]
)
ALL_NEW = "Badges made: 24, tiers made: 43.\n"
NOTHING_NEW = "Badges made: 0, tiers made: 0.\n"


def run() -> str:
    out = io.StringIO()
    call_command("load_badges", stdout=out)
    return out.getvalue()


def test_the_ladders_of_counters_have_their_thresholds() -> None:
    ladders = {badge.id: (badge.rule, [tier.threshold for tier in badge.tiers]) for badge in badge_catalogue.BADGES}
    assert {name: ladder for name, ladder in ladders.items() if ladder[0] or name == "donations"} == {
        "donations": ("", [10, 50, 100, 250, 500]),
        "views": ("VIEWS", [100, 500, 1000, 2500, 5000]),
        "likes": ("LIKES", [1, 10, 25, 50]),
        "comments": ("COMMENTS", [1, 10, 25]),
    }


def test_every_image_is_a_small_drawing_and_nothing_else_lies_there() -> None:
    assert sorted(path.name for path in ARTWORK.iterdir()) == IMAGES
    assert len(set(IMAGES)) == 24 + 43
    for name in IMAGES:
        source = (ARTWORK / name).read_text()
        assert len(source) < 2048
        assert svg_problems(source) == []
        root = etree.fromstring(source)
        assert root.get("viewBox") == "0 0 64 64"
        for element in root.iter():
            assert all(value == "url(#m)" for value in element.attrib.values() if "url" in value)


@pytest.mark.django_db
def test_load_badges_makes_the_whole_catalogue_once() -> None:
    assert run() == ALL_NEW
    made = [
        (badge.pk, badge.catalog, badge.name, badge.image, badge.rule, badge.order)
        for badge in Badge.objects.order_by("order")
    ]
    assert made == [
        (badge.id, "standard", badge.name, badge.image, badge.rule, badge.order) for badge in badge_catalogue.BADGES
    ]
    columns = ("badge_id", "tier", "threshold", "title", "description", "color", "image")
    assert list(BadgeTier.objects.order_by("badge__order", "tier").values_list(*columns)) == [
        (badge.id, tier.tier, tier.threshold, tier.title, tier.description, tier.color, tier.image)
        for badge in badge_catalogue.BADGES
        for tier in badge.tiers
    ]
    assert run() == NOTHING_NEW
    for row in [*Badge.objects.all(), *BadgeTier.objects.all()]:
        row.full_clean()


@pytest.mark.django_db
def test_what_staff_changed_stays() -> None:
    badge_tiers.load_missing()
    Badge.objects.filter(pk="views").update(name="Seen", order=1)
    BadgeTier.objects.filter(badge="views", tier=1).update(threshold=7, title="Lucky")
    Badge.objects.create(id="summer", name="Summer", image="summer.svg")
    assert run() == NOTHING_NEW
    assert Badge.objects.values_list("name", "order").get(pk="views") == ("Seen", 1)
    assert BadgeTier.objects.values_list("threshold", "title").get(badge="views", tier=1) == (7, "Lucky")
    assert Badge.objects.filter(pk="summer").exists()


@pytest.mark.django_db
def test_what_is_missing_comes_back_alone() -> None:
    badge_tiers.load_missing()
    Badge.objects.filter(pk="likes").delete()
    BadgeTier.objects.filter(badge="level", tier=5).delete()
    assert run() == "Badges made: 1, tiers made: 5.\n"
    assert run() == NOTHING_NEW


@pytest.mark.django_db
def test_a_badge_that_staff_moved_to_another_catalogue_gets_no_tier_from_this_one() -> None:
    Badge.objects.create(id="level", catalog="winter", name="Snow Level", image="snow.svg")
    assert run() == "Badges made: 23, tiers made: 38.\n"
    assert not BadgeTier.objects.filter(badge="level").exists()


@pytest.mark.django_db
def test_profiles_that_show_a_badge_with_a_new_tier_are_rendered_anew() -> None:
    badge_tiers.load_missing()
    shown, other = (UserFactory().profiles.get() for _ in range(2))
    ProfileBadge.objects.create(profile=shown, badge_id="level")
    ProfileBadge.objects.create(profile=other, badge_id="views")
    for profile in (shown, other):
        ProfileDocument.objects.update_or_create(
            profile=profile, defaults={"user": profile.user, "fingerprint": "rendered"}
        )
    BadgeTier.objects.filter(badge="level", tier=5).delete()
    badge_tiers.load_missing()
    assert ProfileDocument.objects.get(profile=shown).fingerprint == ""
    assert ProfileDocument.objects.get(profile=other).fingerprint == "rendered"


@pytest.mark.django_db
def test_a_new_tier_that_counters_unlock_has_everybody_checked() -> None:
    badge_tiers.load_missing()
    user = UserFactory()
    for badge_id, is_due in (("level", False), ("views", True)):
        UserDocument.objects.update(unlock_due=False)
        BadgeTier.objects.filter(badge=badge_id, tier=1).delete()
        badge_tiers.load_missing()
        assert UserDocument.objects.get(pk=user.pk).unlock_due is is_due
