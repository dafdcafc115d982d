"""Lines written by hand: lookups show their values, and the changed values after an update."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from accounts.models import AuditEvent, User
from lookup.models import (
    Profile,
)
from tests.factories.accounts import UserFactory
from tests.lookup.transfer_files import export, lines_of, load, looked_up
from tests.lookup.transfer_line import (
    AUTHOR,
    PROFILE,
    USER,
    comment,
    line,
    normal,
    second,
    text_of,
)

pytestmark = pytest.mark.django_db


def test_an_author_is_private_until_a_line_of_their_own_comes(tmp_path: Path) -> None:
    author = UserFactory(id=AUTHOR, username="Author", email="")
    own = json.loads(export())
    author.delete()
    load(text_of(line()), tmp_path)
    made = User.objects.get(pk=AUTHOR)
    assert (made.uid, made.public_api_access) == (7, False)
    own["user"] |= {"uid": made.uid}
    load(text_of(own), tmp_path)
    assert User.objects.get(pk=AUTHOR).public_api_access
    assert len(lines_of(export())) == 2


def test_an_imported_user_cannot_sign_in_and_has_no_address(tmp_path: Path) -> None:
    load(text_of(line()), tmp_path)
    for user in User.objects.all():
        assert (user.has_usable_password(), user.email, user.is_staff) == (False, "", False)
    assert list(AuditEvent.objects.order_by("pk").values_list("verb", "object_id", "actor_kind")) == [
        ("profile:imported", USER, "SYSTEM"),
        ("user:created", AUTHOR, "SYSTEM"),
    ]
    assert UserFactory(email="").uid == 42
    load(text_of(second(uid=3)), tmp_path)
    assert UserFactory(email="").uid == 43


def test_the_mirrored_picture(tmp_path: Path) -> None:
    mirrored = line()
    url = f"{settings.BASE_URL}/api/chat/avatar/{USER}"
    mirrored["user"]["avatarUrl"] = url
    mirrored["profile"]["avatar"] = {"url": url, "mime": "image/png", "width": None, "height": None, "duration": None}
    mirrored["profile"]["settings"]["avatarSettings"]["mirrorChat"] = True
    author = {"id": AUTHOR, "username": "Author", "name": "A", "uid": 7}
    author["avatarUrl"] = f"{settings.BASE_URL}/api/chat/avatar/{AUTHOR}"
    mirrored["comments"]["items"] = [comment(80, author=author)]
    load(text_of(mirrored), tmp_path)
    assert normal(looked_up(USER)) == normal(mirrored)
    load(text_of(line(comments={"count": 0, "items": []})), tmp_path)
    mirrored["comments"] = {"count": 1, "items": []}
    load(text_of(mirrored), tmp_path)  # the upload behind the mirrored picture is still there
    avatar = Profile.objects.get(pk=PROFILE).avatar
    assert avatar is not None
    assert avatar.path == "me.webp"


def test_settings_and_skills_that_are_left_out_have_their_defaults(tmp_path: Path) -> None:
    sparse = line()
    sparse["profile"]["settings"] = {"cardSettings": {"blur": 3}}
    sparse["sections"][0]["skills"] = {"core": ["Rust"]}
    load(text_of(sparse), tmp_path)
    answer = looked_up(USER)
    assert len(answer["profile"]["settings"]) == 22
    assert answer["sections"][0]["skills"]["frontend"] == []


def test_comments_at_one_moment_keep_their_order(tmp_path: Path) -> None:
    items = [comment(number) for number in (85, 83, 84, 82)]
    load(text_of(line(comments={"count": 4, "items": items})), tmp_path)
    assert looked_up(USER)["comments"]["items"] == normal_items(items)


def normal_items(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**item, "createdAt": "2026-01-01T12:00:00.500Z"} for item in items]
