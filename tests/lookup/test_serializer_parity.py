"""The serializers that write out `to_representation` say what their fields say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework import serializers

from lookup import rows
from lookup.rows import CommentRow, UserRow
from lookup.serializers.current import CommentSerializer, FeedbackSerializer, UserSerializer
from lookup.serializers.fields import iso
from tests.lookup.answers import compact
from tests.lookup.filled import Filled

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FULL = UserRow(
    id="a" * 32,
    uid=0,
    username="Ada",
    display_name="Ada Example",
    plan="PREMIUM",
    plan_expires_at=NOW + timedelta(days=1),
    is_active=True,
    public_api_access=True,
    is_verified=True,
    is_inactive=False,
    created_at=datetime(2024, 5, 6, 7, 8, 9, 120_999, tzinfo=UTC),
    chat_id="80351110224678912",
    scrobbler_name="ada_listens",
    profile_id="b" * 32,
    fingerprint="",
    avatar_path="avatars/ada.png",
    mirrors_chat=False,
    views=1,
    likes=2,
    dislikes=3,
    comments=4,
    now=NOW,
    texts=(),
)
USERS = [
    FULL,
    FULL._replace(display_name="", chat_id=None, scrobbler_name=None, avatar_path="", is_verified=False),
    FULL._replace(plan="IMAGEHOST", plan_expires_at=None, mirrors_chat=True, is_inactive=True),
    FULL._replace(plan_expires_at=NOW, created_at=NOW),
]
COMMENT = CommentRow(
    id="c" * 32,
    content=" as written \n",
    like_count=1,
    reply_count=2,
    is_pinned=True,
    created_at=NOW.replace(microsecond=1500),
    author_id="d" * 32,
    uid=0,
    username="Opal",
    display_name="Opal 🌱",
    avatar_path="avatars/opal.png",
    mirrors_chat=False,
)
COMMENTS = [
    COMMENT,
    COMMENT._replace(display_name="", avatar_path="", is_pinned=False, created_at=NOW),
    COMMENT._replace(mirrors_chat=True, uid=7),
]


def _of_fields(serializer: serializers.Serializer[Any], row: UserRow | CommentRow) -> object:
    """What Django REST framework makes of the fields; Any: of either row."""
    return serializers.Serializer.to_representation(serializer, row)


@pytest.mark.parametrize("user", USERS)
def test_a_user_is_written_as_its_fields_say(user: UserRow) -> None:
    """As text: types and the order of keys too."""
    assert compact(UserSerializer().to_representation(user)) == compact(_of_fields(UserSerializer(), user))


@pytest.mark.parametrize("comment", COMMENTS)
def test_a_comment_is_written_as_its_fields_say(comment: CommentRow) -> None:
    assert compact(CommentSerializer().to_representation(comment)) == compact(_of_fields(CommentSerializer(), comment))


def test_rows_as_the_database_gives_them(filled: Filled) -> None:
    """SQLite gives numbers for truth values."""
    user = rows.read_user("id", filled.user.pk, [], timezone.now())
    assert user is not None
    assert compact(UserSerializer().to_representation(user)) == compact(_of_fields(UserSerializer(), user))
    comments = rows.read_comments(filled.user.pk)
    assert len(comments) == 100
    for comment in comments:
        written = CommentSerializer().to_representation(comment)
        assert compact(written) == compact(_of_fields(CommentSerializer(), comment))
    assert FeedbackSerializer().to_representation(user) == {"likes": 2, "dislikes": 1}


@pytest.mark.parametrize(
    ("microsecond", "text"),
    [(0, "12:00:00Z"), (999, "12:00:00Z"), (1000, "12:00:00.001Z"), (999_999, "12:00:00.999Z")],
)
def test_a_timestamp_has_milliseconds_where_there_are_any(microsecond: int, text: str) -> None:
    assert iso(NOW.replace(microsecond=microsecond)) == f"2026-03-01T{text}"
