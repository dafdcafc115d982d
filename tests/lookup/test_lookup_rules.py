"""GET /api/lookup/user: whom `type` and `value` name, and whom nobody may see."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts import bans, linking, users
from accounts.models import LinkedAccount, User
from lookup import aliases
from lookup.models import Alias, Profile
from tests.factories.accounts import StaffFactory
from tests.factories.lookup import AssetFactory, main_profile, shown
from tests.lookup import answers, expected_current
from tests.lookup.answers import INCLUDES, NOT_FOUND, PRIVATE, TYPE_INVALID, VALUE_INVALID
from tests.lookup.filled import ADA, BASE, BEN, CDN, Filled

ADAS = [
    *(("username", name) for name in ("Ada", "ada", "ADA", "aDa", "Countess", "COUNTESS", "lovelace")),
    *(("uid", uid) for uid in ("1", "01", "0000000001")),
    ("id", ADA),
    ("chat", "80351110224678912"),
]
EVERY_TYPE = pytest.mark.parametrize(("by", "value"), ADAS)


@EVERY_TYPE
def test_each_type_finds_its_user(filled: Filled, by: str, value: str) -> None:
    assert answers.user(value, by=by).whole == (200, {"error": None, "user": expected_current.USER})


@pytest.mark.parametrize("value", ["0", "00"])
def test_the_first_account_is_uid_0(operator: User, value: str) -> None:
    found = answers.user(value, by="uid").body["user"]
    assert (found["uid"], found["username"]) == (0, "Opal")


@pytest.mark.parametrize(
    "query",
    [
        "value=ada",
        "type=&value=ada",
        "type=Username&value=ada",
        "type=USERNAME&value=ada",
        "type=UID&value=1",
        "type=Id&value=1",
        "type=email&value=ada@example.org",
        "type=discord&value=80351110224678912",
        "type=username%20&value=ada",
        "type=%20username&value=ada",
        "type=username%00&value=ada",
        "type=%FF&value=ada",
        "type=alias&value=countess",
        "Type=username&value=ada",
        "type[]=username&value=ada",
        "type=uid,username&value=ada",
        "type=uid&type=username&value=ada",
        "type=username&type=username&value=ada",
    ],
)
def test_any_other_type_is_refused(filled: Filled, query: str) -> None:
    assert answers.raw_user(query).whole == TYPE_INVALID


@pytest.mark.parametrize("by", ["username", "uid", "id", "chat"])
def test_a_value_has_1_to_64_characters(filled: Filled, by: str) -> None:
    assert answers.raw_user(f"type={by}").whole == VALUE_INVALID
    assert answers.user("", by=by).whole == VALUE_INVALID
    for character in ("7", "é", "🌱") if by != "uid" else ("7",):
        assert answers.user(character * 64, by=by).whole == NOT_FOUND
        assert answers.user(character * 65, by=by).whole == VALUE_INVALID


@pytest.mark.parametrize(
    "value",
    [
        *("+1", "-1", " 1", "1 ", "1.0", "1,0", "0x1", "1e0", "1_0", "one", "1\n", "\t1", "1\x00", "1a", "--1", "true"),
        *("\u0661", "\u00b9", "\uff11", "\u2460", "1\u200b", "\u00a01", "🌱", "1/2", "null", "NaN"),
    ],
)
def test_a_uid_that_is_no_integer_is_refused(filled: Filled, value: str) -> None:
    assert answers.user(value, by="uid").whole == VALUE_INVALID


@pytest.mark.parametrize("value", ["6", "99", "9223372036854775807", "9223372036854775808", "9" * 30, "9" * 64])
def test_a_uid_that_nobody_has_is_404(filled: Filled, value: str) -> None:
    assert answers.user(value, by="uid").whole == NOT_FOUND


@pytest.mark.parametrize(
    ("by", "value"),
    [
        ("username", "nobody"),
        ("username", " ada"),
        ("username", "ada "),
        ("username", "@ada"),
        ("username", "1"),
        ("username", ADA),
        ("username", "80351110224678912"),
        ("username", "%"),
        ("username", "a_a"),
        ("id", ADA.upper().replace("0", "O")),
        ("id", f"{int(ADA, 16):x}"),
        ("id", "1"),
        ("id", "Ada"),
        ("id", f"{ADA[:8]}-{ADA[8:12]}-{ADA[12:16]}-{ADA[16:20]}-{ADA[20:]}"),
        ("chat", "80351110224678913"),
        ("chat", "080351110224678912"),
        ("chat", "80351110224678912 "),
        ("chat", "77"),
        ("chat", "ada.chats"),
        ("chat", "1"),
    ],
)
def test_nobody_of_that_name_is_404_and_not_private(filled: Filled, by: str, value: str) -> None:
    """77 is Ada's account of another service."""
    answer = answers.user(value, *INCLUDES, by=by)
    assert answer.whole == NOT_FOUND
    assert "private" not in answer.text.lower()


@EVERY_TYPE
def test_a_private_user_is_404_in_words_of_its_own(filled: Filled, by: str, value: str) -> None:
    users.change(user=filled.user, values={"public_api_access": False}, by=StaffFactory())
    assert answers.user(value, by=by).whole == PRIVATE
    assert answers.user(value, *INCLUDES, by=by, showAliasProfile="true").whole == PRIVATE
    users.change(user=filled.user, values={"public_api_access": True}, by=StaffFactory())
    assert answers.user(value, by=by).status == 200


