"""The documents of a profile: what its rows say, in every form of the answers."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Collection, Iterable
from typing import Any

from rest_framework.serializers import Serializer

from infrastructure import timestamps
from infrastructure.requests.api_json import json_text
from infrastructure.timestamps import EPOCH, MICROSECOND
from lookup.documents import registry
from lookup.models import Asset
from lookup.serializers import current, earlier, leaderboard
from lookup.serializers.rows import EarlierFacts, ShownBadge, UserRow, WholeProfile
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
_PROFILE, _USER = current.ProfileSerializer(), current.UserSerializer()


def columns(one: WholeProfile) -> dict[str, Any]:
    """Return the columns of a profile's document, except its fingerprint."""
    facts = earlier_facts(one)
    standard, custom = _of_type(one, "STANDARD"), _of_type(one, "CUSTOM")
    board_text = _until_views(
        **_leaderboard(one),
        profile=_form(leaderboard.BoardProfileSerializer).to_representation(facts),
        badges=_each(earlier.EarlierBadgeSerializer, standard),
        customBadges=_each(leaderboard.BoardCustomBadgeSerializer, custom),
        links=_each(leaderboard.BoardLinkSerializer, one.lists["links"]),
        audios=_each(leaderboard.BoardAudioSerializer, one.lists["audios"]),
    )
    return {
        **_of_user(one),
        "profile_text": json_text(_PROFILE.of(one)),
        **{
            content.name: json_text(_each(content.form, _active(one.lists[content.name])))
            for content in registry.LISTS.values()
            if content.form is not None
        },
        "sections": json_text([registry.rendered_section(section) for section in one.lists["sections"]]),
        "earlier": _until_views(
            **_earlier(one, _each(current.AliasSerializer, one.aliases[:1])),
            profile=_form(earlier.EarlierProfileSerializer).to_representation(facts),
            badges=_each(earlier.EarlierBadgeSerializer, standard),
            customBadges=_each(earlier.EarlierCustomBadgeSerializer, custom),
            links=_each(earlier.EarlierLinkSerializer, one.lists["links"]),
            audios=_each(earlier.EarlierAudioSerializer, one.lists["audios"]),
            backgrounds=_each(earlier.EarlierBackgroundSerializer, one.lists["backgrounds"]),
        ),
        "leaderboard": board_text,
        "leaderboard_digest": _digest(board_text),
    }


def user_columns(one: WholeProfile) -> dict[str, Any]:
    """Return the columns of the user's document that come from their main profile and their aliases."""
    return {
        "aliases": json_text(_each(current.AliasSerializer, one.aliases)),
        "badge_count": sum(badge.is_enabled for badge in one.lists["badges"]),
    }


@functools.cache
def _form(serializer: type[Serializer[Any]]) -> Serializer[Any]:
    """Return the one instance of a form: making it takes longer than rendering, which changes nothing in it."""
    return serializer()


def _each(serializer: type[Serializer[Any]], rows: Iterable[Any]) -> list[Any]:
    form = _form(serializer)
    return [form.to_representation(row) for row in rows]


def _active(rows: Collection[Any]) -> list[Any]:
    """Return the rows that are shown: rows without `is_active` always are."""
    return [row for row in rows if getattr(row, "is_active", True)]


def _of_type(one: WholeProfile, type_: str) -> list[ShownBadge]:
    return [badge for badge in one.lists["badges"] if badge.type == type_]


def _of_user(one: WholeProfile) -> dict[str, Any]:
    """Return the columns about the user, and the columns that decide whether these are up to date."""
    user, shown = one.profile.user, _user_row(one, is_lapsed=False)
    ends = user.plan_expires_at
    return {
        "is_main": one.profile.is_main,
        "user_version": user.public_version,
        "plan_ends": ends and timestamps.microseconds(ends),
        "head": _USER.to_json(shown),
        "lapsed_head": _USER.to_json(_user_row(one, is_lapsed=True)) if ends else "",
        "avatar_path": shown.avatar_path,
        "mirrors_chat": shown.mirrors_chat,
    }


def _until_views(**values: Any) -> str:
    """Return a JSON object up to its last member, the number of views, which each request adds."""
    return f'{json_text(values)[:-1]},"viewCount":'


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _user_row(one: WholeProfile, *, is_lapsed: bool) -> UserRow:
    """Return the user as a lookup reads it, without counters: before the plan ends, or from then on."""
    profile, user = one.profile, one.profile.user
    ends = user.plan_expires_at or EPOCH
    return UserRow(
        id=user.pk,
        uid=user.uid,
        username=user.username,
        display_name=user.display_name,
        plan=user.plan,
        plan_expires_at=user.plan_expires_at,
        is_active=user.is_active,
        public_api_access=user.public_api_access,
        is_verified=user.is_verified,
        is_inactive=user.is_inactive,
        created_at=user.created_at,
        chat_id=one.chat_id,
        scrobbler_name=one.scrobbler_name,
        profile_id=profile.pk,
        fingerprint="",
        avatar_path=profile.avatar.path if profile.avatar else "",
        mirrors_chat=one.settings["avatarSettings"]["mirrorChat"],
        views=0,
        likes=0,
        dislikes=0,
        comments=0,
        now=ends if is_lapsed else ends - MICROSECOND,
        texts=(),
    )


def _earlier(one: WholeProfile, aliases: list[Json]) -> Json:
    """Return the first fields of the earlier form. A banned user is not found."""
    user = one.profile.user
    return {
        "id": user.pk,
        "uid": user.uid,
        "username": user.username,
        "alias": aliases[0] if aliases else {},
        "displayUsername": user.display_name or user.username,
        "banned": False,
        "createdAt": int(user.created_at.timestamp()),
        "chatId": one.chat_id or "",
    }


def _leaderboard(one: WholeProfile) -> Json:
    """Return the first fields of the user of a leaderboard entry."""
    user = one.profile.user
    return {
        "id": user.uid,
        "username": user.username,
        "displayName": user.display_name or user.username,
        "chatId": one.chat_id or "",
        "isVerified": user.is_verified,
        "isBanned": False,
        "createdAt": int(user.created_at.timestamp()),
    }


def earlier_facts(one: WholeProfile) -> EarlierFacts:
    profile, about = one.profile, _about(one)
    alias = one.aliases[0] if one.aliases else None
    background = next((row.asset for row in one.lists["backgrounds"] if row.is_active), None)
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
    """Return the first ABOUT_ME section, or empty texts."""
    first = next((section for section in one.lists["sections"] if section["type"] == SectionType.ABOUT_ME), None)
    return first or _NO_ABOUT


def _elsewhere(one: WholeProfile) -> dict[str, str]:
    """Return the identifier of the first widget or visible link of each group of platforms, or ""."""
    named = [(widget.platform.lower(), widget.identifier) for widget in one.lists["widgets"]]
    shown = _active(one.lists["links"])
    named += [((link.platform_id or link.platform_type).lower(), link.url) for link in shown]
    return {
        name: next((value for platform, value in named if platform in platforms), "")
        for name, platforms in _IN_LOWER_CASE.items()
    }


def _url(asset: Asset | None) -> str:
    return addresses.upload(asset.path) if asset else ""
