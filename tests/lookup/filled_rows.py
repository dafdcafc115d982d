"""The rows of Ada's two profiles. Each list is made in another order than the one it is shown in."""

from __future__ import annotations

from datetime import date, timedelta

from accounts.models import User
from lookup.models import Badge, Profile
from tests.factories import lookup as make
from tests.lookup.expected import SETTINGS
from tests.lookup.filled import MOMENT, OTHER_PROFILE, file, picture, row


def fill_profile(profile: Profile) -> None:
    ada = profile.user
    texts = {
        "name": "Main",
        "display_name": "Countess Ada",
        "description": 'First programmer.\n"Notes" <G>',
        "location": "London",
        "theme": "paper",
        "font": "Inter",
        "font_username": "Lora",
        "sound_effect": "chime",
        "sound_effect_button": "click",
    }
    files = {
        "avatar": picture(ada, "avatars/ada.png", 256, 256),
        "banner": picture(ada, "banners/ada.png"),
        "cursor": picture(ada, "cursors/arrow.png", 32, 32),
        "cursor_pointer": picture(ada, "cursors/hand.png", 32, 32),
        "font_asset": file(ada, "fonts/own.woff2", "font/woff2"),
        "font_username_asset": file(ada, "fonts/name.woff2", "font/woff2"),
        "sound_effect_asset": file(ada, "sounds/enter.mp3", "audio/mpeg", 0.75),
        "sound_effect_button_asset": file(ada, "sounds/button.mp3", "audio/mpeg", 2.0),
        "metadata_favicon": picture(ada, "icons/favicon.png", 64, 64),
        "metadata_banner": picture(ada, "banners/card.png", 1200, 630),
    }
    for name, value in {**texts, **files, "settings": SETTINGS}.items():
        setattr(profile, name, value)
    profile.created_at, profile.updated_at = MOMENT, MOMENT + timedelta(days=366)
    profile.save()
    _badges(profile)
    _widgets(profile)
    _media(profile)
    _links_and_projects(profile)
    _fill_sections(profile)


def _badges(profile: Profile) -> None:
    viewer = make.BadgeFactory(id="viewer", catalog="standard", name="Viewer", image="viewer.svg")
    make.BadgeTierFactory(
        badge=viewer, tier=2, threshold=2500.5, title="Many", description="", color="", image="viewer-2.svg"
    )
    make.BadgeTierFactory(
        badge=viewer, tier=1, threshold=100, title="Hundred", description="Seen", color="#1b5e4b", image="viewer-1.svg"
    )
    held = {"profile": profile, "obtained_at": MOMENT}
    meetup = make.BadgeFactory(id="meetup", catalog="events", name="Meetup", image="m.png")
    make.ProfileBadgeFactory(**held, id=row(0xB2), badge=meetup, is_enabled=False, order=3)
    make.ProfileBadgeFactory(
        **held,
        id=row(0xB1),
        badge=viewer,
        selected_tier=1,
        unlocked_tiers=[1],
        color="#222222",
        recolor=True,
        order=0,
    )
    made = {"profile": profile, "created_at": MOMENT}
    make.CustomBadgeFactory(
        **made, id=row(0xB4), name="", icon_svg=make.SVG, color="#444444", is_enabled=False, order=2
    )
    make.CustomBadgeFactory(
        **made,
        id=row(0xB3),
        name="Mine",
        icon_svg="",
        image=picture(profile.user, "badges/mine.png", 128, 128),
        recolor=True,
        order=1,
    )


def _widgets(profile: Profile) -> None:
    for number, platform in reversed(
        list(
            enumerate(
                ["scrobbler", "chatServer", "socialPreference", "gameUsername", "messagingChannel", "statsUsername"]
            )
        )
    ):
        make.WidgetFactory(
            id=row(0xA0 + number),
            profile=profile,
            platform=platform,
            type="card",
            identifier=f"ada on {platform}",
            order=number,
        )


