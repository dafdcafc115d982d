"""The sections of members' profiles, the pictures of their galleries, and the invented games, anime, films, series and
music that sections name."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from django.utils.text import slugify

from demo import invented
from demo.population import people
from demo.population.profile_pages import Page
from infrastructure.databases import bulk
from lookup.models import Anime, GalleryItem, Game, MediaTitle, MusicItem, Project, Section, Widget
from lookup.shapes import addresses
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
                caption=page.rng.choice(people.texts.CAPTIONS),
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
        title=rng.choice(people.texts.SECTION_TITLES[type_]),
        description=people.description(rng) if rng.chance(0.2) else "",
        alignment=rng.choice(Alignment.values) if rng.chance(0.3) else Alignment.LEFT,
        is_enabled=rng.chance(0.94),
    )


def _config(page: Page, type_: SectionType, widgets: Sequence[Widget], projects: Sequence[Project]) -> Json:
    """Return a complete configuration, as `lookup.shapes.sections` wants it."""
    rng = page.rng
    match type_:
        case SectionType.ABOUT_ME:
            return {
                "content": people.about(rng),
                "widgetIds": [widget.id for widget in widgets],
                "skills": _skills(page),
                "skillsEnabled": rng.chance(0.8),
                "skillsAlignment": rng.choice(Alignment.values),
            }
        case SectionType.PROJECTS:
            return {"projectIds": [project.id for project in projects]}
        case SectionType.CUSTOM_TEXT:
            return {"content": people.filled(rng, rng.choice(people.texts.NOTES))}
        case SectionType.GAMES:
            return {"gameIds": rng.some(GAME_IDS, 2, 6)}
        case SectionType.ANIME:
            return {"animeIds": rng.some(ANIME_IDS, 1, 5)}
        case SectionType.MEDIA:
            return {"mediaIds": rng.some(MEDIA_IDS, 1, 5)}
        case SectionType.MUSIC:
            chosen = rng.some(MUSIC_KEYS, 2, 5)
            return {"music": [{"kind": kind, "musicId": key} for kind, key in chosen]}
    return {}


def _skills(page: Page) -> Json:
    rng, groups = page.rng, set(page.rng.some(SKILL_GROUPS, 1, 4))
    skills: Json = {name: rng.some(people.texts.SKILLS[name], 1, 4) if name in groups else [] for name in SKILL_GROUPS}
    skills["custom"] = []
    if rng.chance(0.2):
        skills["custom"] = [{"label": rng.choice(people.texts.THINGS), "iconName": "", "iconSvg": page.icon()}]
    return skills


FIRST_ID = 9_000_000_001  # beyond the numbers of any catalogue that an import brings
data = invented.load("catalogues")
GAME_IDS = tuple(range(FIRST_ID, FIRST_ID + len(data.GAMES)))
ANIME_IDS = tuple(range(FIRST_ID, FIRST_ID + len(data.ANIME)))
MEDIA_IDS = tuple(range(FIRST_ID, FIRST_ID + len(data.MEDIA)))
MUSIC_KEYS = tuple((kind, f"demo-{kind}-{slugify(title)}") for kind, title, _, _ in data.MUSIC)


def fill_catalogues() -> None:
    """Insert missing rows. 4 queries."""
    games = [
        Game(
            id=pk,
            name=name,
            image=_image("game", place),
            slug=slugify(name),
            released=released and date.fromisoformat(released),
            rating=rating,
            metacritic=metacritic,
        )
        for place, (pk, (name, released, rating, metacritic)) in enumerate(
            zip(GAME_IDS, data.GAMES, strict=True), start=1
        )
    ]
    anime = [
        Anime(id=pk, title=title, image=_image("anime", place), format=form, year=year, score=score)
        for place, (pk, (title, form, year, score)) in enumerate(zip(ANIME_IDS, data.ANIME, strict=True), start=1)
    ]
    media = [
        MediaTitle(id=pk, media_type=kind, title=title, image=_image("media", place), year=year, rating=rating)
        for place, (pk, (kind, title, year, rating)) in enumerate(zip(MEDIA_IDS, data.MEDIA, strict=True), start=1)
    ]
    music = [
        MusicItem(kind=kind, music_id=key, title=title, image=_image("music", place), artist=artist, album=album)
        for place, ((_, key), (kind, title, artist, album)) in enumerate(
            zip(MUSIC_KEYS, data.MUSIC, strict=True), start=1
        )
    ]
    # The pictures follow the service to another address; everything else is left as it is.
    Game.objects.bulk_create(games, update_conflicts=True, unique_fields=["id"], update_fields=["image"])
    Anime.objects.bulk_create(anime, update_conflicts=True, unique_fields=["id"], update_fields=["image"])
    MediaTitle.objects.bulk_create(media, update_conflicts=True, unique_fields=["id"], update_fields=["image"])
    MusicItem.objects.bulk_create(
        music, update_conflicts=True, unique_fields=["kind", "music_id"], update_fields=["image"]
    )


def _image(kind: str, place: int) -> str:
    return addresses.upload(f"demo/{kind}-{place}.svg")
