"""GET /api/lookup/user: which user `type` and `value` name, and which users are hidden."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts import bans, users
from accounts.linking import account_links
from accounts.models import LinkedAccount, User
from infrastructure.requests.errors import ApiError
from lookup.documents import document_checks, resolve
from lookup.documents.resolve import Parts
from lookup.editing import aliases, profiles
from lookup.errors import ProfilePrivate, TypeInvalid, UserNotFound, ValueInvalid
from lookup.models import Alias, Profile
from tests.factories.accounts import StaffFactory
from tests.factories.lookup import main_profile, shown
from tests.lookup import answers, expected
from tests.lookup.answers import INCLUDES, NOT_FOUND, PRIVATE, TYPE_INVALID, VALUE_INVALID
from tests.lookup.filled import ADA, BASE, BEN, Filled

CHAT_ID = "80351110224678912"
BY_EACH_TYPE = [("username", "ada"), ("username", "lovelace"), ("uid", "1"), ("id", ADA), ("chat", CHAT_ID)]


def find(by: str, value: str) -> str | type[ApiError]:
    """The id of the user, or the error."""
    try:
        return resolve.answer(by, value, Parts(), timezone.now()).id
    except ApiError as error:
        return type(error)


def test_each_type_finds_its_user(filled: Filled) -> None:
    names = [("username", name) for name in ("Ada", "ADA", "aDa", "Countess", "COUNTESS")]
    uids = [("uid", uid) for uid in ("01", "0000000001")]
    for by, value in [*BY_EACH_TYPE, *names, *uids]:
        assert find(by, value) == ADA, (by, value)
    for by, value in BY_EACH_TYPE:
        assert answers.user(value, by=by).whole == (200, {"error": None, "user": expected.USER})


@pytest.mark.parametrize("value", ["0", "00"])
def test_the_first_account_is_uid_0(operator: User, value: str) -> None:
    found = answers.user(value, by="uid").body["user"]
    assert (found["uid"], found["username"]) == (0, "Opal")


@pytest.mark.parametrize("by", ["", "Username", "email", "username ", "username\x00", "alias", "u" * 100_000])
def test_any_other_type_is_refused(by: str) -> None:
    assert find(by, "ada") is TypeInvalid


@pytest.mark.parametrize(
    "query",
    [
        *("", "&=&", "value=ada", "type&value", "Type=username&value=ada", "type[]=username&value=ada"),
        *("type=%FF&value=ada", "type=username;value=ada"),
    ],
)
def test_a_query_without_one_known_type_is_refused(operator: User, query: str) -> None:
    assert answers.raw_user(query).whole == TYPE_INVALID


def test_a_query_with_no_value_is_refused(operator: User) -> None:
    for query in ("type=username", "type=username&value"):
        assert answers.raw_user(query).whole == VALUE_INVALID


def test_a_repeated_parameter_is_a_bad_value_whatever_the_copies_say(filled: Filled, unlimited: None) -> None:
    """Of one that the endpoint does not read, the copies are ignored."""
    for query in ("type=uid&type=uid&value=1", "type=uid&value=1&type="):
        assert answers.raw_user(query).whole == TYPE_INVALID
    for query in ("type=uid&value=1&value=1", "type=uid&value=&value=1"):
        assert answers.raw_user(query).whole == VALUE_INVALID
    for include in (*INCLUDES, "showAliasProfile"):
        for copies in ("true&{}=true", "&{}=true", "true&{}="):
            query = f"type=username&value=lovelace&{include}=" + copies.format(include)
            assert answers.raw_user(query).whole == (200, {"error": None, "user": expected.USER})
    assert answers.raw_user("type=uid&value=1&limit=1&limit=2").status == 200


@pytest.mark.parametrize("by", ["username", "uid", "id", "chat"])
def test_a_value_has_1_to_64_characters(db: None, by: str) -> None:
    assert find(by, "") is ValueInvalid
    for character in ("7", "é", "🌱") if by != "uid" else ("7",):
        assert find(by, character * 64) is UserNotFound
        assert find(by, character * 65) is ValueInvalid


@pytest.mark.parametrize(
    "value", ["+1", "-1", " 1", "1.0", "0x1", "1_0", "one", "1\n", "1\x00", "\u0661", "\u00b9", "\uff11", "1\u200b"]
)
def test_a_uid_that_is_no_integer_is_refused(value: str) -> None:
    assert find("uid", value) is ValueInvalid


@pytest.mark.parametrize("value", ["6", "99", "9223372036854775807", "9223372036854775808", "9" * 64])
def test_a_uid_that_no_user_has_is_404(filled: Filled, value: str) -> None:
    assert find("uid", value) is UserNotFound


@pytest.mark.parametrize(
    ("by", "value"),
    [
        *(("username", value) for value in ("nobody", " ada", "ada ", "@ada", "1", ADA, CHAT_ID, "%", "a_a")),
        *(("id", value) for value in ("1", "Ada", ADA.upper().replace("0", "O"), f"{int(ADA, 16):x}", f"{ADA} ")),
        *(("chat", value) for value in ("1", f"0{CHAT_ID}", f"{CHAT_ID} ", "ada.chats")),
        ("chat", "77"),  # Ada's account of another service
    ],
)
def test_a_value_that_no_user_has_is_404(filled: Filled, by: str, value: str) -> None:
    assert find(by, value) is UserNotFound


NASTY = (
    *(
        "\x00",
        "ada\x00",
        "\ufffd",
        "\ud800",
        "🌱",
        "\u202e",
        "\r\nX: 1",
        "' OR 1=1--",
        '"',
        "\\",
        "%",
        "%s",
        "%(x)s",
        "_",
    ),
    *("{}", "../../etc", "..", "\u0131", "\u017f", "\uff41da", "ada\u0301", "\u01c5", "ad\u0430", "null"),
)


def test_a_nasty_value_names_no_user(filled: Filled, unlimited: None) -> None:
    for by, value in itertools.product(("username", "id", "chat"), NASTY):
        assert find(by, value) is UserNotFound, (by, value)
    for value in ("%00", "%ff", "%ed%a0%80"):
        assert answers.raw_user(f"type=username&value={value}&comments=true").whole == NOT_FOUND
        assert answers.raw_user(f"type=uid&value={value}").whole == VALUE_INVALID
        assert answers.raw_user(f"type={value}&value=ada").whole == TYPE_INVALID


@pytest.mark.parametrize("name", ["\u017fomebody", "Straße", "ﬁ", "İda", "ıda"])  # noqa: RUF001 - they fold to ASCII
def test_letters_that_fold_to_ascii_are_other_names(filled: Filled, name: str) -> None:
    User.objects.filter(username="Ben").update(username="Somebody")
    assert find("username", name) is UserNotFound


def test_a_private_user_is_404_in_words_of_its_own(filled: Filled) -> None:
    users.change(user=filled.user, values={"public_api_access": False}, by=StaffFactory())
    for by, value in BY_EACH_TYPE:
        assert find(by, value) is ProfilePrivate
    assert answers.user("ada", *INCLUDES, showAliasProfile="true").whole == PRIVATE
    users.change(user=filled.user, values={"public_api_access": True}, by=StaffFactory())
    assert answers.user("ada").status == 200


def test_a_banned_user_is_missing_until_the_ban_is_lifted(filled: Filled) -> None:
    bans.ban(user=filled.user, by=filled.operator, reason="x")
    for by, value in BY_EACH_TYPE:
        assert find(by, value) is UserNotFound
    answer = answers.user("lovelace", *INCLUDES, showAliasProfile="true")
    assert answer.whole == NOT_FOUND
    assert "private" not in answer.text.lower()
    bans.lift(user=filled.user, by=filled.operator, reason="x")
    assert answers.user("ada", *INCLUDES).body == expected.whole(filled.profile.pk)


def test_a_banned_user_who_is_private_is_missing(filled: Filled) -> None:
    User.objects.filter(pk=ADA).update(public_api_access=False, is_active=False)
    assert find("username", "ada") is UserNotFound


def test_a_new_username_answers_at_once_and_the_old_one_no_longer(filled: Filled) -> None:
    users.change(user=filled.user, values={"username": "Augusta"}, by=StaffFactory())
    assert answers.user("ada").whole == NOT_FOUND
    assert answers.user("AUGUSTA").body["user"] == {**expected.USER, "username": "Augusta"}
    assert answers.earlier(1, by="uid").body["username"] == "Augusta"
    assert list(document_checks.differences()) == []


def test_an_alias_answers_while_it_is_one(filled: Filled) -> None:
    aliases.add(user=filled.user, name="New.One", by=filled.user)
    answer = answers.user("new.one", "aliases")
    assert answer.body["user"] == expected.USER
    assert answer.body["aliases"][-1] == {"name": "New.One", "redirect": True, "profileId": None}
    aliases.remove(alias=Alias.objects.get(pk="NEW.ONE"), by=filled.user)
    assert answers.user("new.one").whole == NOT_FOUND
    assert answers.user("ada", "aliases").body["aliases"] == expected.ALIASES


END = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("plan", "seconds_left", "is_premium", "is_imagehost"),
    [
        ("FREE", None, False, False),
        ("PREMIUM", None, True, False),
        ("PREMIUM", 1, True, False),
        ("PREMIUM", 0, False, False),
        ("IMAGEHOST", None, True, True),
        ("IMAGEHOST", 1, True, True),
        ("IMAGEHOST", 0, False, False),
    ],
)
def test_a_plan_counts_until_it_ends(
    filled: Filled, plan: str, seconds_left: int | None, is_premium: bool, is_imagehost: bool
) -> None:
    ends = None if seconds_left is None else END + timedelta(seconds=seconds_left)
    User.objects.filter(pk=ADA).update(plan=plan, plan_expires_at=ends)
    account = resolve.answer("id", ADA, Parts(), END).account
    assert (account["premium"], account["imagehost"]) == (is_premium, is_imagehost)


def test_flags_of_the_account_and_its_plan_are_read_at_each_lookup(filled: Filled) -> None:
    User.objects.filter(pk=ADA).update(is_inactive=True, is_verified=False, plan="IMAGEHOST", plan_expires_at=END)
    with time_machine.travel(END - timedelta(seconds=1), tick=False):
        changed = {**expected.USER, "inactive": True, "verified": False, "imagehost": True}
        assert answers.user("ada").body["user"] == changed


def test_a_linked_account_answers_at_once(filled: Filled) -> None:
    account_links.link(
        user=filled.user, kind=LinkedAccount.Kind.CHAT, external_id="555555555555555555", name="new", by=filled.user
    )
    changed = {**expected.USER, "chatId": "555555555555555555"}
    assert answers.user("555555555555555555", by="chat").body["user"] == changed
    assert find("chat", CHAT_ID) is UserNotFound
    account_links.unlink(user=filled.user, kind=LinkedAccount.Kind.CHAT, by=filled.user)
    account_links.unlink(user=filled.user, kind=LinkedAccount.Kind.SCROBBLER, by=filled.user)
    assert find("chat", "555555555555555555") is UserNotFound
    assert answers.user("ada").body["user"] == {**expected.USER, "chatId": None, "scrobblerUsername": None}
    assert list(document_checks.differences()) == []


def test_a_mirrored_picture_hides_the_uploaded_one_in_both_places(filled: Filled) -> None:
    settings = {**filled.profile.settings, "avatarSettings": {"mirrorChat": True}}
    Profile.objects.filter(pk=filled.profile.pk).update(settings=settings)
    shown(filled.user)
    for name, user_id in (("ada", ADA), ("ben", BEN)):
        answer = answers.user(name, "profile").body
        url = f"{BASE}/api/chat/avatar/{user_id}"
        assert answer["user"]["avatarUrl"] == url
        size = {"width": None, "height": None, "duration": None}
        assert answer["profile"]["avatar"] == {"url": url, "mime": "image/png", **size}


def test_text_that_could_end_a_script_or_a_string_stays_json(bare: User) -> None:
    text = '</script><!-- \u2028\u2029\u200f " \\ \\u0000 \t\n \U0001f331 ﷽'
    profile = main_profile(bare)
    profiles.change(profile=profile, values={"description": text}, by=bare)
    assert answers.user("bare", "profile").body["profile"]["description"] == text
    assert answers.earlier("bare").body["profile"]["description"] == text
