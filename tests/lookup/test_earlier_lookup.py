"""GET /api/lookup/username/{username} and /api/lookup/uid/{uid}: the earlier form, and its failures, which are 404."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts import bans
from accounts.models import ApiKey, Permission, User
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.lookup import answers, documented_fields, expected_earlier
from tests.lookup.answers import ACCOUNT_SECRET, LOOKUP_SECRET, NOT_FOUND, PRIVATE
from tests.lookup.filled import Filled

PATHS = pytest.mark.parametrize(("by", "value"), [("username", "Opal"), ("uid", "0")])


def test_everything_that_a_user_can_have(filled: Filled) -> None:
    assert answers.earlier("ada").whole == (200, expected_earlier.WHOLE)


@pytest.mark.parametrize(
    ("by", "value"), [("uid", "1"), ("username", "Ada"), ("username", "ADA"), ("username", "lovelace")]
)
def test_both_paths_any_case_and_an_alias_answer_the_same(filled: Filled, by: str, value: str) -> None:
    assert answers.earlier(value, by=by).text == answers.earlier("ada").text


def test_every_documented_field_has_its_documented_type(filled: Filled, bare: User) -> None:
    for name in ("ada", "bare"):
        profile = answers.earlier(name).body["profile"]
        assert documented_fields.types_of(profile) == documented_fields.EARLIER_PROFILE, name


def test_a_user_who_has_filled_in_nothing(bare: User) -> None:
    answer = answers.earlier("bare").body
    assert answer.pop("profile")["userId"] == 1
    assert answer == {
        "id": bare.pk,
        "uid": 1,
        "username": "Bare",
        "alias": {},
        "displayUsername": "Bare",
        "banned": False,
        "createdAt": 1714979289,
        "chatId": "",
        **{name: [] for name in ("badges", "customBadges", "links", "audios", "backgrounds")},
        "viewCount": 0,
    }


@PATHS
def test_the_key_may_come_in_the_query_or_as_a_bearer_token(operator: User, by: str, value: str) -> None:
    path = f"/api/lookup/{by}/{value}"
    in_query = answers.get(f"{path}?key={ACCOUNT_SECRET}", "earlier")
    assert in_query.status == 200
    for scheme in ("Bearer", "bearer"):
        assert answers.get(path, "earlier", {"Authorization": f"{scheme} {ACCOUNT_SECRET}"}).text == in_query.text


def _dead(**values: Any) -> str:
    """The secret of a key with these columns."""
    ApiKeyFactory(secret="another", **{"permissions": [Permission.ACCOUNT.value], **values})
    return "another"


REFUSED: dict[str, tuple[Callable[[], str], str, str]] = {  # the secret is made when the test runs
    "no key": (lambda: "", "Missing x-api-key header.", "UNAUTHORIZED"),
    "unknown": (lambda: "nobody's", "Invalid API key.", "INVALID_API_KEY"),
    "not ASCII": (lambda: "schlüssel", "Invalid API key.", "INVALID_API_KEY"),
    "revoked": (lambda: _dead(revoked_at=timezone.now()), "API Key not found", "KEY_NOT_FOUND"),
    "of another surface": (lambda: LOOKUP_SECRET, "API Key not found", "KEY_NOT_FOUND"),
    "disabled": (lambda: _dead(is_enabled=False), "API Key is disabled", "KEY_DISABLED"),
    "expired": (lambda: _dead(expires_at=timezone.now() - timedelta(1)), "API Key has expired", "KEY_EXPIRED"),
    "used up": (lambda: _dead(remaining_uses=0), "API Key has reached its usage limit", "USAGE_EXCEEDED"),
}


@PATHS
@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_key_is_404_with_its_words(operator: User, by: str, value: str, case: str) -> None:
    secret, error, code = REFUSED[case]
    assert answers.earlier(value, by=by, secret=secret()).whole == (404, {"error": error, "code": code})


@PATHS
def test_the_header_of_the_current_form_is_no_key_here(operator: User, by: str, value: str) -> None:
    answer = answers.get(f"/api/lookup/{by}/{value}", "earlier", {"X-API-Key": ACCOUNT_SECRET})
    assert answer.whole == (404, {"error": "Missing x-api-key header.", "code": "UNAUTHORIZED"})


@pytest.mark.parametrize("by", ["username", "uid"])
def test_too_many_requests_stay_429(operator: User, by: str) -> None:
    UserFactory(username="7", id="7" * 32)
    ApiKeyFactory(secret="free", owner=UserFactory())
    for _ in range(30):
        assert answers.earlier("0", by=by, secret="free").status != 429
    answer = answers.earlier("0", by=by, secret="free")
    assert answer.whole == (429, {"error": "Rate limit exceeded.", "code": "RATE_LIMITED"})
    assert 1 <= int(answer.headers["Retry-After"]) <= 60


def test_an_address_with_too_many_requests_gets_429_too(operator: User) -> None:
    for _ in range(60):
        assert answers.earlier("0", by="uid", secret="wrong").status == 404
    answer = answers.earlier("0", by="uid")
    assert answer.whole == (429, {"error": "errors.rateLimitExceeded"})
    assert answer.headers["X-RateLimit-Limit"] == "60"
    assert answer.headers["X-RateLimit-Remaining"] == "0"
    assert {"Retry-After", "X-RateLimit-Reset"} <= set(answer.headers)


@pytest.mark.parametrize("by", ["username", "uid"])
@pytest.mark.parametrize(
    "value",
    [
        *("nobody", "99", "+0", "-1", " 0", "0 ", "1.0", "0x1", "\u0660", "9" * 30, "a" * 33, "a" * 65, "ä", "🌱"),
        *("%", "a'--"),
    ],
)
def test_a_value_that_names_nobody_is_404(operator: User, by: str, value: str) -> None:
    answer = answers.earlier(value, by=by)
    assert answer.whole == NOT_FOUND
    assert "private" not in answer.text.lower()


@pytest.mark.parametrize(("by", "value"), [("username", "ada"), ("username", "countess"), ("uid", "1")])
def test_a_private_user_is_404_in_other_words(filled: Filled, by: str, value: str) -> None:
    User.objects.filter(pk=filled.user.pk).update(public_api_access=False)
    assert answers.earlier(value, by=by).whole == PRIVATE


@pytest.mark.parametrize(("by", "value"), [("username", "ada"), ("username", "countess"), ("uid", "1")])
def test_a_banned_user_is_missing_until_the_ban_is_lifted(filled: Filled, by: str, value: str) -> None:
    bans.ban(user=filled.user, by=filled.operator, reason="x")
    assert answers.earlier(value, by=by).whole == NOT_FOUND
    bans.lift(user=filled.user, by=filled.operator, reason="x")
    assert answers.earlier(value, by=by).whole == (200, expected_earlier.WHOLE)


def test_the_alias_of_the_form_is_the_oldest_one(filled: Filled) -> None:
    from lookup import aliases
    from lookup.models import Alias

    aliases.remove(alias=Alias.objects.get(pk="COUNTESS"), by=filled.user)
    answer = answers.earlier("ada").body
    assert answer["alias"] == {"name": "Lovelace", "redirect": False, "profileId": filled.alias_profile.pk}
    assert (answer["profile"]["alias"], answer["profile"]["aliasRedirect"]) == ("Lovelace", False)


def test_a_key_in_the_query_wins_over_a_header(operator: User) -> None:
    path = f"/api/lookup/uid/0?key={ACCOUNT_SECRET}"
    assert answers.get(path, "earlier", {"Authorization": "Bearer wrong"}).status == 200


def test_a_mirrored_picture_and_the_uid_0(filled: Filled) -> None:
    from tests.lookup.filled import BASE, BEN

    assert answers.earlier("ben").body["profile"]["avatar"] == f"{BASE}/api/chat/avatar/{BEN}"
    answer = answers.earlier("0", by="uid").body
    assert (answer["uid"], answer["username"], answer["profile"]["userId"]) == (0, "Opal", 0)


@PATHS
def test_a_key_is_counted_and_noted_as_used(operator: User, by: str, value: str) -> None:
    ApiKey.objects.update(remaining_uses=1)
    assert answers.earlier(value, by=by).status == 200
    assert answers.earlier(value, by=by).whole == (
        404,
        {"error": "API Key has reached its usage limit", "code": "USAGE_EXCEEDED"},
    )


@pytest.mark.parametrize("path", ["/api/lookup/username/", "/api/lookup/uid/", "/api/lookup/username", "/api/lookup"])
def test_a_path_without_a_value_is_no_endpoint(db: None, path: str) -> None:
    response = Client().get(path)
    assert (response.status_code, response.json()) == answers.NO_SUCH_PATH
