"""The badge catalogue in the database: add what is missing, keep what staff changed."""

from django.db import transaction

from lookup.documents import documents
from lookup.editing import unlocking
from lookup.models import Badge, BadgeTier, Profile
from lookup.shapes import badge_catalogue


@transaction.atomic
def load_missing() -> tuple[int, int]:
    """Add what the tables lack of the catalogue; return the numbers of new badges and tiers.

    Profiles that show a badge with a new tier are rendered again, and users who have reached the tier get it.
    """
    badges = _missing_badges()
    Badge.objects.bulk_create(badges)
    tiers = _missing_tiers()
    BadgeTier.objects.bulk_create(tiers)
    documents.mark_stale(Profile.objects.filter(badges__badge__in={tier.badge_id for tier in tiers}))
    if any(tier.badge.rule for tier in tiers):
        unlocking.have_everybody_checked()
    return len(badges), len(tiers)


def _missing_badges() -> list[Badge]:
    held = set(Badge.objects.values_list("pk", flat=True))
    return [
        Badge(
            id=badge.id,
            catalog=badge_catalogue.CATALOG,
            name=badge.name,
            image=badge.image,
            rule=badge.rule,
            order=badge.order,
        )
        for badge in badge_catalogue.BADGES
        if badge.id not in held
    ]


def _missing_tiers() -> list[BadgeTier]:
    """Return the missing tiers. A badge that staff moved to another catalogue is theirs: it gets none from this one."""
    ours = Badge.objects.filter(catalog=badge_catalogue.CATALOG).in_bulk()
    held = set(BadgeTier.objects.values_list("badge_id", "tier"))
    return [
        BadgeTier(
            badge=ours[badge.id],
            tier=tier.tier,
            threshold=tier.threshold,
            title=tier.title,
            description=tier.description,
            color=tier.color,
            image=tier.image,
        )
        for badge in badge_catalogue.BADGES
        for tier in badge.tiers
        if badge.id in ours and (badge.id, tier.tier) not in held
    ]
