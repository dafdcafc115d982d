"""Write catalogue rows of lines: add missing badges and tiers; update games and the like from the last line that holds
them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from lookup.documents import documents, registry
from lookup.models import Badge, BadgeTier, Profile
from lookup.shapes.strict_fields import Problem
from lookup.transfer.conflicts import found
from lookup.transfer.reading import Json, Line, catalogue_entries
from lookup.transfer.tables import STANDARD_BADGES

_DIFFERS = "The badge catalog says something else of this badge here, and lookups show that."


class BadgeCatalogue:
    """The badges that lines name, and which of them are missing. Existing ones are never overwritten: `warnings`, by
    the number of the line, say where that makes a difference."""

    def __init__(self, lines: Iterable[Line]) -> None:
        named = [(line, path, entry) for line in lines for path, entry in STANDARD_BADGES.of(line)]
        held = found(Badge.objects.prefetch_related("tiers"), "pk", {entry["badgeId"] for _, _, entry in named})
        self._badges = {badge.pk: badge for badge in held}
        self._old = set(self._badges)
        self._tiers = {badge.pk: {tier.tier: tier for tier in badge.tiers.all()} for badge in self._badges.values()}
        self._new_tiers: list[BadgeTier] = []
        self.warnings: dict[int, list[Problem]] = defaultdict(list)
        for line, path, entry in named:
            if not self._agrees(entry):
                self.warnings[line.number].append((path, _DIFFERS))

    def _agrees(self, entry: Json) -> bool:
        """Return whether lookups will show the badge as the entry does, once missing rows are added."""
        pk, (catalog, image) = entry["badgeId"], entry["imageUrl"]
        if pk not in self._badges:
            self._badges[pk] = Badge(pk=pk, catalog=catalog, name=entry["name"], image=image)
            self._tiers[pk] = {}
        badge, tiers = self._badges[pk], self._tiers[pk]
        agrees = (badge.catalog, badge.name, badge.image) == (catalog, entry["name"], image)
        for given in entry["tiers"]:
            facts = {name: given[name] for name in ("threshold", "title", "description", "color")}
            facts["image"] = given["imageUrl"][1]
            tier = tiers.get(given["tier"])
            if tier is None:
                tier = tiers[given["tier"]] = BadgeTier(badge_id=pk, tier=given["tier"], **facts)
                self._new_tiers.append(tier)
            agrees = agrees and all(getattr(tier, name) == value for name, value in facts.items())
        return agrees and len(tiers) == len(entry["tiers"])

    def write(self) -> None:
        """Add what is missing; profiles that show a badge with a new tier are rendered again."""
        Badge.objects.bulk_create([badge for pk, badge in self._badges.items() if pk not in self._old])
        BadgeTier.objects.bulk_create(self._new_tiers)
        grown = {tier.badge_id for tier in self._new_tiers} & self._old
        if grown:
            documents.mark_stale(Profile.objects.filter(badges__badge__in=grown))


def missing_entries(line: Line) -> Iterator[Problem]:
    """Yield catalogue rows that the line names and that do not exist, as paths and sentences."""
    named: dict[str, dict[tuple[Any, ...], str]] = defaultdict(dict)  # Any: keys of any catalogue
    for place, section in enumerate(line.rows("sections")):
        for path, (type_, *key), _ in catalogue_entries(section):
            named[type_].setdefault(tuple(key), f"sections.{place}.{path}")
    for type_, paths in named.items():
        catalogue = registry.CATALOGUES[type_]
        rows = found(catalogue.model._default_manager.all(), catalogue.key[-1], {key[-1] for key in paths})
        held = {tuple(getattr(row, name) for name in catalogue.key) for row in rows}
        yield from ((path, "Is not in the catalog here.") for key, path in paths.items() if key not in held)


def write_entries(lines: Iterable[Line]) -> None:
    """Write games, anime, media and music, as the last line that names them says. Other profiles that show a changed
    one are rendered again."""
    named: dict[str, dict[Any, Json]] = defaultdict(dict)  # Any: keys of any catalogue
    for line in lines:
        for section in line.rows("sections"):
            for _, (type_, *key), entry in catalogue_entries(section):
                named[type_][tuple(key)] = entry
    for type_, entries in named.items():
        catalogue = registry.CATALOGUES[type_]
        given = {
            key: {column: entry[name] for name, column in catalogue.columns.items()} for key, entry in entries.items()
        }
        rows = found(catalogue.model._default_manager.all(), catalogue.key[-1], {key[-1] for key in given})
        held = {tuple(getattr(row, name) for name in catalogue.key): row for row in rows}
        changed = [
            key
            for key, row in held.items()
            if any(getattr(row, name) != value for name, value in given.get(key, {}).items())
        ]
        new = [catalogue.model(**values) for key, values in given.items() if key not in held or key in changed]
        catalogue.model._default_manager.bulk_create(
            new,
            update_conflicts=True,
            unique_fields=list(catalogue.key),
            update_fields=[name for name in catalogue.columns.values() if name not in catalogue.key],
        )
        if changed:
            documents.mark_stale(Profile.objects.filter(sections__type=type_))
