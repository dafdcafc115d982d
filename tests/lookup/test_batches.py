"""POST /api/lookup/users: each element is the answer of the lookup of one user, in the order asked."""

from __future__ import annotations

import itertools
import json
import random
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from accounts import bans
from accounts.models import ApiKey, Permission, User
from config.web.received_body import CutOff
from lookup.documents import documents
from lookup.documents.resolve import MAX_COMMENTS
from lookup.models import Profile, UserDocument
from lookup.views import batches
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.lookup import shown
from tests.lookup import answers, statements
from tests.lookup.answers import (
    BODY_INVALID,
    BODY_TOO_LARGE,
    INCLUDES,
    LOOKUP_SECRET,
    TYPE_INVALID,
    VALUE_INVALID,
    VALUES_INVALID,
    compact,
)
from tests.lookup.filled import ADA, BEN, CLEO, MAL, Filled, row

CHAT_ID = "80351110224678912"
MISSING, PRIVATE = {"error": "User not found."}, {"error": "This profile is private."}
VALUES: dict[str, tuple[str, ...]] = {  # of Ada, Ben, private Cleo, banned Mal, and nobody
    "username": ("ada", "ADA", "lovelace", "Countess", "ben", "cleo", "mal", "nobody", "\x00", "é", "x" * 64),
    "uid": ("1", "01", "0", "2", "3", "4", "99", "9" * 19, "9" * 64),
    "id": (ADA, BEN, CLEO, MAL, row(99), "' OR 1=1--", "\x00", "null", "{}", "[]", '"'),
    "chat": (CHAT_ID, "77", "1", f"0{CHAT_ID}", "é"),
}


@pytest.fixture
def crowd(filled: Filled) -> Filled:
    """Cleo's profile is private."""
    User.objects.filter(pk=CLEO).update(public_api_access=False)
    shown(filled.cleo)
    return filled


def _single(value: str, *includes: str, by: str = "username", **switches: str) -> str:
    return answers.user(value, *includes, by=by, **switches).text


def _batch(*elements: str) -> str:
    return '{"error":null,"results":[' + ",".join(elements) + "]}"


def test_the_elements_are_the_answers_of_single_lookups_in_the_order_asked(crowd: Filled) -> None:
    whole = answers.users(["ben", "nobody", "ada", "cleo", "mal"], *INCLUDES)
    assert whole.status == 200
    assert whole.text == _batch(
        *(_single("ben", *INCLUDES), compact(MISSING), _single("ada", *INCLUDES), compact(PRIVATE), compact(MISSING))
    )


@pytest.mark.embedded
@pytest.mark.parametrize("seed", range(12))
def test_any_mix_is_byte_for_byte_what_single_lookups_answer(crowd: Filled, unlimited: None, seed: int) -> None:
    """Of every type, with any includes, stale documents, and the profile of an alias."""
    dice = random.Random(seed)  # noqa: S311 - no secret
    by = list(VALUES)[seed % 4]
    values = dice.choices(VALUES[by], k=dice.choice((1, 2, 10, 11, 50)))
    includes = dice.sample(INCLUDES, dice.randrange(len(INCLUDES) + 1))
    has_alias_profile = dice.random() < 0.5
    if dice.random() < 0.5:
        documents.mark_stale(Profile.objects.filter(user__in=[ADA, BEN]))
    found = answers.users(values, *includes, by=by, showAliasProfile=has_alias_profile)
    switches = {"showAliasProfile": "true"} if has_alias_profile else {}
    assert found.text == _batch(*(_single(value, *includes, by=by, **switches) for value in values))


SECRET = "a-key-of-its-own"
KEY = [] if settings.REDIS_URL else ["SELECT accounts_apikey"]
ERRORS = {"private": ("cleo", PRIVATE), "banned": ("mal", MISSING), "missing": ("nobody", MISSING)}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_stands_in_its_place_at_every_position(crowd: Filled, unlimited: None, case: str) -> None:
    hidden, error = ERRORS[case]
    ben = json.loads(_single("ben"))
    for place in range(50):
        values = ["ben"] * 50
        values[place] = hidden
        expected = [ben] * 50
        expected[place] = error
        assert answers.users(values).body["results"] == expected, place


@pytest.mark.parametrize("count", [1, 50])
def test_1_to_50_values_are_answered_and_a_repeated_one_in_each_place(crowd: Filled, count: int) -> None:
    assert answers.users(["ada"] * count, "links").text == _batch(*[_single("ada", "links")] * count)