@EVERY_TYPE
def test_a_banned_user_is_missing_until_the_ban_is_lifted(filled: Filled, by: str, value: str) -> None:
    bans.ban(user=filled.user, by=filled.operator, reason="x")
    assert answers.user(value, by=by).whole == NOT_FOUND
    assert answers.user(value, *INCLUDES, by=by, showAliasProfile="true").whole == NOT_FOUND
    bans.lift(user=filled.user, by=filled.operator, reason="x")
    assert answers.user(value, *INCLUDES, by=by).body == expected_current.whole(filled.profile.pk)


def test_a_banned_user_who_is_private_is_missing(filled: Filled) -> None:
    User.objects.filter(pk=ADA).update(public_api_access=False)
    bans.ban(user=filled.user, by=filled.operator, reason="x")
    assert answers.user("ada").whole == NOT_FOUND


@EVERY_TYPE
def test_a_deleted_user_is_missing(filled: Filled, by: str, value: str) -> None:
    users.delete(user=filled.user, by=filled.operator)
    assert answers.user(value, by=by).whole == NOT_FOUND


def test_a_new_username_answers_at_once_and_the_old_one_no_longer(filled: Filled) -> None:
    users.change(user=filled.user, values={"username": "Augusta"}, by=StaffFactory())
    assert answers.user("ada").whole == NOT_FOUND
    assert answers.user("AUGUSTA").body["user"] == {**expected_current.USER, "username": "Augusta"}


def test_an_alias_answers_while_it_is_one(filled: Filled) -> None:
    aliases.add(user=filled.user, name="New.One", by=filled.user)
    answer = answers.user("new.one", "aliases")
    assert answer.body["user"] == expected_current.USER
    assert answer.body["aliases"][-1] == {"name": "New.One", "redirect": True, "profileId": None}
    aliases.remove(alias=Alias.objects.get(pk="NEW.ONE"), by=filled.user)
    assert answers.user("new.one").whole == NOT_FOUND
    assert answers.user("ada", "aliases").body["aliases"] == expected_current.ALIASES


@pytest.mark.parametrize(
    ("plan", "days_left", "is_premium", "is_imagehost"),
    [
        ("FREE", None, False, False),
        ("PREMIUM", None, True, False),
        ("PREMIUM", 1, True, False),
        ("PREMIUM", -1, False, False),
        ("IMAGEHOST", None, True, True),
        ("IMAGEHOST", 1, True, True),
        ("IMAGEHOST", -1, False, False),
    ],
)
def test_a_plan_counts_until_it_ends(
    filled: Filled, plan: str, days_left: int | None, is_premium: bool, is_imagehost: bool
) -> None:
    ends = None if days_left is None else timezone.now() + timedelta(days=days_left)
    User.objects.filter(pk=ADA).update(plan=plan, plan_expires_at=ends)
    assert answers.user("ada").body["user"] == {
        **expected_current.USER,
        "premium": is_premium,
        "imagehost": is_imagehost,
    }


@pytest.mark.parametrize(("column", "key"), [("is_inactive", "inactive"), ("is_verified", "verified")])
@pytest.mark.parametrize("value", [True, False])
def test_flags_of_the_account_are_those_of_the_moment(filled: Filled, column: str, key: str, value: bool) -> None:
    User.objects.filter(pk=ADA).update(**{column: value})
    assert answers.user("ada").body["user"] == {**expected_current.USER, key: value}


def test_a_linked_account_answers_at_once(filled: Filled) -> None:
    linking.link(
        user=filled.user, kind=LinkedAccount.Kind.CHAT, external_id="555555555555555555", name="new", by=filled.user
    )
    changed = {**expected_current.USER, "chatId": "555555555555555555"}
    assert answers.user("555555555555555555", by="chat").body["user"] == changed
    assert answers.user("80351110224678912", by="chat").whole == NOT_FOUND
    linking.unlink(user=filled.user, kind=LinkedAccount.Kind.CHAT, by=filled.user)
    linking.unlink(user=filled.user, kind=LinkedAccount.Kind.SCROBBLER, by=filled.user)
    assert answers.user("555555555555555555", by="chat").whole == NOT_FOUND
    assert answers.user("ada").body["user"] == {**expected_current.USER, "chatId": None, "scrobblerUsername": None}


def test_a_mirrored_picture_is_in_both_places(filled: Filled) -> None:
    answer = answers.user("ben", "profile").body
    assert answer["user"]["avatarUrl"] == f"{BASE}/api/chat/avatar/{BEN}"
    assert answer["profile"]["avatar"] == {
        "url": f"{BASE}/api/chat/avatar/{BEN}",
        "mime": "image/png",
        "width": None,
        "height": None,
        "duration": None,
    }


def test_a_mirrored_picture_hides_the_uploaded_one(filled: Filled) -> None:
    settings = {**filled.profile.settings, "avatarSettings": {"mirrorChat": True}}
    Profile.objects.filter(pk=filled.profile.pk).update(settings=settings)
    shown(filled.user)
    answer = answers.user("ada", "profile").body
    assert answer["user"]["avatarUrl"] == answer["profile"]["avatar"]["url"] == f"{BASE}/api/chat/avatar/{ADA}"


def test_a_new_picture_is_shown_at_once(bare: User) -> None:
    profile = main_profile(bare)
    profile.avatar = AssetFactory(owner=bare, path="avatars/new.png")
    profile.save()
    shown(bare)
    assert answers.user("bare").body["user"]["avatarUrl"] == f"{CDN}/avatars/new.png"
