"""The badge catalogue in the database, and the tiers that views, likes and comments unlock.

A tier stays unlocked when the counter falls again. What staff changed in the catalogue stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict

from django.db import transaction
from django.db.models import Max

from lookup.documents import documents
from lookup.editing import profiles
from lookup.models import Badge, BadgeTier, CustomBadge, Profile, ProfileBadge, UnlockRule, UserDocument
from lookup.shapes import badge_catalogue

COUNTERS = {UnlockRule.VIEWS: "views", UnlockRule.LIKES: "likes", UnlockRule.COMMENTS: "comments"}
BATCH = 200
MARKED_AT_ONCE = 1000


@transaction.atomic
def load_missing() -> tuple[int, int]:
    """Add what the tables lack of the catalogue; return the numbers of new badges and tiers.

    Profiles that show a badge with a new tier are rendered again, and users who have reached the tier get it. A badge
    that staff moved to another catalogue gets no tier.
    """
    catalogue = {badge.id: badge for badge in badge_catalogue.BADGES}
    held = set(Badge.objects.values_list("pk", flat=True))
    facts = [asdict(badge) | {"catalog": badge_catalogue.CATALOG} for badge in catalogue.values()]
    badges = [Badge(**{name: one[name] for name in one if name != "tiers"}) for one in facts if one["id"] not in held]
    Badge.objects.bulk_create(badges)
    ours = Badge.objects.filter(catalog=badge_catalogue.CATALOG).in_bulk(list(catalogue))
    present = set(BadgeTier.objects.values_list("badge_id", "tier"))
    tiers = [
        BadgeTier(badge=ours[badge.id], **asdict(tier))
        for badge in catalogue.values()
        for tier in badge.tiers
        if badge.id in ours and (badge.id, tier.tier) not in present
    ]
    BadgeTier.objects.bulk_create(tiers)
    documents.mark_stale(Profile.objects.filter(badges__badge__in={tier.badge_id for tier in tiers}))
    if any(tier.badge.rule for tier in tiers):
        have_everybody_checked()
    return len(badges), len(tiers)


def unlock(*, after_batch: Callable[[], None] = lambda: None) -> int:
    """Give users whose counters have changed the tiers that these have reached; return the number of tiers.

    `after_batch` is called between transactions and may renew a lease. A new badge is added with its first tier,
    enabled, after the user's other badges.
    """
    given = 0
    due = UserDocument.objects.filter(unlock_due=True).order_by("pk").values_list("profile_id", flat=True)
    while profile_ids := list(due[:BATCH]):
        with profiles.changing(*profile_ids):
            rows = UserDocument.objects.select_for_update(no_key=True).filter(profile__in=profile_ids)
            # PostgreSQL would look for `unlock_due` first, and read all rows that are due: its statistics are those of
            # a table without any.
            batch = [row for row in rows.order_by("pk") if row.unlock_due]
            given += _unlock(batch)
            UserDocument.objects.filter(pk__in=[row.pk for row in batch]).update(unlock_due=False)
        after_batch()
    return given


@transaction.atomic
def have_everybody_checked() -> int:
    """After a change of the catalogue's tiers, have the next `unlock` check users; return their number. Rows are locked
    in the order of their ids, as everywhere, and after documents of profiles."""
    rows = UserDocument.objects.select_for_update(no_key=True).filter(unlock_due=False)
    marked, last = 0, ""
    while batch := list(rows.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[:MARKED_AT_ONCE]):
        marked += UserDocument.objects.filter(pk__in=batch).update(unlock_due=True)
        last = batch[-1]
    return marked


def reached(badge: Badge, counter: int) -> list[int]:
    """Return the tiers of the badge that this count unlocks."""
    return [tier.tier for tier in badge.sorted_tiers if tier.threshold <= counter]


def _unlock(rows: Iterable[UserDocument]) -> int:
    badges = list(Badge.objects.exclude(rule="").order_by("order", "pk").prefetch_related("tiers"))
    by_profile = {document.profile_id: document for document in rows}
    locked = ProfileBadge.objects.select_for_update(no_key=True).filter(profile__in=by_profile, badge__in=badges)
    held = {(row.profile_id, row.badge_id): row for row in locked.order_by("pk")}
    last: dict[str, int] = {}  # the highest `order` among the badges of each profile, custom ones included
    for model in (ProfileBadge, CustomBadge):
        orders = model._default_manager.filter(profile__in=by_profile).values("profile").order_by()
        for profile_id, order in orders.annotate(last=Max("order")).values_list("profile", "last"):
            last[profile_id] = max(order, last.get(profile_id, order))
    given, new, changed = 0, [], []
    for profile_id, document in by_profile.items():
        for badge in badges:
            row = held.get((profile_id, badge.pk))
            tiers = reached(badge, getattr(document, COUNTERS[UnlockRule(badge.rule)]))
            missing = set(tiers) - set(row.unlocked_tiers if row else ())
            if not missing:
                continue
            if row is None:
                last[profile_id] = last.get(profile_id, -1) + 1
                row = ProfileBadge(profile_id=profile_id, badge=badge, order=last[profile_id])
                new.append(row)
            else:
                changed.append(row)
            row.unlocked_tiers = sorted({*row.unlocked_tiers, *missing})
            given += len(missing)
    ProfileBadge.objects.bulk_create(new)
    ProfileBadge.objects.bulk_update(changed, ["unlocked_tiers"])
    profiles.touch(*{row.profile_id for row in [*new, *changed]})
    return given
