"""The badge catalogue: its data, its artwork, and the command that puts it into the database."""

import io
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from lxml import etree

from lookup import badge_catalog, catalog
from lookup.models import Badge, BadgeTier, ProfileBadge, ProfileDocument
from lookup.models.validators import validate_color, validate_file_name
from lookup.svg import svg_problems
from tests.factories.accounts import UserFactory

ARTWORK = Path(settings.BASE_DIR) / "static" / "badges" / catalog.CATALOG
IMAGES = sorted(
    [badge.image for badge in catalog.BADGES] + [tier.image for badge in catalog.BADGES for tier in badge.tiers]
)
ALL_NEW = "Badges made: 24, tiers made: 43.\n"
NOTHING_NEW = "Badges made: 0, tiers made: 0.\n"


def run() -> str:
    out = io.StringIO()
    call_command("load_badges", stdout=out)
    return out.getvalue()


def test_the_catalogue_has_24_badges_and_43_tiers() -> None:
    assert len(catalog.BADGES) == len({badge.id for badge in catalog.BADGES}) == 24
    assert sum(len(badge.tiers) for badge in catalog.BADGES) == 43


@pytest.mark.parametrize(
    ("badge_id", "rule", "thresholds"),
    [
        ("views", "VIEWS", [100, 500, 1000, 2500, 5000]),
        ("likes", "LIKES", [1, 10, 25, 50]),
        ("comments", "COMMENTS", [1, 10, 25]),
        ("donations", "", [10, 50, 100, 250, 500]),
    ],
)
def test_a_known_ladder_has_its_thresholds(badge_id: str, rule: str, thresholds: list[float]) -> None:
    [badge] = [badge for badge in catalog.BADGES if badge.id == badge_id]
    assert (badge.rule, [tier.threshold for tier in badge.tiers]) == (rule, thresholds)


def test_only_the_three_counters_unlock_tiers_by_themselves() -> None:
    assert {badge.id: badge.rule for badge in catalog.BADGES if badge.rule} == {
        "views": "VIEWS",
        "likes": "LIKES",
        "comments": "COMMENTS",
    }


@pytest.mark.parametrize("badge", catalog.BADGES, ids=lambda badge: badge.id)
def test_a_badge_is_whole(badge: catalog.CatalogBadge) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", badge.id)
    assert [tier.tier for tier in badge.tiers] == list(range(1, len(badge.tiers) + 1))
    thresholds = [tier.threshold for tier in badge.tiers]
    assert thresholds == sorted(set(thresholds))
    assert badge.image == f"{badge.id}.svg"
    assert [tier.image for tier in badge.tiers] == [f"{badge.id}-{tier.tier}.svg" for tier in badge.tiers]
    assert all(re.fullmatch(r"#[0-9a-f]{6}", tier.color) for tier in badge.tiers)
    titles = [tier.title for tier in badge.tiers]
    assert len(set(titles)) == len(titles)
    assert all(tier.title and tier.description.endswith(".") for tier in badge.tiers)


def test_badges_stand_in_the_order_in_which_they_are_listed() -> None:
    orders = [badge.order for badge in catalog.BADGES]
    assert orders == sorted(set(orders))


def test_every_image_is_drawn_and_nothing_else_lies_there() -> None:
    assert sorted(path.name for path in ARTWORK.iterdir()) == IMAGES
    assert len(set(IMAGES)) == 24 + 43


@pytest.mark.parametrize("name", IMAGES)
def test_an_image_is_a_small_drawing_that_can_do_nothing_else(name: str) -> None:
    source = (ARTWORK / name).read_text()
    assert len(source) < 2048
    assert svg_problems(source) == []
    root = etree.fromstring(source)
    assert root.get("viewBox") == "0 0 64 64"
    for element in root.iter():
        assert etree.QName(element).localname not in {"script", "style", "image", "foreignObject", "a", "use"}
        assert not [name for name in element.attrib if "href" in name or name == "style" or name.startswith("on")]
        assert all(value in {"url(#m)"} for value in element.attrib.values() if "url" in value)


@pytest.mark.parametrize("badge", [badge for badge in catalog.BADGES if badge.tiers], ids=lambda badge: badge.id)
def test_a_tier_is_drawn_in_the_colour_that_the_catalogue_says(badge: catalog.CatalogBadge) -> None:
    for tier in badge.tiers:
        assert f'fill="{tier.color}"' in (ARTWORK / tier.image).read_text()


@pytest.mark.django_db
def test_load_badges_makes_the_whole_catalogue_once() -> None:
    assert run() == ALL_NEW
    made = [
        (badge.pk, badge.catalog, badge.name, badge.image, badge.rule, badge.order)
        for badge in Badge.objects.order_by("order")
    ]
    assert made == [
        (badge.id, "standard", badge.name, badge.image, badge.rule, badge.order) for badge in catalog.BADGES
    ]
    columns = ("badge_id", "tier", "threshold", "title", "description", "color", "image")
    assert list(BadgeTier.objects.order_by("badge__order", "tier").values_list(*columns)) == [
        (badge.id, tier.tier, tier.threshold, tier.title, tier.description, tier.color, tier.image)
        for badge in catalog.BADGES
        for tier in badge.tiers
    ]
    assert run() == NOTHING_NEW
    assert (Badge.objects.count(), BadgeTier.objects.count()) == (24, 43)


@pytest.mark.django_db
def test_rows_of_the_catalogue_pass_the_checks_of_the_admin() -> None:
    badge_catalog.load_missing()
    for badge in Badge.objects.order_by("pk"):
        badge.full_clean()
        validate_file_name(badge.image)
    for tier in BadgeTier.objects.order_by("pk"):
        tier.full_clean()
        validate_color(tier.color)


@pytest.mark.django_db
def test_what_staff_changed_stays() -> None:
    badge_catalog.load_missing()
    Badge.objects.filter(pk="views").update(name="Seen", order=1)
    BadgeTier.objects.filter(badge="views", tier=1).update(threshold=7, title="Lucky")
    Badge.objects.create(id="summer", name="Summer", image="summer.svg")
    assert run() == NOTHING_NEW
    assert Badge.objects.values_list("name", "order").get(pk="views") == ("Seen", 1)
    assert BadgeTier.objects.values_list("threshold", "title").get(badge="views", tier=1) == (7, "Lucky")
    assert Badge.objects.filter(pk="summer").exists()


@pytest.mark.django_db
def test_what_is_missing_comes_back_alone() -> None:
    badge_catalog.load_missing()
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
    badge_catalog.load_missing()
    shown, other = (UserFactory().profiles.get() for _ in range(2))
    ProfileBadge.objects.create(profile=shown, badge_id="level")
    ProfileBadge.objects.create(profile=other, badge_id="views")
    for profile in (shown, other):
        ProfileDocument.objects.update_or_create(
            profile=profile, defaults={"user": profile.user, "fingerprint": "rendered"}
        )
    BadgeTier.objects.filter(badge="level", tier=5).delete()
    badge_catalog.load_missing()
    assert ProfileDocument.objects.get(profile=shown).fingerprint == ""
    assert ProfileDocument.objects.get(profile=other).fingerprint == "rendered"
