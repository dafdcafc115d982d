"""The lists of a profile: how a row of each is made through the pages, and what the lookup shows of it then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.dashboard.profile.editor import picture, song
from tests.factories import ModelFactory
from tests.factories.lookup import (
    SVG,
    AudioFactory,
    BackgroundFactory,
    CustomBadgeFactory,
    GalleryItemFactory,
    LinkFactory,
    ProjectFactory,
    SectionFactory,
    WidgetFactory,
)


@dataclass(frozen=True)
class Case:
    """`typed` goes into the form of a new row, and the lookup shows `expected`; then `changed` makes it `then`."""

    name: str
    factory: type[ModelFactory[Any]]
    typed: Callable[[], dict[str, Any]]
    expected: dict[str, Any]
    changed: dict[str, Any]
    then: dict[str, Any]
    add: str = "add"


CASES = (
    Case(
        "links",
        LinkFactory,
        lambda: {"title": "My site", "url": "https://ada.example/", "platform_id": "site", "icon_svg": SVG},
        {"title": "My site", "url": "https://ada.example/", "platformId": "site", "iconSvg": SVG, "order": 0},
        {"title": "Mail", "url": "mailto:ada@example.org"},
        {"title": "Mail", "url": "mailto:ada@example.org"},
    ),
    Case(
        "badges",
        CustomBadgeFactory,
        lambda: {"name": "Countess", "image": picture(), "color": "#1b5e4b", "recolor": True},
        {"name": "Countess", "type": "CUSTOM", "color": "#1b5e4b", "recolor": True, "enabled": True},
        {"name": "Enchantress"},
        {"name": "Enchantress", "color": "#1b5e4b"},
    ),
    Case(
        "widgets",
        WidgetFactory,
        lambda: {"platform": "weather", "type": "today", "identifier": "London"},
        {"platform": "weather", "type": "today", "identifier": "London", "order": 0},
        {"identifier": "Paris"},
        {"platform": "weather", "identifier": "Paris"},
    ),
    Case(
        "audios",
        AudioFactory,
        lambda: {"title": "A song", "artist": "Ada", "audio": song(), "cover": picture()},
        {"title": "A song", "artist": "Ada", "externalUrl": ""},
        {"title": "Another", "external_url": "https://songs.example/1"},
        {"title": "Another", "externalUrl": "https://songs.example/1"},
    ),
    Case(
        "backgrounds",
        BackgroundFactory,
        lambda: {"title": "The sea", "asset": picture()},
        {"title": "The sea", "order": 0},
        {"title": "The sky"},
        {"title": "The sky"},
    ),
    Case(
        "projects",
        ProjectFactory,
        lambda: {"title": "Engine", "description": "It computes.", "tags": " brass, steam ,brass"},
        {"title": "Engine", "description": "It computes.", "tags": ["brass", "steam"], "icon": None},
        {"url": "https://engine.example/", "tags": ""},
        {"title": "Engine", "url": "https://engine.example/", "tags": []},
    ),
    Case(
        "gallery",
        GalleryItemFactory,
        lambda: {"asset": picture(), "caption": "The desk", "width": "full"},
        {"caption": "The desk", "width": "full"},
        {"caption": "The chair", "width": "quad"},
        {"caption": "The chair", "width": "quad"},
    ),
    Case(
        "sections",
        SectionFactory,
        lambda: {"title": "Notes", "description": "On engines", "alignment": "center", "body": "Hello"},
        {"type": "CUSTOM_TEXT", "title": "Notes", "alignment": "center", "content": "Hello", "enabled": True},
        {"body": "Hello again"},
        {"content": "Hello again", "title": "Notes"},
        add="add/CUSTOM_TEXT",
    ),
)
