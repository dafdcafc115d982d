"""The records that the forms are rendered from: users and comments as statements read them, and a whole profile."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from accounts.plans import PREMIUM_PLANS, Plan
from lookup.models import Alias, Asset, CustomBadge, Profile, ProfileBadge
from lookup.shapes import addresses

Json = dict[str, Any]  # Any: a JSON value


class UserRow(NamedTuple):
    """A user and the document of one of its profiles. `texts`: the requested columns, in that order."""

    id: str
    uid: int
    username: str
    display_name: str
    plan: str
    plan_expires_at: datetime | None
    is_active: bool
    public_api_access: bool
    is_verified: bool
    is_inactive: bool
    created_at: datetime
    chat_id: str | None
    scrobbler_name: str | None
    profile_id: str
    fingerprint: str
    avatar_path: str
    mirrors_chat: bool
    views: int
    likes: int
    dislikes: int
    comments: int
    now: datetime
    texts: tuple[str, ...]

    @property
    def current_plan(self) -> str:
        is_over = self.plan_expires_at is not None and self.plan_expires_at <= self.now
        return Plan.FREE if is_over else self.plan

    @property
    def is_premium(self) -> bool:
        return self.current_plan in PREMIUM_PLANS

    @property
    def is_imagehost(self) -> bool:
        return self.current_plan == Plan.IMAGEHOST

    @property
    def avatar_url(self) -> str | None:
        return addresses.avatar(self.id, path=self.avatar_path, mirrors_chat=self.mirrors_chat)


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

    @property
    def id(self) -> str:
        return self.row.id

    @property
    def is_enabled(self) -> bool:
        return self.row.is_enabled

    @property
    def color(self) -> str:
        return self.row.color

    @property
    def recolor(self) -> bool:
        return self.row.recolor

    @property
    def order(self) -> int:
        return self.row.order


@dataclass
class WholeProfile:
    """A profile with all of its rows; with hidden rows, except hidden sections.

    `lists`: the rows of each list of the registry in shown order, by its name. Any: rows as the form of the list shows
    them.
    """

    profile: Profile
    settings: dict[str, Json]
    aliases: list[Alias]
    chat_id: str | None = None
    scrobbler_name: str | None = None
    lists: defaultdict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))


@dataclass(frozen=True)
class EarlierFacts:
    """URLs and texts; "" for missing ones."""

    user_id: int
    settings: dict[str, Json]
    avatar: str
    theme: str
    banner: str
    background: str
    cursor: str
    description: str
    location: str
    scrobbler_name: str
    alias: str
    alias_redirects: bool
    favicon: str
    metadata_banner: str
    sound_effect: str
    font: str
    custom_font: str
    about_me: str
    about_me_title: str
    about_me_description: str
    skills: Json
    elsewhere: dict[str, str]