def _media(profile: Profile) -> None:
    ada = profile.user
    audio = {"profile": profile}
    make.AudioFactory(
        **audio,
        id=row(0xC3),
        title="Hidden",
        order=2,
        is_active=False,
        audio=file(ada, "audio/3.mp3", "audio/mpeg", 3.5),
        artist="",
    )
    make.AudioFactory(
        **audio, id=row(0xC2), title="Untold", artist="", order=1, audio=file(ada, "audio/2.ogg", "audio/ogg")
    )
    make.AudioFactory(
        **audio,
        id=row(0xC1),
        title="Engine song",
        artist="Charles",
        external_url="https://songs.example.org/1",
        order=0,
        audio=file(ada, "audio/1.mp3", "audio/mpeg", 180.0),
        cover=picture(ada, "covers/1.png", 300, 300),
    )
    make.BackgroundFactory(profile=profile, id=row(0xE3), title="", order=2, asset=picture(ada, "backgrounds/3.png"))
    make.BackgroundFactory(
        profile=profile,
        id=row(0xE2),
        title="A film",
        order=1,
        asset=file(ada, "backgrounds/2.mp4", "video/mp4", 12.5),
    )
    make.BackgroundFactory(
        profile=profile, id=row(0xE1), title="Hidden", order=0, is_active=False, asset=picture(ada, "backgrounds/1.png")
    )


def _links_and_projects(profile: Profile) -> None:
    mine = {"profile": profile}
    make.LinkFactory(**mine, id=row(0xD4), title="Hidden", url="https://hidden.example.org/", order=3, is_active=False)
    make.LinkFactory(**mine, id=row(0xD3), title="", url="ada#1815", is_text=True, order=2)
    make.LinkFactory(
        **mine,
        id=row(0xD2),
        title="Notes",
        url="https://notes.example.org/?a=1&b=2",
        icon_svg=make.SVG,
        order=1,
        clicks=3,
    )
    make.LinkFactory(
        **mine,
        id=row(0xD1),
        title="Code",
        url="https://code.example.org/ada",
        platform_id="codehost",
        platform_type="code",
        recolor=True,
        color="#333333",
        icon=picture(profile.user, "icons/code.png", 48, 48),
        order=0,
        clicks=2**40,
    )
    make.ProjectFactory(**mine, id=row(0xF2), title="Plan", url="", order=1)
    make.ProjectFactory(
        **mine,
        id=row(0xF1),
        title="Engine",
        description="It computes.",
        url="https://engine.example.org/",
        tags=["brass", "steam"],
        icon=picture(profile.user, "icons/engine.png", 48, 48),
        order=0,
    )


def other_profile(ada: User) -> Profile:
    """The profile of an alias, with one of everything."""
    profile = make.ProfileFactory(
        id=OTHER_PROFILE,
        user=ada,
        name="Lovelace",
        avatar=picture(ada, "avatars/lovelace.png"),
        created_at=MOMENT,
        updated_at=MOMENT,
    )
    mine = {"profile": profile, "order": 0}
    make.ProfileBadgeFactory(**mine, id=row(0x81), badge=Badge.objects.get(pk="meetup"), obtained_at=MOMENT)
    make.WidgetFactory(**mine, id=row(0x82), identifier="lovelace")
    make.AudioFactory(
        **mine, id=row(0x83), title="Other song", artist="", audio=file(ada, "audio/o.mp3", "audio/mpeg", 1.5)
    )
    make.BackgroundFactory(**mine, id=row(0x84), title="Other", asset=picture(ada, "backgrounds/o.png"))
    make.LinkFactory(**mine, id=row(0x85), title="Other", url="https://other.example.org/")
    make.ProjectFactory(**mine, id=row(0x86), title="Other", url="")
    section = make.SectionFactory(**mine, id=row(0x87), type="GALLERY", title="", config={})
    make.GalleryItemFactory(**mine, id=row(0x88), section=section, asset=picture(ada, "gallery/o.png"), caption="")
    return profile


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


def _fill_sections(profile: Profile) -> None:
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
