"""Facts of a profile that the earlier form and the leaderboards show beside its settings, gathered from its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookup import addresses, sections
from lookup.models import Asset
from lookup.sections import SectionType

if TYPE_CHECKING:
    from lookup.queries import WholeProfile

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


def of(one: WholeProfile) -> EarlierFacts:
    profile, about = one.profile, _about(one)
    alias = one.aliases[0] if one.aliases else None
    background = next((row.asset for row in one.backgrounds if row.is_active), None)
    avatar = addresses.avatar(
        profile.user_id,
        path=profile.avatar.path if profile.avatar else "",
        mirrors_chat=one.settings["avatarSettings"]["mirrorChat"],
    )
    return EarlierFacts(
        user_id=profile.user.uid,
        settings=one.settings,
        avatar=avatar or "",
        theme=profile.theme,
        banner=_url(profile.banner),
        background=_url(background),
        cursor=_url(profile.cursor),
        description=profile.description,
        location=profile.location,
        scrobbler_name=one.scrobbler_name or "",
        alias=alias.name.name if alias else "",
        alias_redirects=alias.redirects if alias else False,
        favicon=_url(profile.metadata_favicon),
        metadata_banner=_url(profile.metadata_banner),
        sound_effect=_url(profile.sound_effect_asset) or profile.sound_effect,
        font=profile.font,
        custom_font=_url(profile.font_asset),
        about_me=about["content"],
        about_me_title=about["title"],
        about_me_description=about["description"],
        skills=about["skills"],
        elsewhere=_elsewhere(one),
    )


def _about(one: WholeProfile) -> Json:
    """The first ABOUT_ME section, or empty texts."""
    first = next((section for section in one.sections if section["type"] == SectionType.ABOUT_ME), None)
    return first or _NO_ABOUT


def _elsewhere(one: WholeProfile) -> dict[str, str]:
    """The identifier of the first widget or visible link of each group of platforms, or ""."""
    named = [(widget.platform.lower(), widget.identifier) for widget in one.widgets]
    named += [((link.platform_id or link.platform_type).lower(), link.url) for link in one.links if link.is_active]
    return {
        name: next((value for platform, value in named if platform in platforms), "")
        for name, platforms in _IN_LOWER_CASE.items()
    }


def _url(asset: Asset | None) -> str:
    return addresses.upload(asset.path) if asset else ""
