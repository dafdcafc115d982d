"""The documents of a profile: what its rows say, in every form of the answers."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from typing import Any

from rest_framework.serializers import Serializer

from infrastructure import timestamps
from infrastructure.requests.api_json import json_text
from lookup.documents import registry
from lookup.serializers.current import AliasSerializer, ProfileSerializer, UserSerializer
from lookup.serializers.earlier import BoardUserSerializer, EarlierUserSerializer
from lookup.serializers.rows import WholeProfile

_PROFILE, _USER = ProfileSerializer(), UserSerializer()
_EARLIER, _BOARD = EarlierUserSerializer(), BoardUserSerializer()


def columns(one: WholeProfile) -> dict[str, Any]:
    """Return the columns of a profile's document, except its fingerprint."""
    user, head = one.profile.user, _USER.to_representation(one)
    ends = user.plan_expires_at
    board = _until_views(_BOARD.to_representation(one))
    return {
        "is_main": one.profile.is_main,
        "user_version": user.public_version,
        "plan_ends": ends and timestamps.microseconds(ends),
        "head": json_text(head),
        "lapsed_head": json_text({**head, "premium": False, "imagehost": False}) if ends else "",
        "avatar_path": one.avatar_path,
        "mirrors_chat": one.mirrors_chat,
        "profile_text": json_text(_PROFILE.of(one)),
        **{
            # Rows without `is_active` are always shown.
            content.name: _list(
                content.form, (row for row in one.lists[content.name] if getattr(row, "is_active", True))
            )
            for content in registry.LISTS.values()
            if content.form is not None
        },
        "sections": json_text([registry.rendered_section(section) for section in one.lists["sections"]]),
        "earlier": _until_views(_EARLIER.to_representation(one)),
        "leaderboard": board,
        "leaderboard_digest": hashlib.blake2b(board.encode(), digest_size=16).hexdigest(),
    }


def user_columns(one: WholeProfile) -> dict[str, Any]:
    """Return the columns of the user's document that come from their main profile and their aliases."""
    return {
        "aliases": _list(AliasSerializer, one.aliases),
        "badge_count": sum(badge.row.is_enabled for badge in one.lists["badges"]),
    }


@functools.cache
def _form(serializer: type[Serializer[Any]]) -> Serializer[Any]:
    """Return the one instance of a form: making it takes longer than rendering, which changes nothing in it."""
    return serializer()


def _list(serializer: type[Serializer[Any]], rows: Iterable[Any]) -> str:
    form = _form(serializer)
    return json_text([form.to_representation(row) for row in rows])


def _until_views(shown: dict[str, Any]) -> str:
    """Return a JSON object up to the value of its last member, the number of views, which each request adds."""
    return json_text(shown).removesuffix("0}")
