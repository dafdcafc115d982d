"""The sections of a profile page, in order, each with what its template shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from lookup.page import icons, presenters, url_policy
from lookup.page.presenters import Picture, Project, Track
from lookup.shapes.sections import SKILL_GROUPS, SectionType

Json = dict[str, Any]  # Any: a JSON value, as the read model holds it
GROUP_NAMES = {"core": "Languages", "tools": "Tools", "game": "Games"} | {
    name: name.capitalize() for name in SKILL_GROUPS if name not in {"core", "tools", "game"}
}
KINDS = {"track": "Track", "album": "Album", "artist": "Artist"}


@dataclass(frozen=True, slots=True)
class Skill:
    label: str
    image: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """An entry of a catalogue."""

    title: str
    image: str
    facts: list[str]

    @property
    def initial(self) -> str:
        return self.title[:1].upper()


@dataclass(frozen=True, slots=True)
class Section:
    """One heading and its content. Only the lists that the section has are filled."""

    id: str
    kind: str
    title: str
    description: str = ""
    alignment: str = "left"
    text: str = ""
    skills: dict[str, list[Skill]] = field(default_factory=dict)
    skills_alignment: str = "left"
    widgets: list[str] = field(default_factory=list)
    projects: list[Project] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    tracks: list[Track] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)

    @property
    def template(self) -> str:
        return f"lookup/sections/{self.kind}.html"

    def is_empty(self) -> bool:
        shown = (self.text, self.description, self.skills, self.widgets, self.projects, self.pictures, self.tracks)
        return not any(shown) and not self.cards


@dataclass(frozen=True, slots=True)
class Material:
    """What sections show in addition to their own configuration."""

    settings: dict[str, Json]
    projects: list[Json]
    widgets: list[Json]
    audios: list[Json]
    gallery: list[Json]


def shown(found: Iterable[Json], material: Material) -> list[Section]:
    """Return the sections that have something to show, then what is in none of them: projects, pictures, the player."""
    made = [_section(one, material) for one in found]
    return [section for section in [*made, *_rest(made, material)] if not section.is_empty()]


def _section(one: Json, material: Material) -> Section:
    kind, extra = _KINDS[one["type"]]
    return Section(
        id=one["id"],
        kind=kind,
        title=one["title"] or SectionType[one["type"]].label,
        description=one["description"],
        alignment=one["alignment"],
        **extra(one, material),
    )


def _rest(made: list[Section], material: Material) -> Iterable[Section]:
    kinds = {section.kind for section in made if not section.is_empty()}
    settings = material.settings["projectsSettings"]
    if "projects" not in kinds:
        title, projects = settings["title"] or "Projects", presenters.projects(material.projects)
        if projects:
            yield Section("projects", "projects", title, settings["description"], projects=projects)
    in_sections = {picture.src for section in made for picture in section.pictures}
    pictures = [picture for picture in presenters.gallery(material.gallery) if picture.src not in in_sections]
    yield Section("gallery", "gallery", "Gallery", pictures=pictures)
    if "audio_player" not in kinds and material.settings["audioSettings"]["player"]:
        yield Section(
            "audio", "audio_player", SectionType.AUDIO_PLAYER.label, tracks=presenters.tracks(material.audios)
        )


def _about_me(one: Json, material: Material) -> Json:
    settings = material.settings
    widgets = {widget["id"]: widget for widget in material.widgets}
    named = [widgets[pk] for pk in one["widgetIds"] if pk in widgets]
    has_skills = one["skillsEnabled"] and settings["skillsSettings"]["enabled"]
    has_text = settings["aboutMeSettings"]["enabled"]
    return {
        "text": one["content"].strip() if has_text else "",
        "widgets": [f"{one['platform']}: {one['identifier']}" for one in named] if has_text else [],
        "skills": _skills(one["skills"]) if has_skills else {},
        "skills_alignment": one["skillsAlignment"],
    }


def _skills(found: Json) -> dict[str, list[Skill]]:
    groups = {GROUP_NAMES[name]: [Skill(label) for label in found[name]] for name in SKILL_GROUPS}
    groups["More"] = [Skill(one["label"], icons.picture(one["iconSvg"])) for one in found["custom"]]
    return {name: skills for name, skills in groups.items() if skills}


def _projects(one: Json, material: Material) -> Json:
    known = {project["id"]: project for project in material.projects}
    return {"projects": presenters.projects(known[pk] for pk in one["projectIds"] if pk in known)}


def _cards(one: Json, material: Material) -> Json:
    """Return the cards of entries, without facts that are not known."""
    listed, name, facts_of = _ENTRIES[one["type"]]
    return {
        "cards": [
            Card(entry[name], url_policy.own(entry["image"]), [str(fact) for fact in facts_of(entry) if fact])
            for entry in one[listed]
        ]
    }


def _rated(value: float | None) -> str:
    return "" if value is None else f"★ {value:g}"


def _game_facts(game: Json) -> list[str | int | None]:
    meta = "" if game["metacritic"] is None else f"Metacritic {game['metacritic']}"
    return [(game["released"] or "")[:4], _rated(game["rating"]), meta]


# Where a section lists entries of a catalogue, and which of their keys are the name and the facts.
_ENTRIES: dict[str, tuple[str, str, Callable[[Json], list[str | int | None]]]] = {
    SectionType.GAMES: ("games", "name", _game_facts),
    SectionType.ANIME: ("anime", "title", lambda one: [one["format"], one["year"], _rated(one["score"])]),
    SectionType.MEDIA: (
        "media",
        "title",
        lambda one: [one["mediaType"].capitalize(), one["year"], _rated(one["rating"])],
    ),
    SectionType.MUSIC: ("music", "title", lambda one: [one.get("artist"), one.get("album"), KINDS[one["kind"]]]),
}
# How each type is shown, and what it adds.
_KINDS: dict[str, tuple[str, Callable[[Json, Material], Json]]] = {
    SectionType.ABOUT_ME: ("about_me", _about_me),
    SectionType.PROJECTS: ("projects", _projects),
    SectionType.CUSTOM_TEXT: ("text", lambda one, _: {"text": one["content"].strip()}),
    SectionType.GALLERY: ("gallery", lambda one, _: {"pictures": presenters.gallery(one["items"])}),
    SectionType.AUDIO_PLAYER: ("audio_player", lambda _, material: {"tracks": presenters.tracks(material.audios)}),
    **dict.fromkeys(_ENTRIES, ("cards", _cards)),
}
