"""The sections of members' profiles, and the pictures of their galleries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from demo.population import catalogue_data, sentences
from demo.population.profile_pages import Page
from infrastructure.databases import bulk
from lookup.models import GalleryItem, Project, Section, Widget
from lookup.shapes.sections import SKILL_GROUPS, Alignment, SectionType

Json = dict[str, Any]


def add_sections(
    page: Page,
    types: Sequence[SectionType],
    *,
    widgets: Sequence[Widget] = (),
    projects: Sequence[Project] = (),
    is_shown: bool = False,
) -> None:
    """Add a section of each type, in this order. `is_shown`: all are enabled, instead of most."""
    for order, type_ in enumerate(types):
        section = _section(page, type_, order)
        section.config = _config(page, type_, widgets, projects)
        section.is_enabled = section.is_enabled or is_shown
        page.rows.add(section)
        if type_ is SectionType.GALLERY:
            add_pictures(page, section, page.rng.randint(2, 6))


def add_pictures(page: Page, section: Section | None, number: int) -> None:
    """Add `number` pictures, in this section or in none."""
    for order in range(number):
        page.rows.add(
            bulk.build(
                GalleryItem,
                id=page.rng.new_id(),
                profile=page.profile,
                section=section,
                asset=page.any_picture("gallery"),
                caption=page.rng.choice(sentences.texts.CAPTIONS),
                width=page.rng.choice(GalleryItem.Width.values),
                order=order,
            )
        )


def _section(page: Page, type_: SectionType, order: int) -> Section:
    rng = page.rng
    return bulk.build(
        Section,
        id=rng.new_id(),
        profile=page.profile,
        type=type_,
        order=order,
        title=rng.choice(sentences.texts.SECTION_TITLES[type_]),
        description=sentences.description(rng) if rng.chance(0.2) else "",
        alignment=rng.choice(Alignment.values) if rng.chance(0.3) else Alignment.LEFT,
        is_enabled=rng.chance(0.94),
    )


def _config(page: Page, type_: SectionType, widgets: Sequence[Widget], projects: Sequence[Project]) -> Json:
    """Return a complete configuration, as `lookup.shapes.sections` wants it."""
    rng = page.rng
    match type_:
        case SectionType.ABOUT_ME:
            return {
                "content": sentences.about(rng),
                "widgetIds": [widget.id for widget in widgets],
                "skills": _skills(page),
                "skillsEnabled": rng.chance(0.8),
                "skillsAlignment": rng.choice(Alignment.values),
            }
        case SectionType.PROJECTS:
            return {"projectIds": [project.id for project in projects]}
        case SectionType.CUSTOM_TEXT:
            return {"content": sentences.filled(rng, rng.choice(sentences.texts.NOTES))}
        case SectionType.GAMES:
            return {"gameIds": rng.some(catalogue_data.GAME_IDS, 2, 6)}
        case SectionType.ANIME:
            return {"animeIds": rng.some(catalogue_data.ANIME_IDS, 1, 5)}
        case SectionType.MEDIA:
            return {"mediaIds": rng.some(catalogue_data.MEDIA_IDS, 1, 5)}
        case SectionType.MUSIC:
            chosen = rng.some(catalogue_data.MUSIC_KEYS, 2, 5)
            return {"music": [{"kind": kind, "musicId": key} for kind, key in chosen]}
    return {}


def _skills(page: Page) -> Json:
    rng, groups = page.rng, set(page.rng.some(SKILL_GROUPS, 1, 4))
    skills: Json = {
        name: rng.some(sentences.texts.SKILLS[name], 1, 4) if name in groups else [] for name in SKILL_GROUPS
    }
    skills["custom"] = []
    if rng.chance(0.2):
        skills["custom"] = [{"label": rng.choice(sentences.texts.THINGS), "iconName": "", "iconSvg": page.icon()}]
    return skills
