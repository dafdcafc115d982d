"""The sections of Ada's main profile, its pictures, and the catalogues that they name."""

from __future__ import annotations

from datetime import date

from lookup.models import Profile
from tests.factories import lookup as make
from tests.lookup.filled import picture, row

SKILLS = {
    "frontend": ["html"],
    "backend": ["python"],
    "database": ["sql"],
    "core": ["maths"],
    "game": ["chess"],
    "tools": ["git"],
    "cloud": ["fog"],
    "mobile": ["bike"],
    "design": ["ink"],
    "music": ["harp"],
    "custom": [{"label": "Engines", "iconName": "cog", "iconSvg": make.SVG}],
}


def fill(profile: Profile) -> None:
    _catalogues()
    _sections(profile)
    _gallery(profile)


def _catalogues() -> None:
    make.GameFactory(
        id=11,
        name="Chess",
        image="https://games.example.org/chess.jpg",
        slug="chess",
        released=date(1475, 1, 2),
        rating=4.5,
        metacritic=97,
    )
    make.GameFactory(id=12, name="Draughts")
    make.AnimeFactory(id=21, title="Gears", image="https://anime.example.org/g.jpg", format="TV", year=1999, score=8.25)
    make.AnimeFactory(id=22, title="Steam")
    make.MediaTitleFactory(
        id=31, media_type="tv", title="Notes", image="https://media.example.org/n.jpg", year=2001, rating=7.0
    )
    make.MediaTitleFactory(id=32, media_type="movie", title="Looms")
    picture_url = "https://music.example.org/m.jpg"
    make.MusicItemFactory(kind="track", music_id="t1", title="Loom", image=picture_url, artist="Ada", album="Weaving")
    make.MusicItemFactory(kind="album", music_id="a1", title="Weaving", artist="Ada", album="never shown")
    make.MusicItemFactory(kind="artist", music_id="a1", title="Ada", artist="never shown", album="never shown")


def _sections(profile: Profile) -> None:
    """Nine types, one of them twice; of a disabled and an invalid one nothing may be seen."""
    configs = {
        1: ("GALLERY", {}),
        2: ("ABOUT_ME", {**_ABOUT_ME, "widgetIds": [row(0xA1), row(0xDEAD), row(0xA0)]}),
        3: ("PROJECTS", {"projectIds": [row(0xF2), row(0xDEAD), row(0xF1)]}),
        4: ("CUSTOM_TEXT", {"content": "Some *text*"}),
        5: ("GALLERY", {}),
        6: ("AUDIO_PLAYER", {}),
        7: ("GAMES", {"gameIds": [12, 99, 11]}),
        8: ("ANIME", {"animeIds": [21, 22]}),
        9: ("MEDIA", {"mediaIds": [31, 32]}),
        10: ("MUSIC", {"music": [_music("artist", "a1"), _music("album", "a1"), _music("track", "t1")]}),
        13: ("GALLERY", {"unknown": 1}),
        14: ("CUSTOM_TEXT", {"content": 5}),
    }
    for number, (type_, config) in reversed(configs.items()):
        make.SectionFactory(
            profile=profile,
            id=row(0x90 + number),
            type=type_,
            order=number,
            title=f"Section {number}" if number < 9 else "",
            description="Described" if number == 2 else "",
            alignment={2: "center", 4: "right"}.get(number, "left"),
            config=config,
        )
    make.SectionFactory(profile=profile, id=row(0x90 + 11), type="GALLERY", order=0, is_enabled=False, config={})
    make.SectionFactory(profile=profile, id=row(0x90 + 12), order=12, is_enabled=False, config={"content": "secret"})


_ABOUT_ME = {"content": "I weave **algebra**.", "skills": SKILLS, "skillsEnabled": False, "skillsAlignment": "right"}


def _music(kind: str, music_id: str) -> dict[str, str]:
    return {"kind": kind, "musicId": music_id}


def _gallery(profile: Profile) -> None:
    """Pictures of two sections, of none, and of the disabled and the invalid section."""
    places = {0x6F: (None, 0), 0x61: (5, 1), 0x62: (5, 0), 0x63: (1, 7), 0x64: (11, 0), 0x65: (13, 0)}
    widths = {0x61: "full", 0x62: "quad"}
    for number, (section, order) in places.items():
        make.GalleryItemFactory(
            id=row(number),
            profile=profile,
            section_id=row(0x90 + section) if section else None,
            asset=picture(profile.user, f"gallery/{number}.png"),
            caption="" if number == 0x63 else f"Picture {number}",
            width=widths.get(number, "half"),
            order=order,
        )
