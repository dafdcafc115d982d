"""The sections of members' profiles, and the pictures of their galleries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lookup import bulk
from lookup.models import GalleryItem, Project, Section, Widget
from lookup.population import sentences, shelves
from lookup.population.pages import Page
from lookup.sections import SKILL_GROUPS, Alignment, SectionType

SKILLS = {
    "frontend": ("HTML", "CSS", "TypeScript", "Canvas", "Web components"),
    "backend": ("Python", "Go", "Rust", "Elixir", "PHP"),
    "database": ("SQL", "Key-value stores", "Full-text search"),
    "core": ("Algorithms", "Networks", "Operating systems"),
    "game": ("Level design", "Shaders", "Pixel art"),
    "tools": ("Version control", "Shell", "Spreadsheets"),
    "cloud": ("Containers", "Queues", "Monitoring"),
    "mobile": ("Offline first", "Accessibility"),
    "design": ("Typography", "Illustration", "Colour"),
    "music": ("Piano", "Mixing", "Field recording"),
}
TITLES = {
    SectionType.PROJECTS: ("Projects", "Things I make", "Workshop"),
    SectionType.GALLERY: ("Gallery", "Pictures", "Sketchbook"),
    SectionType.AUDIO_PLAYER: ("Listening", "On repeat", ""),
    SectionType.GAMES: ("Games", "What I play", "Favourites"),
    SectionType.ANIME: ("Anime", "Watched twice"),
    SectionType.MEDIA: ("Films and series", "On the screen"),
    SectionType.MUSIC: ("Music", "Records"),
}
Json = dict[str, Any]  # Any: a JSON value


def add_sections(
    page: Page, types: Sequence[SectionType], *, widgets: Sequence[Widget] = (), projects: Sequence[Project] = ()
) -> None:
    """One section of each type, in this order."""
    for order, type_ in enumerate(types):
        section = _section(page, type_, order)
        section.config = _config(page, type_, widgets, projects)
        page.rows.add(section)
        if type_ is SectionType.GALLERY:
            add_pictures(page, section, page.dice.randint(2, 6))


def add_pictures(page: Page, section: Section | None, number: int) -> None:
    """So many pictures, in this section or in none."""
    for order in range(number):
        page.rows.add(
            bulk.build(
                GalleryItem,
                id=page.dice.new_id(),
                profile=page.profile,
                section=section,
                asset=page.any_picture("gallery"),
                caption=page.dice.choice(sentences.CAPTIONS),
                width=page.dice.choice(GalleryItem.Width.values),
                order=order,
            )
        )


def _section(page: Page, type_: SectionType, order: int) -> Section:
    dice = page.dice
    return bulk.build(
        Section,
        id=dice.new_id(),
        profile=page.profile,
        type=type_,
        order=order,
        title=dice.choice(_titles(type_)),
        description=sentences.description(dice) if dice.chance(0.2) else "",
        alignment=dice.choice(Alignment.values) if dice.chance(0.3) else Alignment.LEFT,
        is_enabled=dice.chance(0.94),
    )


def _titles(type_: SectionType) -> Sequence[str]:
    if type_ is SectionType.ABOUT_ME:
        return sentences.TITLES
    return sentences.NOTES_TITLES if type_ is SectionType.CUSTOM_TEXT else TITLES[type_]


def _config(page: Page, type_: SectionType, widgets: Sequence[Widget], projects: Sequence[Project]) -> Json:
    """Complete, as `lookup.sections` wants it."""
    dice = page.dice
    match type_:
        case SectionType.ABOUT_ME:
            return {
                "content": sentences.about(dice),
                "widgetIds": [widget.id for widget in widgets],
                "skills": _skills(page),
                "skillsEnabled": dice.chance(0.8),
                "skillsAlignment": dice.choice(Alignment.values),
            }
        case SectionType.PROJECTS:
            return {"projectIds": [project.id for project in projects]}
        case SectionType.CUSTOM_TEXT:
            return {"content": sentences.filled(dice, dice.choice(sentences.NOTES))}
        case SectionType.GAMES:
            return {"gameIds": dice.some(shelves.GAME_IDS, 2, 6)}
        case SectionType.ANIME:
            return {"animeIds": dice.some(shelves.ANIME_IDS, 1, 5)}
        case SectionType.MEDIA:
            return {"mediaIds": dice.some(shelves.MEDIA_IDS, 1, 5)}
        case SectionType.MUSIC:
            chosen = dice.some(shelves.MUSIC_KEYS, 2, 5)
            return {"music": [{"kind": kind, "musicId": key} for kind, key in chosen]}
    return {}


def _skills(page: Page) -> Json:
    dice, groups = page.dice, set(page.dice.some(SKILL_GROUPS, 1, 4))
    skills: Json = {name: dice.some(SKILLS[name], 1, 4) if name in groups else [] for name in SKILL_GROUPS}
    skills["custom"] = []
    if dice.chance(0.2):
        skills["custom"] = [{"label": dice.choice(sentences.THINGS), "iconName": "", "iconSvg": page.icon()}]
    return skills
