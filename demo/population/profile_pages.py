"""The content of members' profiles: pictures, links, projects, music."""

from __future__ import annotations

from dataclasses import dataclass

from demo.population import sentences, styles
from demo.population.people import LATEST, Member, words
from demo.population.rows import Rows
from demo.seeded_random import SeededRandom
from infrastructure.databases import bulk
from lookup.models import Asset, Audio, Background, Link, Profile, Project, Widget

Size = tuple[int | None, int | None]

# Files under demo/static/uploads/demo/: how many there are of each kind, with width and height; sounds, with seconds;
# films, with both.
PICTURES: dict[str, tuple[int, Size]] = {
    "avatar": (12, (256, 256)),
    "banner": (6, (1200, 400)),
    "card": (6, (1200, 630)),
    "background": (4, (1600, 900)),
    "cover": (6, (512, 512)),
    "gallery": (8, (800, 600)),
    "project": (6, (128, 128)),
    "link": (4, (64, 64)),
    "cursor": (1, (32, 32)),
    "favicon": (1, (32, 32)),
}
SOUNDS = {"tone-1": 2.0, "tone-2": 2.0, "click": 0.22}
FILMS: dict[str, tuple[Size, float]] = {"film-1": ((480, 270), 4.0)}
TONES = ("tone-1", "tone-2")
ICONS = (
    "M12 2 2 9v13h7v-7h6v7h7V9z",
    "M12 21s-8-5.3-8-11a4.5 4.5 0 0 1 8-2.8A4.5 4.5 0 0 1 20 10c0 5.7-8 11-8 11z",
    "M9 18V5l11-2v13M9 18a3 3 0 1 1-6 0 3 3 0 0 1 6 0zm11-2a3 3 0 1 1-6 0 3 3 0 0 1 6 0z",
    "M12 2l3 7 7 .5-5.5 4.5 2 7L12 17l-6.5 4 2-7L2 9.500 9 9z",
)
SKETCH = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="{}"/></svg>'
PLATFORMS = (
    ("scrobbler", "recent"),
    ("chat", "presence"),
    ("code", "activity"),
    ("weather", "today"),
    ("clock", "local"),
)


@dataclass
class Page:
    """A profile that is being filled. `rng` belongs to its owner; `rows` take what is put on it."""

    profile: Profile
    username: str
    rng: SeededRandom
    rows: Rows

    def file(self, path: str, mime: str, size: Size = (None, None), duration: float | None = None) -> Asset:
        """Add a file under demo/static/uploads/, as an upload of the owner."""
        width, height = size
        asset = bulk.build(
            Asset,
            id=self.rng.new_id(),
            owner_id=self.profile.user_id,
            path=path,
            mime=mime,
            width=width,
            height=height,
            duration=duration,
            created_at=self.profile.created_at,
        )
        self.rows.add(asset)
        return asset

    def picture(self, name: str) -> Asset:
        """Add `avatar-3`, `cursor` or `film-1`."""
        if name in FILMS:
            return self.file(f"demo/{name}.mp4", "video/mp4", *FILMS[name])
        kind = name.partition("-")[0]
        extension, mime = ("png", "image/png") if kind == "card" else ("svg", "image/svg+xml")  # messengers show no SVG
        return self.file(f"demo/{name}.{extension}", mime, PICTURES[kind][1])

    def any_picture(self, kind: str) -> Asset:
        return self.picture(f"{kind}-{self.rng.randint(1, PICTURES[kind][0])}")

    def sound(self, name: str) -> Asset:
        return self.file(f"demo/{name}.wav", "audio/wav", duration=SOUNDS[name])

    def icon(self) -> str:
        return SKETCH.format(self.rng.choice(ICONS))


def new_profile(member: Member, name: str, *, is_main: bool) -> Profile:
    changed_at = member.rng.timestamp(member.joined_at, LATEST)
    return bulk.build(
        Profile,
        id=member.rng.new_id(),
        user=member.user,
        is_main=is_main,
        name=name,
        created_at=member.joined_at,
        updated_at=changed_at,
    )


def write_texts(page: Page) -> None:
    """Write what even a short visit to the settings leaves."""
    rng, profile = page.rng, page.profile
    profile.description = sentences.description(rng) if rng.chance(0.85) else ""
    profile.location = rng.choice(words.PLACES) if rng.chance(0.55) else ""
    profile.display_name = page.profile.user.display_name if rng.chance(0.4) else ""
    if rng.chance(0.85):
        profile.avatar = page.any_picture("avatar")