def test_a_plan_that_has_ended_counts_at_the_time_of_the_request(crowd: Filled) -> None:
    for days in (1, -1):
        User.objects.filter(pk=ADA).update(plan_expires_at=timezone.now() + timedelta(days=days))
        documents.mark_stale(Profile.objects.all())
        found = answers.users(["ada", "ben"])
        assert found.text == _batch(_single("ada"), _single("ben"))
        assert found.body["results"][0]["user"]["premium"] is (days > 0)


def test_a_ban_and_a_private_profile_count_at_once(crowd: Filled) -> None:
    assert [one["error"] for one in answers.users(["ada", "ben"]).body["results"]] == [None, None]
    bans.ban(user=crowd.ben, by=None, reason="x")
    User.objects.filter(pk=ADA).update(public_api_access=False)
    assert answers.users(["ada", "ben"]).body["results"] == [PRIVATE, MISSING]


# --- What is refused ---


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], VALUES_INVALID),
        (["ada"] * 51, VALUES_INVALID),
        (["ada"] * 2000, VALUES_INVALID),
        (None, VALUES_INVALID),
        ("ada", VALUES_INVALID),
        ({"0": "ada"}, VALUES_INVALID),
        *((["ada", mixed], VALUES_INVALID) for mixed in (1, 1.5, True, None, ["ada"], {"value": "ada"})),
        (["ada", ""], VALUE_INVALID),
        (["ada", "x" * 65], VALUE_INVALID),
    ],
)
def test_values_are_1_to_50_strings_of_1_to_64_characters(
    operator: User, values: object, expected: tuple[int, object]
) -> None:
    assert answers.users(values).whole == expected


def test_one_bad_uid_refuses_the_whole_batch_at_every_position(operator: User, unlimited: None) -> None:
    for place, bad in itertools.product((0, 24, 49), ("+1", "one", "1.0", " 1", "\u0661")):
        values = ["0"] * 50
        values[place] = bad
        assert answers.users(values, by="uid").whole == VALUE_INVALID


@pytest.mark.parametrize("by", ["", "Username", "email", None, 1, True, ["username"], {"username": 1}, "u" * 9000])
def test_a_type_that_is_none_of_the_four_is_refused(operator: User, by: object) -> None:
    assert answers.users(["opal"], by=by).whole == TYPE_INVALID


HEAD = '{"type":"username","values":["opal"]'
BODIES: dict[str, str | bytes] = {
    "nothing": "",
    "no JSON": "type=username&values=opal",
    "an array": '["opal"]',
    "a text": '"opal"',
    "null": "null",
    "cut off": HEAD,
    "more behind it": HEAD + "}{}",
    "a repeated name": HEAD + ',"type":"username"}',
    "a repeated name in what is ignored": HEAD + ',"x":{"a":1,"a":1}}',
    "NaN": HEAD + ',"x":NaN}',
    "an infinity": HEAD + ',"x":-Infinity}',
    "a number of 5,000 digits": HEAD + f',"x":{"9" * 5000}}}',
    "arrays 10,000 deep": "[" * 10_000,
    "arrays 8,000 deep and closed": HEAD + ',"x":' + "[" * 8000 + "]" * 8000 + "}",
    "objects 3,000 deep": HEAD + ',"x":' + '{"":' * 3000,
    "no UTF-8": HEAD.encode() + b',"x":"\xff"}',
    "UTF-16": (HEAD + "}").encode("utf-16"),
    "a byte order mark": b"\xef\xbb\xbf" + HEAD.encode() + b"}",
    "a switch that is a string": HEAD + ',"links":"true"}',
    "a switch that is a number": HEAD + ',"showAliasProfile":1}',
    "a switch that is null": HEAD + ',"comments":null}',
}


@pytest.mark.parametrize("case", BODIES)
def test_a_body_that_is_no_such_object_is_refused(operator: User, case: str) -> None:
    assert answers.raw_users(BODIES[case]).whole == BODY_INVALID


def test_half_of_a_surrogate_pair_is_refused(operator: User) -> None:
    for value in (r"\ud800", r"opal\udfff", r"\ude00\ud83d"):
        assert answers.raw_users(f'{{"type":"id","values":["{value}"]}}').whole == VALUES_INVALID


