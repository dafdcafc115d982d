"""A profile with something of everything, and its page."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from django.test import Client

from accounts.models import User
from accounts.plans import Plan
from lookup.models import Profile
from lookup.shapes import sections
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.pages.markup import page_of

ADDRESS = "http://127.0.0.1:8000"
UPLOADS = "/uploads"
NOT_KEPT = {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}  # in CACHES: pages are rendered each time
_ONE_TIME = re.compile(r'(?<=name="csrfmiddlewaretoken" value=")\w+|(?<=name="pk" value=")[0-9a-f]{32}')


def filled(*, settings: dict[str, Any] | None = None, **values: Any) -> User:
    """Ada, verified and with premium. `settings` and `values`: of her main profile."""
    ada = UserFactory(
        username="Ada", display_name="Ada L.", is_verified=True, plan=Plan.PREMIUM, created_at=_at(2024, 3, 5)
    )
    picture = {name: make.AssetFactory(owner=ada, path=f"files/{name}.png") for name in ("avatar", "banner")}
    texts = {"display_name": "Ada Lovelace", "description": "Poet of\nnumbers", "location": "London"}
    profile = change(ada, settings=settings or {}, **{**picture, **texts, **values})
    _fill_lists(profile)
    _fill_sections(profile)
    for number in range(2):
        make.CommentFactory(user=ada, author=UserFactory(username=f"Guest{number}"), content=f"Hello {number}")
    make.FeedbackVoteFactory(user=ada)
    make.shown(ada)
    return ada


def change(user: User, **values: Any) -> Profile:
    """Set fields of the user's main profile, and render it."""
    profile = make.main_profile(user)
    for name, value in values.items():
        setattr(profile, name, value)
    profile.save()
    make.shown(user)
    return profile


def _fill_lists(profile: Profile) -> None:
    views = make.BadgeFactory(id="views", name="Views")
    for tier, title in ((1, "Seen"), (2, "Known"), (3, "Famous")):
        make.BadgeTierFactory(badge=views, tier=tier, title=title, description=f"{tier} reached.")
    make.ProfileBadgeFactory(profile=profile, badge=views, unlocked_tiers=[1, 2], order=0)
    make.ProfileBadgeFactory(profile=profile, badge__name="Hidden badge", is_enabled=False)
    make.CustomBadgeFactory(profile=profile, name="Engine", order=1)
    make.LinkFactory(profile=profile, id="a" * 32, title="Notebook", url="https://notes.example/ada", icon_svg=make.SVG)
    make.LinkFactory(profile=profile, id="b" * 32, title="Letters", url="mailto:ada@letters.example")
    make.LinkFactory(profile=profile, id="c" * 32, title="Number", url="AE-1843", is_text=True)
    make.LinkFactory(profile=profile, id="d" * 32, title="Asleep", url="https://asleep.example/", is_active=False)
    make.AudioFactory(profile=profile, title="Waltz", artist="The Looms", external_url="https://music.example/waltz")
    make.BackgroundFactory(profile=profile, asset=make.AssetFactory(owner=profile.user, path="files/background.png"))


def _fill_sections(profile: Profile) -> None:
    widget = make.WidgetFactory(profile=profile, platform="scrobbler", identifier="ada-listens")
    project = make.ProjectFactory(profile=profile, title="Bernoulli", description="A program", tags=["engine"])
    about = sections.default("ABOUT_ME") | {"content": "First line.\nSecond line.", "widgetIds": [widget.pk]}
    about["skills"] = {
        **about["skills"],
        "core": ["French"],
        "custom": [{"label": "Chess", "iconName": "", "iconSvg": make.SVG}],
    }
    track = make.MusicItemFactory(title="Nocturne", artist="Somebody", album="Evenings")
    game = make.GameFactory(name="Clockwork", released=dt.date(2011, 5, 1), rating=4.5, metacritic=91)
    made: list[tuple[str, str, dict[str, Any]]] = [
        ("ABOUT_ME", "", about),
        ("PROJECTS", "Works", {"projectIds": [project.pk]}),
        ("CUSTOM_TEXT", "A word", {"content": "More than mortal."}),
        ("GALLERY", "Pictures", {}),
        ("AUDIO_PLAYER", "", {}),
        ("GAMES", "", {"gameIds": [game.pk]}),
        ("ANIME", "", {"animeIds": [make.AnimeFactory(title="Steam", format="TV", year=2004, score=8).pk]}),
        ("MEDIA", "", {"mediaIds": [make.MediaTitleFactory(title="Engines", year=1999, rating=7.25).pk]}),
        ("MUSIC", "On repeat", {"music": [{"kind": track.kind, "musicId": track.music_id}]}),
    ]
    for order, (kind, title, config) in enumerate(made):
        make.SectionFactory(profile=profile, order=order, type=kind, title=title, config=config)
    wide = make.AssetFactory(owner=profile.user, path="files/wide.png")
    gallery = profile.sections.get(type="GALLERY")
    make.GalleryItemFactory(profile=profile, section=gallery, width="full", asset=wide)


def _at(year: int, month: int, day: int) -> dt.datetime:
    return dt.datetime(year, month, day, tzinfo=dt.UTC)


def html_of(client: Client, path: str) -> str:
    """The page without what is new in each answer."""
    response = client.get(path)
    assert response.status_code == 200
    return _ONE_TIME.sub("", response.content.decode())


def page(path: str = "/Ada") -> Any:
    """The parsed page; lxml's types do not know HTML."""
    response = Client().get(path)
    assert response.status_code == 200, response.status_code
    return page_of(response)


def text(element: Any) -> str:
    """What a reader sees of an element, with single spaces."""
    return " ".join(element.text_content().split())


def texts(path: str, found: str) -> list[str]:
    """The text of each element that the XPath finds."""
    return [text(element) for element in page(path).xpath(found)]