def decorate(page: Page, *, share: float) -> None:
    """Change colours, fonts, pictures; `share` of what can be changed."""
    rng, profile = page.rng, page.profile
    profile.settings = styles.settings(rng, share=share, mirrors_chat=rng.chance(0.06))
    profile.theme = rng.choice(styles.THEMES)
    if rng.chance(share):
        profile.font = rng.choice(styles.FONTS)
    if rng.chance(share):
        profile.font_username = rng.choice(styles.FONTS)
    if rng.chance(0.8):
        profile.banner = page.any_picture("banner")
        profile.metadata_banner = page.any_picture("card")  # messengers do not show the banner, a drawing
    if rng.chance(share):
        profile.sound_effect, profile.sound_effect_button = rng.choice(styles.SOUNDS), rng.choice(styles.SOUNDS)
    if rng.chance(share / 2):
        profile.cursor = page.picture("cursor")
    if rng.chance(share / 2):
        profile.metadata_favicon = page.picture("favicon")
    if rng.chance(share / 3):
        profile.sound_effect_asset = page.sound("click")


def add_links(page: Page, least: int, most: int) -> None:
    rng = page.rng
    for order, (title, platform) in enumerate(rng.some(sentences.texts.LINK_TITLES, least, most)):
        is_text = rng.chance(0.06)
        link = bulk.build(
            Link,
            id=rng.new_id(),
            profile=page.profile,
            title=title,
            url=f"{page.username}#{rng.randint(1000, 9999)}"
            if is_text
            else f"https://{platform.lower()}.example/{page.username}",
            platform_id=platform if rng.chance(0.8) else "",
            is_text=is_text,
            recolor=rng.chance(0.2),
            color=rng.choice(styles.PALETTES)[0] if rng.chance(0.3) else "",
            order=order,
            is_active=rng.chance(0.93),
            clicks=int(3 / (1 - rng.random())),
            created_at=rng.timestamp(page.profile.created_at, LATEST),
        )
        link.platform_type = "profile" if link.platform_id else ""
        if rng.chance(0.12):
            link.icon = page.any_picture("link")
        elif rng.chance(0.15):
            link.icon_svg = page.icon()
        page.rows.add(link)


def add_projects(page: Page, least: int, most: int) -> list[Project]:
    rng = page.rng
    projects = [
        bulk.build(
            Project,
            id=rng.new_id(),
            profile=page.profile,
            title=title,
            description=description,
            url=f"https://projects.example/{page.username}/{order + 1}" if rng.chance(0.8) else "",
            tags=list(tags),
            icon=page.any_picture("project") if rng.chance(0.6) else None,
            order=order,
        )
        for order, (title, description, tags) in enumerate(rng.some(sentences.texts.PROJECTS, least, most))
    ]
    page.rows.extend(projects)
    return projects


def add_widgets(page: Page, most: int) -> list[Widget]:
    widgets = [
        bulk.build(
            Widget,
            id=page.rng.new_id(),
            profile=page.profile,
            platform=platform,
            type=type_,
            identifier=page.username,
            order=order,
        )
        for order, (platform, type_) in enumerate(page.rng.some(PLATFORMS, 1, most))
    ]
    page.rows.extend(widgets)
    return widgets


def add_audios(page: Page, most: int, *, is_shown: bool = False) -> None:
    """Add audio files. A few are hidden; with `is_shown`, none."""
    rng = page.rng
    for order, title in enumerate(rng.some(sentences.texts.SONGS, 1, most)):
        page.rows.add(
            bulk.build(
                Audio,
                id=rng.new_id(),
                profile=page.profile,
                title=title,
                artist=rng.choice(sentences.texts.ARTISTS) if rng.chance(0.9) else "",
                external_url=f"https://music.example/{rng.randint(1000, 99_999)}" if rng.chance(0.5) else "",
                audio=page.sound(rng.choice(TONES)),
                cover=page.any_picture("cover") if rng.chance(0.8) else None,
                order=order,
                is_active=rng.chance(0.92) or is_shown,
            )
        )


def add_backgrounds(page: Page, most: int) -> None:
    rng = page.rng
    for order in range(rng.randint(1, most)):
        page.rows.add(
            bulk.build(
                Background,
                id=rng.new_id(),
                profile=page.profile,
                title=rng.choice(sentences.texts.CAPTIONS),
                asset=page.any_picture("background"),
                order=order,
                is_active=order == 0 or rng.chance(0.7),
            )
        )
