"""The badge catalogue, its artwork and that of the demo, and the command that puts badges into the database."""

import io
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from lxml import etree

from lookup.editing import badge_tiers
from lookup.models import Badge, BadgeTier, ProfileBadge, ProfileDocument, UserDocument
from lookup.shapes import badge_catalogue
from lookup.shapes.svg import svg_problems
from tests.factories.accounts import UserFactory

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