def test_names_that_are_not_known_are_ignored_as_in_a_query(operator: User) -> None:
    wanted = answers.users(["opal"]).whole
    assert answers.raw_users(HEAD + ',"limit":[{"a":[1]}],"profiles":"true"}').whole == wanted
    assert answers.raw_users(HEAD + ',"links":false,"showAliasProfile":false}').whole == wanted


@pytest.mark.parametrize(
    "content_type", ["", "text/plain", "application/x-www-form-urlencoded", "application/JSON; x=y"]
)
def test_the_type_that_a_client_sends_changes_nothing(operator: User, content_type: str) -> None:
    assert answers.raw_users(HEAD + "}", content_type=content_type).status == 200


def test_16384_bytes_are_read_and_no_more(operator: User) -> None:
    """50 values of 64 characters of four bytes fit, with every switch."""
    largest = compact(
        {"type": "id", "values": ["🌱" * 64] * 50, **dict.fromkeys((*INCLUDES, "showAliasProfile"), True)}
    )
    assert answers.raw_users(largest).body["results"] == [MISSING] * 50
    padded = HEAD + "}" + " " * (batches.MAX_BODY - len(HEAD) - 1)
    assert answers.raw_users(padded).status == 200
    assert answers.raw_users(padded + " ").whole == BODY_TOO_LARGE
    assert answers.raw_users(HEAD + "}" + " " * 10_000_000).whole == BODY_TOO_LARGE


@pytest.mark.parametrize("length", ["x", "-1", "200"])
def test_a_length_that_is_not_that_of_the_body_is_refused(operator: User, length: str) -> None:
    sent: dict[str, Any] = {"CONTENT_LENGTH": length, "wsgi.input": BytesIO(HEAD.encode() + b"}")}
    assert answers.raw_users(HEAD + "}", **sent).whole == BODY_INVALID


