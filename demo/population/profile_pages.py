"""The content of members' profiles: pictures, links, projects, music; and the rows of any tables, inserted together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Model

from accounts.models import LinkedAccount, Name, User
from demo import invented
from demo.invented import SeededRandom
from demo.population import people
from demo.population.people import LATEST, Member, words
from infrastructure.databases import bulk
from lookup import models
from lookup.models import Asset, Audio, Background, Link, Profile, Project, Widget
from lookup.shapes import settings_schema, themes

Row = TypeVar("Row", bound=Model)

# Referenced rows come first; only linked accounts come before their users, as each one that is added to a user
# raises the version that documents are rendered from.
ORDER: tuple[type[Model], ...] = (
    *(LinkedAccount, User, Name, models.Asset, models.Profile, models.Alias, models.ProfileBadge, models.CustomBadge),
    *(models.Widget, models.Audio, models.Background, models.Link, models.Project, models.Section, models.GalleryItem),
    *(models.FeedbackVote, models.Comment, models.CommentLike, models.ProfileDocument, models.UserDocument),
)


class Rows:
    def __init__(self) -> None:
        self._of: dict[type[Model], list[Model]] = defaultdict(list)

    def add(self, *rows: Model) -> None:
        for row in rows:
            self._of[type(row)].append(row)

    def extend(self, rows: Iterable[Model]) -> None:
        self.add(*rows)

    def of(self, model: type[Row]) -> list[Row]:
        return [row for row in self._of[model] if isinstance(row, model)]

    def insert(self) -> None:
        """Insert the rows as they are: no `save()`, no hooks."""
        if unknown := set(self._of) - set(ORDER):
            raise ValueError(f"No place in the order: {', '.join(model.__name__ for model in unknown)}")
        for model in ORDER:
            bulk.insert(self._of[model])


Size = tuple[int | None, int | None]
Settings = dict[str, dict[str, Any]]  # Any: a JSON value
LOOK = ("colorsSettings", "cardSettings", "textSettings", "usernameSettings", "backgroundSettings")

# PICTURES, SOUNDS, FILMS: the files under demo/static/uploads/demo/. Of each kind of picture how many there are, with
# width and height; of sounds the seconds; of films both. A palette: accent, text, background, primary, secondary.
looks = invented.load("looks")


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
        if name in looks.FILMS:
            return self.file(f"demo/{name}.mp4", "video/mp4", *looks.FILMS[name])
        kind = name.partition("-")[0]
        extension, mime = ("png", "image/png") if kind == "card" else ("svg", "image/svg+xml")  # messengers show no SVG
        return self.file(f"demo/{name}.{extension}", mime, looks.PICTURES[kind][1])

    def any_picture(self, kind: str) -> Asset:
        return self.picture(f"{kind}-{self.rng.randint(1, looks.PICTURES[kind][0])}")

    def sound(self, name: str) -> Asset:
        return self.file(f"demo/{name}.wav", "audio/wav", duration=looks.SOUNDS[name])

    def icon(self) -> str:
        return str(looks.SKETCH).format(self.rng.choice(looks.ICONS))


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
        theme=themes.STARTER.name,
    )


def write_texts(page: Page) -> None:
    """Write what even a short visit to the settings leaves."""
    rng, profile = page.rng, page.profile
    profile.description = people.description(rng) if rng.chance(0.85) else ""
    profile.location = rng.choice(words.PLACES) if rng.chance(0.55) else ""
    profile.display_name = page.profile.user.display_name if rng.chance(0.4) else ""
    if rng.chance(0.85):
        profile.avatar = page.any_picture("avatar")


def decorate(page: Page, *, share: float) -> None:
    """Pick a theme and pictures, and change `share` of the settings; in half of the profiles the look too."""
    rng, profile = page.rng, page.profile
    own = _settings(rng, share=share, mirrors_chat=rng.chance(0.06))
    has_own_look = rng.chance(0.5)
    if not has_own_look:
        own = {key: values for key, values in own.items() if key not in LOOK}
    dress(profile, rng.choice(tuple(themes.THEMES)), own)
    if has_own_look and rng.chance(share):
        profile.font = rng.choice(looks.FONTS)
    if has_own_look and rng.chance(share):
        profile.font_username = rng.choice(looks.FONTS)
    if rng.chance(0.8):
        profile.banner = page.any_picture("banner")
        profile.metadata_banner = page.any_picture("card")  # messengers do not show the banner, a drawing
    if rng.chance(share):
        profile.sound_effect, profile.sound_effect_button = (
            rng.choice(looks.SOUND_EFFECTS),
            rng.choice(looks.SOUND_EFFECTS),
        )
    if rng.chance(share / 2):
        profile.cursor = page.picture("cursor")
    if rng.chance(share / 2):
        profile.metadata_favicon = page.picture("favicon")
    if rng.chance(share / 3):
        profile.sound_effect_asset = page.sound("click")


def dress(profile: Profile, theme: str, own: Settings) -> None:
    """Give the profile a theme, with its own settings on top."""
    for column, value in themes.plain(theme).items():
        setattr(profile, column, value)
    for key, values in own.items():
        profile.settings[key] |= values
    profile.settings = settings_schema.validated(profile.settings)


def add_links(page: Page, least: int, most: int) -> None:
    rng = page.rng
    for order, (title, platform) in enumerate(rng.some(people.texts.LINK_TITLES, least, most)):
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
            color=rng.choice(looks.PALETTES)[0] if rng.chance(0.3) else "",
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
        for order, (title, description, tags) in enumerate(rng.some(people.texts.PROJECTS, least, most))
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
        for order, (platform, type_) in enumerate(page.rng.some(looks.PLATFORMS, 1, most))
    ]
    page.rows.extend(widgets)
    return widgets


def add_audios(page: Page, most: int, *, is_shown: bool = False) -> None:
    """Add audio files. A few are hidden; with `is_shown`, none."""
    rng = page.rng
    for order, title in enumerate(rng.some(people.texts.SONGS, 1, most)):
        page.rows.add(
            bulk.build(
                Audio,
                id=rng.new_id(),
                profile=page.profile,
                title=title,
                artist=rng.choice(people.texts.ARTISTS) if rng.chance(0.9) else "",
                external_url=f"https://music.example/{rng.randint(1000, 99_999)}" if rng.chance(0.5) else "",
                audio=page.sound(rng.choice(looks.TONES)),
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
                title=rng.choice(people.texts.CAPTIONS),
                asset=page.any_picture("background"),
                order=order,
                is_active=order == 0 or rng.chance(0.7),
            )
        )


def _settings(rng: SeededRandom, *, share: float, mirrors_chat: bool = False) -> Settings:
    """Return what differs from the defaults; `share` of the groups is changed."""
    chosen = {key: values for key, values in _all_settings(rng).items() if rng.chance(share)}
    if mirrors_chat:
        chosen["avatarSettings"] = {"mirrorChat": True}
    return settings_schema.validated(chosen)


def _all_settings(rng: SeededRandom) -> Settings:
    accent, text, background, primary, secondary = rng.choice(looks.PALETTES)
    coin, percent = rng.getrandbits, rng.randrange
    lines = [people.description(rng) for _ in range(2)]
    return {
        "badgesSettings": {"monochrome": not coin(2), "glow": bool(coin(1)), "glowStrength": percent(0, 100, 5)},
        "linksSettings": {"glow": bool(coin(1)), "glowStrength": percent(0, 100, 5), "monochrome": not coin(2)},
        "colorsSettings": {
            "accentColor": accent,
            "textColor": text,
            "backgroundColor": background,
            "iconColor": accent,
            "primaryColor": primary,
            "secondaryColor": secondary,
            "gradient": bool(coin(1)),
            "gradientAngle": percent(0, 360, 15),
        },
        "cardSettings": {
            "blur": percent(0, 40, 4),
            "opacity": percent(40, 100, 5),
            "border": bool(coin(1)),
            "borderColor": accent,
            "borderRadius": percent(0, 32, 4),
        },
        "textSettings": {"glowStrength": percent(0, 60, 5)},
        "usernameSettings": {"effect": rng.choice(("", "glow", "typewriter", "rainbow", "gradient"))},
        "backgroundSettings": {"effect": rng.choice(looks.EFFECTS), "effectSettings": {"speed": percent(1, 10)}},
        "cursorSettings": {"effectEnabled": True, "effect": rng.choice(looks.CURSOR_EFFECTS), "effectColor": accent},
        "audioSettings": {"shuffle": bool(coin(1)), "volumeControl": bool(coin(2))},
        "enterSettings": {"text": "Come in", "animation": rng.choice(("", "reveal", "split", "flash"))},
        "typewriterSettings": {"enabled": True, "descriptions": lines, "speed": percent(60, 180, 10)},
        "titleSettings": {"animated": True, "type": "scroll"},
        "presenceSettings": {"enabled": bool(coin(3)), "badges": bool(coin(1))},
        "aboutMeSettings": {"customization": True, "accentColor": accent, "opacity": percent(40, 100, 5)},
        "skillsSettings": {"enabled": bool(coin(2))},
        "projectsSettings": {"mode": rng.choice(("grid", "list")), "title": "Things I make"},
        "viewsSettings": {"enabled": bool(coin(3))},
        "feedbackSettings": {"enabled": bool(coin(3))},
        "commentsSettings": {"enabled": bool(coin(3))},
    }
