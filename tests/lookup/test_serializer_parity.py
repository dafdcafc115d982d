"""The serializers that write out `to_representation` say what their fields say."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from rest_framework import serializers

from lookup import rows
from lookup.rows import CommentRow, UserRow
from lookup.serializers.current import CommentSerializer, FeedbackSerializer, UserSerializer
from lookup.serializers.fields import iso
from tests.lookup.answers import compact
from tests.lookup.filled import Filled

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def _of_fields(serializer: serializers.Serializer[Any], row: UserRow | CommentRow) -> object:
    """What Django REST framework makes of the fields; Any: of either row."""
    return serializers.Serializer.to_representation(serializer, row)


def _is_written_as_fields_say(serializer: serializers.Serializer[Any], row: UserRow | CommentRow) -> bool:
    """Compared as text: types and the order of keys too; Any: of either row."""
    return compact(serializer.to_representation(row)) == compact(_of_fields(serializer, row))


def test_a_user_is_written_as_its_fields_say(filled: Filled) -> None:
    """SQLite gives numbers for truth values."""
    user = rows.read_user("id", filled.user.pk, [], NOW)
    assert user is not None
    for row in (
        user,
        user._replace(display_name="", chat_id=None, scrobbler_name=None, avatar_path="", is_verified=False),
        user._replace(plan="IMAGEHOST", mirrors_chat=True, is_inactive=True),
        user._replace(plan_expires_at=NOW),
    ):
        assert _is_written_as_fields_say(UserSerializer(), row)
    assert FeedbackSerializer().to_representation(user) == {"likes": 2, "dislikes": 1}


def test_a_comment_is_written_as_its_fields_say(filled: Filled) -> None:
    for comment in rows.read_comments(filled.user.pk):
        assert _is_written_as_fields_say(CommentSerializer(), comment)


@pytest.mark.parametrize(
    ("microsecond", "text"),
    [(0, "12:00:00Z"), (999, "12:00:00Z"), (1000, "12:00:00.001Z"), (999_999, "12:00:00.999Z")],
)
def test_a_timestamp_has_milliseconds_where_there_are_any(microsecond: int, text: str) -> None:
    assert iso(NOW.replace(microsecond=microsecond)) == f"2026-03-01T{text}"
