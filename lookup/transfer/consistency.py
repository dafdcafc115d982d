"""What must hold between the parts of a line, so that lookups can show it again unchanged. No database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.core.exceptions import ValidationError

from lookup import addresses, registry, settings_schema
from lookup.models.validators import validate_target
from lookup.sections import DEFINITIONS, SectionType
from lookup.transfer.uploads import AssetFacts, Mirrored
from lookup.transfer.validators import milliseconds, problems_of
from lookup.values import Problem

Json = dict[str, Any]  # Any: what the shapes made of JSON
DOCUMENT_LISTS = tuple(name for name in registry.DOCUMENT_COLUMNS if name != "profile")  # in the order of a line


def problems(data: Json) -> Iterator[Problem]:
    """Contradictions, as paths and sentences."""
    for check in (_user, _avatar, _ids, _aliases, _badges, _links, _sections, _gallery, _catalogues, _comments):
        yield from check(data)


def warnings(data: Json) -> Iterator[Problem]:
    """What lookups will say in another way, though nothing is lost."""
    for name in (name for name in DOCUMENT_LISTS if name != "gallery"):
        if data[name] != in_order(data[name]):
            yield name, "Lookups show them by order, then by id."
    for place, badge in enumerate(data["badges"]):
        if badge["unlockedTiers"] != sorted(set(badge["unlockedTiers"])):
            yield f"badges.{place}.unlockedTiers", "Lookups show them in ascending order, each once."
    items = data["comments"]["items"]
    if items != sorted(items, key=lambda item: (not item["pinned"], -milliseconds(item["createdAt"]))):
        yield "comments.items", "Lookups show pinned ones first, then the newest."
    avatar = data["profile"]["avatar"]
    if isinstance(avatar, Mirrored) and not avatar.is_usual:
        yield "profile.avatar", "Lookups say of a mirrored picture that it is image/png, without width and height."


def in_order(rows: Iterable[Json]) -> list[Json]:
    return sorted(rows, key=lambda row: (row["order"], row["id"]))


def _user(data: Json) -> Iterator[Problem]:
    if data["user"]["imagehost"] and not data["user"]["premium"]:
        yield "user.premium", "Must be true where user.imagehost is: that plan holds what premium holds."


def _avatar(data: Json) -> Iterator[Problem]:
    avatar, shown = data["profile"]["avatar"], data["user"]["avatarUrl"]
    mirrors = settings_schema.filled(data["profile"]["settings"])["avatarSettings"]["mirrorChat"]
    url = addresses.upload(avatar.path) if isinstance(avatar, AssetFacts) else avatar and avatar.url
    if isinstance(avatar, Mirrored) and url != addresses.mirrored_avatar(data["user"]["id"]):
        yield "profile.avatar.url", f"Must be {addresses.mirrored_avatar(data['user']['id'])} for this user."
    if mirrors != isinstance(avatar, Mirrored):
        yield (
            "profile.settings.avatarSettings.mirrorChat",
            "Must be true where profile.avatar is the picture of the chat platform, and false where it is not.",
        )
    if url != shown:
        yield "user.avatarUrl", "Must be the URL of profile.avatar, or null where that is null."


def _ids(data: Json) -> Iterator[Problem]:
    for name in DOCUMENT_LISTS:
        yield from _twice(data[name], name, "id", lambda row: row["id"])
    yield from _twice(data["comments"]["items"], "comments.items", "id", lambda row: row["id"])


def _twice(rows: Iterable[Json], path: str, name: str, key: Callable[[Json], object]) -> Iterator[Problem]:
    """Rows whose key another one before them has; None is no key."""
    seen: set[object] = set()
    for place, row in enumerate(rows):
        found = key(row)
        if found is not None and found in seen:
            yield f"{path}.{place}.{name}", "Duplicate value."
        seen.add(found)


def _aliases(data: Json) -> Iterator[Problem]:
    yield from _twice(data["aliases"], "aliases", "name", lambda alias: alias["name"].upper())
    yield from _twice(data["aliases"], "aliases", "profileId", lambda alias: alias["profileId"])
    for place, alias in enumerate(data["aliases"]):
        if alias["name"].upper() == data["user"]["username"].upper():
            yield f"aliases.{place}.name", "Is the username."
        if alias["profileId"] == data["profile"]["profileId"]:
            yield f"aliases.{place}.profileId", "Is the main profile."


def _badges(data: Json) -> Iterator[Problem]:
    yield from _twice(data["badges"], "badges", "badgeId", lambda badge: badge["badgeId"])
    for place, badge in enumerate(data["badges"]):
        path = f"badges.{place}"
        if badge["type"] == "STANDARD":
            absent = ["image", "iconSvg"]
            for name in ("badgeId", "imageUrl"):
                if badge[name] is None:
                    yield f"{path}.{name}", "Must not be null on a badge of the catalogue."
            yield from _tiers(badge, path)
        else:
            absent = ["badgeId", "selectedTier", "unlockedTiers", "imageUrl", "tiers"]
        for name in absent:
            if badge[name] not in (None, "", []):
                yield f"{path}.{name}", f"Must be {_ABSENT.get(name, 'null')} on a {badge['type']} badge."
        if badge["image"] and badge["iconSvg"]:
            yield f"{path}.iconSvg", "Must be null where there is an image."


_ABSENT = {"unlockedTiers": "empty", "tiers": "empty"}


def _tiers(badge: Json, path: str) -> Iterator[Problem]:
    yield from _twice(badge["tiers"], f"{path}.tiers", "tier", lambda tier: tier["tier"])
    numbers = [tier["tier"] for tier in badge["tiers"]]
    if numbers != sorted(numbers):
        yield f"{path}.tiers", "Must stand in ascending order."
    for place, tier in enumerate(badge["tiers"]):
        if tier["unlocked"] != (tier["tier"] in badge["unlockedTiers"]):
            yield f"{path}.tiers.{place}.unlocked", "Must match unlockedTiers."
        if tier["selected"] != (tier["tier"] == badge["selectedTier"]):
            yield f"{path}.tiers.{place}.selected", "Must match selectedTier."
        if badge["imageUrl"] and tier["imageUrl"][0] != badge["imageUrl"][0]:
            yield f"{path}.tiers.{place}.imageUrl", "Must lie in the catalogue of the badge."


def _links(data: Json) -> Iterator[Problem]:
    for place, link in enumerate(data["links"]):
        if link["icon"] and link["iconSvg"]:
            yield f"links.{place}.iconSvg", "Must be null where there is an icon."
        try:
            if not link["isText"]:
                validate_target(link["url"])
        except ValidationError as error:
            yield from problems_of(error, f"links.{place}.url")


def _sections(data: Json) -> Iterator[Problem]:
    known = {name: {row["id"] for row in data[name]} for name in ("widgets", "projects")}
    for place, section in enumerate(data["sections"]):
        if not section.get("enabled", True):
            yield f"sections.{place}.enabled", "Must be true: lookups never show a disabled section."
        for name, include in DEFINITIONS[section["type"]].row_ids.items():
            if not known[include].issuperset(section[name]):
                yield f"sections.{place}.{name}", f"Names a row that is not among the {include}."


def _gallery(data: Json) -> Iterator[Problem]:
    galleries = [row for row in in_order(data["sections"]) if row["type"] == SectionType.GALLERY]
    items = [item for section in galleries for item in section["items"]]
    if data["gallery"][: len(items)] != items:
        yield "gallery", "Must begin with the items of the gallery sections, section by section, as they stand there."


def _catalogues(data: Json) -> Iterator[Problem]:
    """Two sections may show one entry, and then say the same of it."""
    seen: dict[object, Json] = {}
    for place, section in enumerate(data["sections"]):
        for path, key, entry in catalogue_entries(section):
            if seen.setdefault(key, entry) != entry:
                yield f"sections.{place}.{path}", "Another section of this line says something else of this entry."


def catalogue_entries(section: Json) -> Iterator[tuple[str, tuple[str, ...], Json]]:
    """What a section says of rows of its catalogue: path, key (the type first) and facts."""
    if catalogue := registry.CATALOGUES.get(section["type"]):
        for place, entry in enumerate(section[catalogue.listed]):
            key = (entry[name] for name in catalogue.key_names)
            yield f"{catalogue.listed}.{place}", (section["type"], *key), entry


def _comments(data: Json) -> Iterator[Problem]:
    count, items = data["comments"]["count"], data["comments"]["items"]
    if count < len(items):
        yield "comments.count", "Must not be less than the number of items."
    seen: dict[str, Json] = {}
    own = {name: data["user"][name] for name in ("uid", "username", "name")}
    for place, item in enumerate(items):
        author = item["author"]
        if author["id"] == data["user"]["id"] and own.items() - author.items():
            yield f"comments.items.{place}.author", "Is the user of this line, of whom user says something else."
        picture = author["avatarUrl"]
        if isinstance(picture, Mirrored) and picture.url != addresses.mirrored_avatar(author["id"]):
            yield f"comments.items.{place}.author.avatarUrl", "Must be that of the author."
        if seen.setdefault(author["id"], author) != author:
            yield f"comments.items.{place}.author", "Another comment of this line says something else of this author."
