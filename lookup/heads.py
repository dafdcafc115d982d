"""The user of a profile as lookups and leaderboards show them, for its document."""

from __future__ import annotations

import hashlib
from typing import Any

from accounts.epoch import EPOCH, MICROSECOND
from lookup.queries import WholeProfile
from lookup.sql import UserRow

Json = dict[str, Any]  # Any: a JSON value


def digest(text: str) -> str:
    """The same for the same text alone."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def user_row(one: WholeProfile, *, is_lapsed: bool) -> UserRow:
    """The user as a lookup reads it, without counters: before the plan ends, or from then on."""
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


def earlier(one: WholeProfile, aliases: list[Json]) -> Json:
    """The first fields of the earlier form. A banned user is not found."""
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


def leaderboard(one: WholeProfile) -> Json:
    """The first fields of the user of a leaderboard entry."""
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
