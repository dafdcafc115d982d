"""Everything that the documents of profiles are rendered from, in one number of queries for any number of profiles."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from django.db.models import F, Model

from accounts.models import LinkedAccount
from infrastructure.databases import bulk
from lookup.documents import registry
from lookup.models import Alias, Badge, CustomBadge, GalleryItem, MusicItem, Profile, ProfileBadge, Section
from lookup.serializers.rows import ShownBadge, ShownTier, WholeProfile
from lookup.shapes import addresses, sections, settings_schema
from lookup.shapes.sections import SectionType

Json = dict[str, Any]  # Any: a JSON value
Row = TypeVar("Row", bound=Model)


def load_profiles(
    profile_ids: Sequence[str], *, is_run: bool = False, typed: Model | None = None
) -> list[WholeProfile]:
    """These profiles, ordered by id, with their rows. At most 21 queries.

    The user comes first: a change of its `public_version` after that is one that the caller has not read.
    `is_run`: there is no other profile between the first and the last one, in the order of the database, which then
    has two values to look for instead of many. `typed`: a row of a list, in place of the stored one with its id.
    """
    values: dict[str, Any] = {"gte": profile_ids[0], "lte": profile_ids[-1]} if is_run else {"in": profile_ids}
    chosen = {f"pk__{lookup}": value for lookup, value in values.items()}
    of_profile = {f"profile__{lookup}": value for lookup, value in values.items()}
    rows = Profile.objects.filter(**chosen).select_related("user", *Profile.ASSETS).order_by("pk")
    rows = rows.annotate(stored_avatar=F("document__avatar_path"), stored_mirror=F("document__mirrors_chat"))
    wanted = set(profile_ids)
    profiles = [profile for profile in rows if profile.pk in wanted]
    users = {profile.user_id for profile in profiles}
    aliases = aliases_of(users)
    linked = linked_of(users)
    found = {profile.pk: begun(profile, aliases[profile.user_id], linked) for profile in profiles}
    for profile in profiles:
        found[profile.pk].stored_picture = addresses.avatar(
            profile.user_id, path=profile.stored_avatar or "", mirrors_chat=bool(profile.stored_mirror)
        )
    lists = {model: content.shown_rows(model).filter(**of_profile) for model, content in _MODELS.items()}
    fill(found, *(_with(typed, rows) if isinstance(typed, model) else rows for model, rows in lists.items()))
    return list(found.values())


def _with(typed: Model, rows: Iterable[Any]) -> list[Any]:
    return [*(row for row in rows if row.pk != typed.pk), typed]


def begun(profile: Profile, aliases: list[Alias], linked: Mapping[tuple[str, str], LinkedAccount]) -> WholeProfile:
    """A profile without its lists, which `fill` adds. `linked`: by user and kind."""
    chat = linked.get((profile.user_id, LinkedAccount.Kind.CHAT))
    scrobbler = linked.get((profile.user_id, LinkedAccount.Kind.SCROBBLER))
    return WholeProfile(
        profile=profile,
        settings=settings_schema.filled(profile.settings),
        aliases=aliases,
        chat_id=chat.external_id if chat else None,
        scrobbler_name=scrobbler.name if scrobbler else None,
    )


def fill(found: Mapping[str, WholeProfile], *lists: Iterable[Any]) -> None:
    """Put rows on their profiles, each list in shown order: those of `LISTED`, one iterable for each, with what they
    name. At most 6 queries, for catalogues.
    """
    rows = {
        model: sorted((row for row in listed if row.profile_id in found), key=lambda row: (row.order, row.pk))
        for model, listed in zip(LISTED, lists, strict=True)
    }
    for model, content in _MODELS.items():
        if content.is_plain:
            for row in rows[model]:
                found[row.profile_id].lists[content.name].append(row)
    custom = (
        ShownBadge(row, "CUSTOM", name=row.name, image=row.image, icon_svg=row.icon_svg) for row in rows[CustomBadge]
    )
    for badge in sorted(
        (*standard_badges(rows[ProfileBadge]), *custom), key=lambda badge: (badge.row.order, badge.row.pk)
    ):
        found[badge.row.profile_id].lists["badges"].append(badge)
    _add_sections(found, rows[Section], rows[GalleryItem])


_MODELS = {model: content for content in registry.LISTS.values() for model in content.models}
LISTED = tuple(_MODELS)  # the models of what is on a profile


def aliases_of(user_ids: Collection[str]) -> dict[str, list[Alias]]:
    """Oldest first, by user. 1 query."""
    found: dict[str, list[Alias]] = defaultdict(list)
    rows = Alias.objects.filter(name__user__in=bulk.one_parameter(user_ids)).select_related("name")
    for alias in rows.order_by("created_at", "pk"):
        found[alias.name.user_id].append(alias)
    return found


def linked_of(user_ids: Collection[str]) -> dict[tuple[str, str], LinkedAccount]:
    """Outside accounts by user and kind. 1 query."""
    rows = LinkedAccount.objects.filter(user__in=bulk.one_parameter(user_ids))
    return {(row.user_id, row.kind): row for row in rows.only("user", "kind", "external_id", "name")}


def standard_badges(rows: Collection[ProfileBadge]) -> Iterator[ShownBadge]:
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


def _add_sections(found: Mapping[str, WholeProfile], rows: Iterable[Section], pictures: Iterable[GalleryItem]) -> None:
    """Enabled sections whose configuration is valid, and the pictures of those and of no section."""
    shown = []
    for row in rows:
        if row.is_enabled and (config := sections.filled(row.type, row.config)) is not None:
            row.config = config
            shown.append(row)
    places = {row.pk: place for place, row in enumerate(shown) if row.type == SectionType.GALLERY}
    items: dict[str | None, list[GalleryItem]] = defaultdict(list)
    for picture in sorted(pictures, key=lambda picture: places.get(picture.section_id or "", len(places) + len(shown))):
        if picture.section_id is None or picture.section_id in places:
            items[picture.section_id].append(picture)
            found[picture.profile_id].lists["gallery"].append(picture)
    catalogues = _catalogues(shown)
    for row in shown:
        one = found[row.profile_id]
        one.lists["sections"].append(_section(row, one, items[row.pk], catalogues))


Catalogues = dict[str, dict[Any, Model]]
_ROW_IDS = {type_: definition.row_ids for type_, definition in sections.DEFINITIONS.items()}


def _catalogues(rows: Iterable[Section]) -> Catalogues:
    """The rows that these sections name, by type and id; no query for a type that no profile has."""
    wanted: dict[str, set[int]] = defaultdict(set)
    music: set[str] = set()
    for row in rows:
        if row.type == SectionType.MUSIC:
            music.update(item["musicId"] for item in row.config["music"])
        elif row.type in registry.CATALOGUES:
            wanted[row.type].update(row.config[registry.CATALOGUES[row.type].config_key])
    found: Catalogues = {
        type_: registry.CATALOGUES[type_].model._default_manager.in_bulk(ids) for type_, ids in wanted.items()
    }
    if music:
        items = MusicItem.objects.filter(music_id__in=music)
        found[SectionType.MUSIC] = {(item.kind, item.music_id): item for item in items}
    return found


def _section(row: Section, one: WholeProfile, items: list[GalleryItem], catalogues: Catalogues) -> Json:
    """A section with what its type adds; ids of rows that are gone are left out."""
    known = catalogues.get(row.type, {})
    extra: Json = dict(row.config)
    for name, include in _ROW_IDS[row.type].items():
        shown = {listed.pk for listed in one.lists[include]}
        extra[name] = [pk for pk in row.config[name] if pk in shown]
    if row.type == SectionType.GALLERY:
        extra["items"] = items
    elif row.type == SectionType.MUSIC:
        named = [(item["kind"], item["musicId"]) for item in row.config["music"]]
        extra["music"] = [known[key] for key in named if key in known]
    elif row.type in registry.CATALOGUES:
        catalogue = registry.CATALOGUES[row.type]
        extra[catalogue.listed] = [known[pk] for pk in row.config[catalogue.config_key] if pk in known]
    return {
        "id": row.pk,
        "type": row.type,
        "order": row.order,
        "title": row.title,
        "description": row.description,
        "alignment": row.alignment,
        "enabled": True,
        **extra,
    }
