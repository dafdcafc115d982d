"""Queries and paths that nobody sends by mistake: each gets a documented error, none a server error."""

from __future__ import annotations

import itertools
import random
from urllib.parse import quote

import pytest
from django.test import Client

from accounts.models import User
from tests.lookup import answers, expected_current
from tests.lookup.answers import ACCOUNT_SECRET, INCLUDES, LOOKUP_SECRET, NOT_FOUND, TYPE_INVALID, VALUE_INVALID
from tests.lookup.filled import Filled

# Bytes as they stand in a query string or path.
NASTY = (
    *("%00", "ada%00", "%00ada", "%ff", "%ff%fe", "%c0%80", "%ed%a0%80", "%f0%9f%8c%b1", "%e2%80%ae", "%0d%0aX:%201"),
    *("%27%20OR%201=1--", "%22", "%5c", "%25", "%25s", "%25(x)s", "_", "a%25", "%7b%7d", "..%2f..%2fetc", "%2e%2e"),
    *("%c4%b1", "%c5%bf", "%ef%bd%81da", "ada%cc%81", "%c7%85", "ad%d0%b0", "null", "undefined", "[object%20Object]"),
)


@pytest.mark.parametrize("by", ["username", "id", "chat"])
def test_a_nasty_value_names_nobody(filled: Filled, unlimited: None, by: str) -> None:
    for value in NASTY:
        assert answers.raw_user(f"type={by}&value={value}&comments=true").whole == NOT_FOUND, value


def test_a_nasty_uid_is_refused(filled: Filled, unlimited: None) -> None:
    for value in NASTY:
        assert answers.raw_user(f"type=uid&value={value}").whole == VALUE_INVALID, value


def test_a_nasty_type_is_refused(filled: Filled, unlimited: None) -> None:
    for value in NASTY:
        assert answers.raw_user(f"type={value}&value=ada").whole == TYPE_INVALID, value


@pytest.mark.parametrize("by", ["username", "uid"])
def test_a_nasty_path_of_the_earlier_form_is_404(filled: Filled, unlimited: None, by: str) -> None:
    """A slash or a NUL makes it another path."""
    for value in NASTY:
        answer = answers.get(f"/api/lookup/{by}/{value}?key={ACCOUNT_SECRET}", "earlier")
        is_path = "%00" not in value and "%2f" not in value and value != "%2e%2e"
        assert answer.whole == (NOT_FOUND if is_path else answer.whole), value
        assert answer.status == 404, value


@pytest.mark.parametrize("value", NASTY)
def test_a_nasty_key_is_invalid(filled: Filled, value: str) -> None:
    answer = answers.get(f"/api/leaderboard/views?key={value}", "leaderboard")
    assert answer.whole == (404, {"error": "Invalid API key.", "code": "INVALID_API_KEY"})


@pytest.mark.parametrize("name", ["\u017fomebody", "Straße", "ﬁ", "İda", "ıda"])  # noqa: RUF001 - they fold to ASCII
def test_letters_that_fold_to_ascii_are_other_names(filled: Filled, name: str) -> None:
    User.objects.filter(username="Ben").update(username="Somebody")
    assert answers.user(name).whole == NOT_FOUND
    assert answers.earlier(name).whole == NOT_FOUND


@pytest.mark.parametrize(
    "query",
    [
        "",
        "&",
        "=",
        "&&&=&",
        "type",
        "type&value",
        "value=ada&type",
        "type=username;value=ada",
        "?type=username&value=ada",
        "%74ype=username%26value=ada",
        "type=username&value",
        "type=username&value=" + "%61" * 65,
        "type=username&value=" + "a" * 100_000,
        "type=" + "u" * 100_000 + "&value=ada",
    ],
)
def test_a_broken_query_is_400(filled: Filled, query: str) -> None:
    answer = answers.raw_user(query)
    assert answer.whole in {TYPE_INVALID[0]: (TYPE_INVALID, VALUE_INVALID)}[answer.status]


def test_a_thousand_parameters_are_no_server_error(filled: Filled) -> None:
    """Django refuses to read more than it was told to."""
    query = "type=username&value=ada&" + "&".join(f"p{number}=true" for number in range(1100))
    response = Client().get(f"/api/lookup/user?{query}", headers={"X-API-Key": LOOKUP_SECRET})
    assert response.status_code in {200, 400}
    assert response.headers["Content-Type"] == "application/json"


def test_escaped_letters_of_a_value_count_once(filled: Filled) -> None:
    assert answers.raw_user("type=chat&value=" + "%f0%9f%8c%b1" * 64).whole == NOT_FOUND
    assert answers.raw_user("type=chat&value=" + "%f0%9f%8c%b1" * 65).whole == VALUE_INVALID
    assert answers.raw_user("type=username&value=%61%64%61").body["user"] == expected_current.USER
    assert answers.raw_user("type=username&value=a+da").whole == NOT_FOUND


def test_any_mixture_of_parameters_is_a_documented_answer(filled: Filled, unlimited: None) -> None:
    """300 queries out of a hat, the same each time; `answers` holds each against its schema."""
    hat = random.Random(2)  # noqa: S311 - nothing secret
    types = ["username", "uid", "id", "chat", "Username", "", "x"]
    values = ["ada", "1", "0", "countess", "lovelace", "", "80351110224678912", filled.user.pk, "\x00", "🌱", "a" * 65]
    flags = ["true", "false", "True", "", "1"]
    for _ in range(300):
        pairs = [("type", hat.choice(types)), ("value", hat.choice(values))]
        pairs += [(name, hat.choice(flags)) for name in hat.sample([*INCLUDES, "showAliasProfile", "x"], 6)]
        pairs = hat.sample(pairs, len(pairs) - hat.choice([0, 0, 0, 1]))
        answer = answers.raw_user("&".join(f"{name}={quote(value)}" for name, value in pairs))
        assert answer.status in {200, 400, 404}
        if answer.status == 200:
            asked = {name for name, value in pairs if value == "true"}
            assert list(answer.body) == ["error", "user", *(name for name in INCLUDES if name in asked)]


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Real-IP", "Forwarded", "CF-Connecting-IP"])
def test_no_header_moves_a_caller_to_another_address(operator: User, header: str) -> None:
    for number in itertools.count():
        headers = {header: f"198.51.100.{number}", "X-API-Key": "wrong"}
        answer = answers.get("/api/lookup/user?type=uid&value=0", "current", headers)
        if answer.status == 429:
            break
        assert answer.status == 401
    assert number == 60


def test_a_host_that_is_not_ours_is_400_in_json(operator: User) -> None:
    response = Client().get("/api/lookup/user?type=uid&value=0", headers={"Host": "evil.example"})
    assert response.status_code == 400
    assert response.headers["Content-Type"] == "application/json"


def test_text_that_could_end_a_script_or_a_string_stays_json(filled: Filled) -> None:
    from lookup import profiles

    text = '</script><!-- \u2028\u2029\u202e " \\ \\u0000 \x1f\x7f \U0001f331 ﷽'
    filled.profile.description = text
    filled.profile.save()
    profiles.touch(filled.profile.pk)
    assert answers.user("ada", "profile").body["profile"]["description"] == text
    assert answers.earlier("ada").body["profile"]["description"] == text
