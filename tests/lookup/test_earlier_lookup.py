"""The earlier form of the lookup, and what the leaderboards show of a user in the same words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import Permission, User
from lookup import leaderboards
from lookup.editing import aliases
from lookup.models import Alias
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.lookup import answers, expected
from tests.lookup.answers import ACCOUNT_SECRET, LOOKUP_SECRET, NOT_FOUND, PRIVATE
from tests.lookup.filled import BASE, BEN, Filled

PATHS = {
    "/api/lookup/username/Opal": "earlier",
    "/api/lookup/uid/0": "earlier",
    "/api/leaderboard/views": "leaderboard",
}


def test_everything_that_a_user_can_have(filled: Filled) -> None:
    assert answers.earlier("ada").whole == (200, expected.EARLIER)


def test_both_paths_any_case_and_an_alias_answer_the_same(filled: Filled) -> None:
    text = answers.earlier("ada").text
    for by, value in (("uid", "1"), ("username", "ADA"), ("username", "lovelace")):
        assert answers.earlier(value, by=by).text == text


def test_everything_that_a_leaderboard_entry_can_have(filled: Filled) -> None:
    leaderboards.rank()
    first, *others = answers.board("views").body
    assert first == {"rank": 1, "user": expected.BOARD_USER, "score": 1234, "change": 0}
    assert [(other["rank"], other["user"]["id"], other["score"]) for other in others] == [
        (2, 0, 0),
        (3, 2, 0),
        (4, 3, 0),
    ]


def test_a_user_who_has_filled_in_nothing(bare: User) -> None:
    answer = answers.earlier("bare").body
    assert answer.pop("profile")["userId"] == bare.uid
    assert answer == {
        "id": bare.pk,
        "uid": bare.uid,
        "username": "Bare",
        "alias": {},
        "displayUsername": "Bare",
        "banned": False,
        "createdAt": 1714979289,
        "chatId": "",
        **{name: [] for name in ("badges", "customBadges", "links", "audios", "backgrounds")},
        "viewCount": 0,
    }


@pytest.mark.parametrize(("path", "form"), PATHS.items())
def test_the_key_may_come_in_the_query_or_as_a_bearer_token(operator: User, path: str, form: str) -> None:
    in_query = answers.get(f"{path}?key={ACCOUNT_SECRET}", form, {"Authorization": "Bearer wrong"})
    assert in_query.status == 200
    for scheme in ("Bearer", "bearer"):
        assert answers.get(path, form, {"Authorization": f"{scheme} {ACCOUNT_SECRET}"}).text == in_query.text
    in_header = answers.get(path, form, {"X-API-Key": ACCOUNT_SECRET})
    assert in_header.whole == (404, {"error": "Missing key parameter or Bearer token.", "code": "UNAUTHORIZED"})


def _dead(**values: Any) -> str:
    """The secret of a key with these columns."""
    ApiKeyFactory(secret="another", **{"permissions": [Permission.ACCOUNT.value], **values})
    return "another"


REFUSED: dict[str, tuple[Callable[[], str], str, str]] = {  # the secret is made when the test runs
    "no key": (lambda: "", "Missing key parameter or Bearer token.", "UNAUTHORIZED"),
    "not ASCII": (lambda: "schlüssel", "Invalid API key.", "INVALID_API_KEY"),
    "of another surface": (lambda: LOOKUP_SECRET, "API Key not found", "KEY_NOT_FOUND"),
    "disabled": (lambda: _dead(is_enabled=False), "API Key is disabled", "KEY_DISABLED"),
    "used up": (lambda: _dead(remaining_uses=0), "API Key has reached its usage limit", "USAGE_EXCEEDED"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_key_is_404_with_its_words(operator: User, case: str) -> None:
    secret, error, code = REFUSED[case]
    assert answers.earlier("Opal", secret=secret()).whole == (404, {"error": error, "code": code})


def test_too_many_requests_stay_429(operator: User) -> None:
    ApiKeyFactory(secret="free", owner=UserFactory())
    for _ in range(30):
        assert answers.earlier("0", by="uid", secret="free").status == 200
    answer = answers.earlier("opal", secret="free")
    assert answer.whole == (429, {"error": "Rate limit exceeded.", "code": "RATE_LIMITED"})
    assert 1 <= int(answer.headers["Retry-After"]) <= 60


@pytest.mark.parametrize("by", ["username", "uid"])
@pytest.mark.parametrize("value", ["nobody", "99", "+0", "9" * 30, "a" * 65, "ä"])
def test_a_value_that_no_user_has_is_404(operator: User, by: str, value: str) -> None:
    answer = answers.earlier(value, by=by)
    assert answer.whole == NOT_FOUND
    assert "private" not in answer.text.lower()


def test_a_private_user_is_404_in_other_words(filled: Filled) -> None:
    User.objects.filter(pk=filled.user.pk).update(public_api_access=False)
    for by, value in (("username", "countess"), ("uid", "1")):
        assert answers.earlier(value, by=by).whole == PRIVATE


def test_the_alias_of_the_form_is_the_oldest_one(filled: Filled) -> None:
    alias = aliases.add(user=filled.user, name="Aaa", by=filled.user)
    assert answers.earlier("ada").body["alias"]["name"] == "Countess"
    found = answers.user("ada", "aliases").body["aliases"]
    assert [alias["name"] for alias in found] == ["Countess", "Lovelace", "Aaa"]
    aliases.remove(alias=alias, by=filled.user)
    aliases.change(alias=Alias.objects.get(pk="COUNTESS"), redirects=False, has_own_profile=False, by=None)
    assert answers.earlier("ada").body["alias"]["redirect"] is False
    aliases.remove(alias=Alias.objects.get(pk="COUNTESS"), by=filled.user)
    answer = answers.earlier("ada").body
    assert answer["alias"] == {"name": "Lovelace", "redirect": False, "profileId": filled.alias_profile.pk}
    assert (answer["profile"]["alias"], answer["profile"]["aliasRedirect"]) == ("Lovelace", False)


def test_a_mirrored_picture_and_the_uid_0(filled: Filled) -> None:
    assert answers.earlier("ben").body["profile"]["avatar"] == f"{BASE}/api/chat/avatar/{BEN}"
    answer = answers.earlier("0", by="uid").body
    assert (answer["uid"], answer["username"], answer["profile"]["userId"]) == (0, "Opal", 0)
