"""The records that the forms are rendered from: a comment as statements read it, and a whole profile."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from accounts.plans import PREMIUM_PLANS, Plan
from lookup.models import Alias, Asset, CustomBadge, Profile, ProfileBadge
from lookup.shapes import addresses, sections
from lookup.shapes.sections import SectionType

Json = dict[str, Any]  # Any: a JSON value

# The leaderboard profile's fields for accounts elsewhere, and the platforms of links and widgets that fill them.
PLATFORMS = {
    "chat_server": ("chatServer", "chat-server", "chatserver"),
    "social_preference": ("socialPreference", "social", "mastodon", "bluesky", "instagram"),
    "game_username": ("gameUsername", "game", "steam", "xbox", "playstation"),
    "messaging_channel": ("messagingChannel", "messaging", "telegram"),
    "stats_username": ("statsUsername", "stats", "tracker"),
}
_IN_LOWER_CASE = {name: {platform.lower() for platform in platforms} for name, platforms in PLATFORMS.items()}
_NO_ABOUT: Json = {"title": "", "description": "", **sections.default(SectionType.ABOUT_ME)}


class CommentRow(NamedTuple):
    """A comment with its author."""

    id: str
    content: str
    like_count: int
    reply_count: int
    is_pinned: bool
    created_at: datetime
    author_id: str
    uid: int
    username: str
    display_name: str
    avatar_path: str
    mirrors_chat: bool

    @property
    def avatar_url(self) -> str:
        return addresses.avatar(self.author_id, path=self.avatar_path, mirrors_chat=self.mirrors_chat) or ""


@dataclass(frozen=True)
class ShownTier:
    tier: int
    threshold: float
    title: str
    description: str
    color: str
    image_url: str
    is_unlocked: bool
    is_selected: bool


@dataclass(frozen=True)
class ShownBadge:
    """A catalogue badge or a custom one, in one shape. `row` is where it came from."""

    row: ProfileBadge | CustomBadge
    type: str
    badge_id: str | None = None
    selected_tier: int | None = None
    unlocked_tiers: tuple[int, ...] = ()
    name: str = ""
    image: Asset | None = None
    image_url: str | None = None
    icon_svg: str = ""
    tiers: tuple[ShownTier, ...] = ()


@dataclass
class WholeProfile:
    """A profile with all of its rows; with hidden rows, except hidden sections.

    `lists`: the rows of each list of the registry in shown order, by its name. Any: rows as the form of the list shows
    them. `stored_picture`: the URL of the picture that its stored document has.
    """

    profile: Profile
    settings: dict[str, Json]
    aliases: list[Alias]
    chat_id: str | None = None
    scrobbler_name: str | None = None
    lists: defaultdict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    stored_picture: str | None = None

    is_banned = False  # who is banned is not shown
    views = 0  # each request adds the number

    @property
    def display_name(self) -> str:
        return self.profile.user.display_name or self.profile.user.username

    @property
    def created_at(self) -> int:
        """Return whole UNIX seconds."""
        return int(self.profile.user.created_at.timestamp())

    @property
    def standard_badges(self) -> list[ShownBadge]:
        return [badge for badge in self.lists["badges"] if badge.type == "STANDARD"]

    @property
    def custom_badges(self) -> list[ShownBadge]:
        return [badge for badge in self.lists["badges"] if badge.type == "CUSTOM"]

    @property
    def avatar_path(self) -> str:
        return self.profile.avatar.path if self.profile.avatar else ""

    @property
    def mirrors_chat(self) -> bool:
        return bool(self.settings["avatarSettings"]["mirrorChat"])

    @property
    def avatar_url(self) -> str | None:
        return addresses.avatar(self.profile.user_id, path=self.avatar_path, mirrors_chat=self.mirrors_chat)

    @property
    def is_premium(self) -> bool:
        """Whether the plan has the features of premium until it ends."""
        return self.profile.user.plan in PREMIUM_PLANS

    @property
    def is_imagehost(self) -> bool:
        return self.profile.user.plan == Plan.IMAGEHOST

    @property
    def background(self) -> Asset | None:
        """Return the first background that is shown."""
        return next((row.asset for row in self.lists["backgrounds"] if row.is_active), None)

    @property
    def sound_effect(self) -> Asset | str:
        return self.profile.sound_effect_asset or self.profile.sound_effect

    @property
    def alias_name(self) -> str:
        """Return the oldest alias; "" for none."""
        return self.aliases[0].name.name if self.aliases else ""

    @property
    def alias_redirects(self) -> bool:
        return bool(self.aliases) and self.aliases[0].redirects

    @cached_property
    def about(self) -> Json:
        """Return the first ABOUT_ME section, or empty texts."""
        found = (section for section in self.lists["sections"] if section["type"] == SectionType.ABOUT_ME)
        return next(found, _NO_ABOUT)

    @cached_property
    def elsewhere(self) -> dict[str, str]:
        """Return the identifier of the first widget or visible link of each group of PLATFORMS, or ""."""
        shown = [link for link in self.lists["links"] if link.is_active]
        named = [(widget.platform.lower(), widget.identifier) for widget in self.lists["widgets"]]
        named += [((link.platform_id or link.platform_type).lower(), link.url) for link in shown]
        return {
            name: next((value for platform, value in named if platform in platforms), "")
            for name, platforms in _IN_LOWER_CASE.items()
        }
