"""Read the lines of an export and check each by itself: its parts, and what must hold between them. No database."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, BinaryIO, NoReturn

from django.core.exceptions import ValidationError

from infrastructure.timestamps import milliseconds
from lookup.documents import registry
from lookup.models.validators import validate_target
from lookup.serializers.current import VERSION
from lookup.serializers.fields import AssetFacts, Mirrored
from lookup.shapes import addresses, settings_schema
from lookup.shapes.sections import DEFINITIONS, SectionType
from lookup.shapes.strict_fields import Problem, Problems, joined, problems_of
from lookup.transfer.form import read_line

MAX_BYTES = 8 * 1024 * 1024  # of a line
_NEWER = f"A newer release made this export: this one reads versions up to {VERSION}. Import it there."
_BOM = b"\xef\xbb\xbf"

Json = dict[str, Any]  # Any: what the shapes made of JSON
Located = tuple[str, Json]  # an entry with its path


class LineRefused(Exception):
    """`problems`: paths, "" for the whole line, and sentences."""

    def __init__(self, problems: Problems) -> None:
        super().__init__(problems)
        self.problems = problems


@dataclass(frozen=True)
class Line:
    """One user in a file. `warnings`: values that lookups will show differently. `listed`: the entries that
    `tables.Table.of` has found, by table."""

    number: int
    data: Json
    warnings: list[Problem] = field(default_factory=list)
    listed: dict[str, list[Located]] = field(default_factory=dict)

    @cached_property
    def user(self) -> Json:
        return dict(self.data["user"])

    @cached_property
    def profile(self) -> Json:
        return dict(self.data["profile"])

    @cached_property
    def user_id(self) -> str:
        return str(self.data["user"]["id"])

    @cached_property
    def profile_id(self) -> str:
        return str(self.data["profile"]["profileId"])

    def rows(self, include: str) -> list[Json]:
        """Return the entries of an include that is a list."""
        return list(self.data[include])

    def comments(self) -> list[Json]:
        return list(self.data["comments"]["items"])


class _Doubled(dict[str, Any]):
    """An object that has a name twice."""

    name = ""


def lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that hold something, with their numbers from 1. Of a too long one, only the beginning."""
    number = 0
    while line := file.readline(MAX_BYTES + 2):
        number += 1
        whole = line
        while whole and not whole.endswith(b"\n"):
            whole = file.readline(MAX_BYTES)
        if number == 1:
            line = line.removeprefix(_BOM)
        if line := line.strip(b" \t\r\n"):
            yield number, line


def read(number: int, text: bytes) -> Line:
    """Return the line. Raises LineRefused, with every problem that was found."""
    value = _parsed(text)
    problems: Problems = []
    if not isinstance(value, dict):
        raise LineRefused([("", "Must be an object.")])
    if isinstance(version := value.get("version"), int | float) and version > VERSION:
        raise LineRefused([("version", _NEWER)])
    data = read_line(value, "", problems)
    problems = problems or list(contradictions(data))
    if problems:
        raise LineRefused(problems)
    return Line(number, data, list(warnings(data)))


def _parsed(text: bytes) -> Any:
    """Any: JSON."""
    if len(text) > MAX_BYTES:
        raise LineRefused([("", f"Has more than {MAX_BYTES} bytes.")])
    doubled: list[_Doubled] = []

    def make(pairs: list[tuple[str, Any]]) -> Json:
        found = dict(pairs)
        if len(found) < len(pairs):
            found = _Doubled(found)
            found.name = Counter(name for name, _ in pairs).most_common(1)[0][0]
            doubled.append(found)
        return found

    def refuse(name: str) -> NoReturn:
        raise LineRefused([("", f"Is not JSON that can be read: {name} is no number of JSON.")])

    try:
        value = json.loads(text.decode(), object_pairs_hook=make, parse_constant=refuse)
        names = list(_doubled_names(value, "")) if doubled else []
    except UnicodeDecodeError:
        raise LineRefused([("", "Is not UTF-8.")]) from None
    except json.JSONDecodeError as error:
        raise LineRefused([("", f"Is not JSON: {error.msg} at character {error.pos + 1}.")]) from None
    except RecursionError:
        raise LineRefused([("", "Is not JSON that can be read: it is nested too deep.")]) from None
    except ValueError:  # more digits than Python reads
        raise LineRefused([("", "Is not JSON that can be read: a number has too many digits.")]) from None
    if names:
        raise LineRefused([(path, "Appears twice.") for path in names])
    return value


def _doubled_names(value: Any, path: str) -> Iterator[str]:
    """Any: JSON."""
    if isinstance(value, _Doubled):
        yield joined(path, value.name)
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, entry in entries:
        yield from _doubled_names(entry, joined(path, name))


DOCUMENT_LISTS = tuple(name for name in registry.DOCUMENT_COLUMNS if name != "profile")  # in the order of a line


def contradictions(data: Json) -> Iterator[Problem]:
    """Yield contradictions between parts of a line, as paths and sentences."""
    for check in (_user, _ids, _aliases, _badges, _links, _sections, _gallery, _catalogues, _comments):
        yield from check(data)


def warnings(data: Json) -> Iterator[Problem]:
    """Yield values that lookups will show differently, without loss."""
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
    """Yield rows that repeat the key of an earlier row; None is no key."""
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
                    yield f"{path}.{name}", "Must not be null on a badge of the catalog."
            yield from _tiers(badge, path)
        else:
            absent = ["badgeId", "selectedTier", "unlockedTiers", "imageUrl", "tiers"]
        for name in absent:
            if badge[name] not in (None, "", []):
                nothing = "empty" if name in {"unlockedTiers", "tiers"} else "null"
                yield f"{path}.{name}", f"Must be {nothing} on a {badge['type']} badge."
        if badge["image"] and badge["iconSvg"]:
            yield f"{path}.iconSvg", "Must be null where there is an image."


def _tiers(badge: Json, path: str) -> Iterator[Problem]:
    yield from _twice(badge["tiers"], f"{path}.tiers", "tier", lambda tier: tier["tier"])
    numbers = [tier["tier"] for tier in badge["tiers"]]
    if numbers != sorted(numbers):
        yield f"{path}.tiers", "Must be in ascending order."
    for place, tier in enumerate(badge["tiers"]):
        if tier["unlocked"] != (tier["tier"] in badge["unlockedTiers"]):
            yield f"{path}.tiers.{place}.unlocked", "Must match unlockedTiers."
        if tier["selected"] != (tier["tier"] == badge["selectedTier"]):
            yield f"{path}.tiers.{place}.selected", "Must match selectedTier."
        if badge["imageUrl"] and tier["imageUrl"][0] != badge["imageUrl"][0]:
            yield f"{path}.tiers.{place}.imageUrl", "Must lie in the catalog of the badge."


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
        yield "gallery", "Must begin with the items of the gallery sections, section by section, in the same order."


def _catalogues(data: Json) -> Iterator[Problem]:
    """Yield sections that show one entry and contradict each other about it."""
    seen: dict[object, Json] = {}
    for place, section in enumerate(data["sections"]):
        for path, key, entry in catalogue_entries(section):
            if seen.setdefault(key, entry) != entry:
                yield f"sections.{place}.{path}", "Another section of this line says something else of this entry."


def catalogue_entries(section: Json) -> Iterator[tuple[str, tuple[str, ...], Json]]:
    """Yield the rows of its catalogue that a section lists: path, key (the type first) and facts."""
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