def test_a_body_that_breaks_off_in_the_embedded_server_costs_a_request(operator: User) -> None:
    class Broken(BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise CutOff

    sent: dict[str, Any] = {"CONTENT_LENGTH": "200", "wsgi.input": Broken()}
    answer = answers.raw_users(HEAD + "}", **sent)
    assert answer.whole == BODY_INVALID
    assert answer.headers["RateLimit"].startswith('"key";r=59;')
    assert answers.raw_users(HEAD + "}", "x", **sent).body["code"] == "INVALID_API_KEY"


def test_other_methods_are_refused(operator: User) -> None:
    for method in ("get", "put", "patch", "delete", "options"):
        answer = getattr(Client(), method)("/api/lookup/users", headers={"X-API-Key": LOOKUP_SECRET})
        assert (answer.status_code, answer.json()) == (405, {"error": "errors.methodNotAllowed"})
        assert answer.headers["Allow"] == "POST"


# --- Keys and limits ---


@pytest.mark.parametrize(("secret", "code"), [(None, "UNAUTHORIZED"), ("x", "INVALID_API_KEY")])
def test_the_key_is_checked_before_the_body(operator: User, secret: str | None, code: str) -> None:
    for body in (HEAD + "}", "", "[" * 10_000, " " * 20_000):
        answer = answers.raw_users(body, secret)
        assert (answer.status, answer.body["code"]) == (401, code)


def test_a_key_without_the_permission_is_refused(operator: User) -> None:
    answer = answers.raw_users(HEAD + "}", answers.ACCOUNT_SECRET)
    assert answer.whole == (401, {"error": "API Key not found", "code": "KEY_NOT_FOUND"})


def _key(**values: int) -> ApiKey:
    """A key whose secret is SECRET, of a user without premium."""
    return ApiKeyFactory(secret=SECRET, permissions=[Permission.LOOKUP_USER.value], **values)


COSTS = [(1, 1), (9, 1), (10, 1), (11, 2), (20, 2), (21, 3), (49, 5), (50, 5)]


@pytest.mark.embedded
@pytest.mark.parametrize(("count", "cost"), COSTS)
def test_a_batch_takes_one_use_of_a_quota_for_each_10_values_begun(operator: User, count: int, cost: int) -> None:
    key = _key(remaining_uses=40)
    assert answers.raw_users(_asking(["opal"] * count), SECRET).status == 200
    key.refresh_from_db()
    assert key.remaining_uses == 40 - cost


def test_a_batch_that_costs_more_uses_than_are_left_takes_none_and_reads_nothing(operator: User) -> None:
    key = _key(remaining_uses=4)
    refused = (401, {"error": "API Key has reached its usage limit", "code": "USAGE_EXCEEDED"})
    assert answers.raw_users(_asking(["opal"] * 41), SECRET).whole == refused
    assert [name for name in _names(["opal"] * 41, SECRET) if name.startswith("SELECT accounts_name")] == []
    assert answers.raw_users(_asking(["opal"] * 40), SECRET).status == 200
    key.refresh_from_db()
    assert key.remaining_uses == 0


@pytest.mark.parametrize(
    "body", ["", " " * 20_000, '{"type":"x","values":["opal"]}', '{"type":"uid","values":["x","1"]}']
)
def test_a_refused_body_costs_one_use(operator: User, body: str) -> None:
    key = _key(remaining_uses=2)
    assert answers.raw_users(body, SECRET).status in (400, 413)
    key.refresh_from_db()
    assert key.remaining_uses == 1


def test_a_batch_over_the_rate_is_refused_whole_and_smaller_ones_still_pass(operator: User) -> None:
    _key()
    limited = (429, {"error": "Rate limit exceeded.", "code": "RATE_LIMITED"})
    for _ in range(5):
        assert answers.raw_users(_asking(["opal"] * 50), SECRET).status == 200
    assert answers.raw_users(_asking(["opal"] * 41), SECRET).status == 200  # 30 of 30
    assert answers.raw_users(_asking(["opal"]), SECRET).whole == limited
    assert answers.raw_user("type=uid&value=0", SECRET).whole == limited


# --- Statements ---


def _asking(values: list[str], *includes: str) -> str:
    return compact({"type": "username", "values": values, **dict.fromkeys(includes, True)})


def _names(values: list[str], secret: str = LOOKUP_SECRET, *includes: str) -> list[str]:
    return statements.names(lambda: answers.raw_users(_asking(values, *includes), secret))


@pytest.fixture
def fifty(crowd: Filled) -> list[str]:
    """The names of 50 users with 101 comments each by their counters, of whom every fifth is private."""
    users = UserFactory.create_batch(50)
    shown(*users)
    UserDocument.objects.filter(user__in=users).update(comments=MAX_COMMENTS + 1)
    User.objects.filter(pk__in=[user.pk for user in users[::5]]).update(public_api_access=False)
    answers.users(["ada"])  # the key has been used before
    return [user.username for user in users]


@pytest.mark.embedded
def test_a_batch_is_the_key_and_one_statement_and_many_comments_a_second(fifty: list[str]) -> None:
    one = [*KEY, "SELECT accounts_name"]
    for values in (fifty[:1], fifty[1:2], fifty, ["nobody"], ["\0"], ["mal", "cleo"]):
        assert _names(values) == one
        assert _names(values, LOOKUP_SECRET, *INCLUDES[:-1]) == one
    assert _names(fifty[1:2], LOOKUP_SECRET, *INCLUDES) == [*one, "SELECT lookup_userdocument"]
    assert _names(fifty, LOOKUP_SECRET, *INCLUDES) == [*one, "SELECT lookup_userdocument"]
    assert _names(fifty[::5], LOOKUP_SECRET, *INCLUDES) == one  # private ones alone
    UserDocument.objects.update(comments=MAX_COMMENTS)
    assert _names(fifty, LOOKUP_SECRET, *INCLUDES) == one


@pytest.mark.embedded
def test_every_outcome_is_found_by_the_same_statement(crowd: Filled) -> None:
    """Of a user who is shown, private, banned or missing, alone and together."""
    asked = [["ada"], ["cleo"], ["mal"], ["nobody"], ["\0"], ["ada", "cleo", "mal", "nobody"]]
    found = [statements.of(lambda values=values: answers.users(values, "links"))[-1].sql for values in asked]  # type: ignore[misc]  # bound early
    assert len(set(found)) == 1


def test_stale_documents_are_rendered_in_one_number_of_statements(fifty: list[str]) -> None:
    counts = []
    for values in (fifty[:4], fifty):
        documents.mark_stale(Profile.objects.all())
        counts.append(len(_names(values)))
        assert _names(values) == [*KEY, "SELECT accounts_name"]
    assert counts[1] <= counts[0] + 2  # of a bulk write in batches


if settings.REDIS_URL:

    def test_a_batch_is_one_command_of_redis(fifty: list[str], redis_commands: list[str]) -> None:
        answers.users(fifty)
        redis_commands.clear()
        answers.users(fifty)
        assert redis_commands == ["EVALSHA"]
