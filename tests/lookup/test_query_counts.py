"""Which statements each request costs. More of them need a reason here.

With Redis the key is in its cache, and costs no statement; without, it is read at each request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from accounts.api_keys import uses
from lookup import leaderboards
from lookup.documents import documents, resolve
from lookup.documents.registry import DOCUMENT_COLUMNS
from lookup.documents.resolve import MAX_COMMENTS, Parts
from lookup.models import Profile, UserDocument
from lookup.views import api
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.lookup import answers, statements
from tests.lookup.answers import INCLUDES
from tests.lookup.filled import ADA, Filled

pytestmark = pytest.mark.embedded

KEY = [] if settings.REDIS_URL else ["SELECT accounts_apikey"]  # who asks
TYPES = {
    "username": ("ada", "accounts_name"),
    "uid": ("1", "accounts_user"),
    "id": (ADA, "accounts_user"),
    "chat": ("80351110224678912", "accounts_linkedaccount"),
}
# What every lookup reads: the `user` object, and what decides whether it may be answered; and the counters.
FRESH = "CASE WHEN d.user_version = u.public_version THEN d.fingerprint END"
BASIC = ["u.id", "u.is_active", "u.public_api_access", "d.profile_id", FRESH, "d.plan_ends", "d.head", "d.lapsed_head"]
COUNTERS = ["f.views", "f.likes", "f.dislikes", "f.comments", "f.aliases", "NULL"]


@pytest.fixture
def asked_before(filled: Filled) -> Filled:
    """Both keys have been used before, as at nearly every request. No answer of a leaderboard is kept."""
    leaderboards._kept.cache_clear()
    uses.buffer.clear()
    assert answers.user("ada").status == answers.earlier("ada").status == 200
    return filled


def _grow(filled: Filled) -> None:
    """Ten rows of every kind."""
    made = (
        make.AudioFactory,
        make.BackgroundFactory,
        make.CustomBadgeFactory,
        make.GalleryItemFactory,
        make.LinkFactory,
        make.ProfileBadgeFactory,
    )
    factories: tuple[Any, ...] = (
        *made,
        make.ProjectFactory,
        make.SectionFactory,
        make.WidgetFactory,
    )  # of several models
    for factory in factories:
        factory.create_batch(10, profile=filled.profile)
    make.shown(filled.user)


def _names(act: Callable[..., object], *arguments: Any, **options: Any) -> list[str]:
    """The statements of a call; Any: whatever it takes."""
    return statements.names(lambda: act(*arguments, **options))


@pytest.mark.parametrize("by", TYPES)
def test_a_lookup_is_the_key_and_one_statement_and_many_comments_a_second(asked_before: Filled, by: str) -> None:
    value, table = TYPES[by]
    one = [*KEY, f"SELECT {table}"]
    assert _names(answers.user, value, by=by) == one
    assert _names(answers.user, value, by=by, showAliasProfile="true") == one
    assert _names(answers.user, value, *INCLUDES[:-1], by=by) == one
    assert _names(answers.user, value, *INCLUDES, by=by) == [*one, "SELECT lookup_comment"]
    UserDocument.objects.update(comments=MAX_COMMENTS)
    assert _names(answers.user, value, *INCLUDES, by=by) == one


def test_ten_rows_of_each_kind_cost_what_one_costs(asked_before: Filled) -> None:
    rendered = len(statements.of(lambda: documents.rebuild(asked_before.profile.pk)))
    _grow(asked_before)
    assert len(statements.of(lambda: documents.rebuild(asked_before.profile.pk))) == rendered
    assert len(answers.user("ada", "links").body["links"]) == 13
    expected = [*KEY, "SELECT accounts_name", "SELECT lookup_comment"]
    assert _names(answers.user, "ada", *INCLUDES) == expected
    assert _names(answers.earlier, "ada") == expected[:-1]


def test_nothing_is_read_that_was_not_requested(asked_before: Filled) -> None:
    for include in (None, *INCLUDES):
        columns = BASIC if include in {None, *DOCUMENT_COLUMNS} else BASIC + COUNTERS
        if include == "comments":
            columns = [*columns[:-1], "CASE WHEN f.comments BETWEEN 1 AND 100 THEN  END"]
        query = "type=username&value=ada" + (f"&{include}=true" if include else "")
        first = statements.of(lambda query=query: api.answer(query, timezone.now()))[0]  # type: ignore[misc]  # bound early
        assert (first.name, first.columns[: len(columns)]) == ("SELECT accounts_name", columns)
        assert len(first.columns) == len(columns) + (len(DOCUMENT_COLUMNS) if include in DOCUMENT_COLUMNS else 0)
        if include in DOCUMENT_COLUMNS:
            row = resolve.read("username", "ADA", Parts((include,)), timezone.now())
            assert row is not None
            assert [name for name, text in row.texts.items() if bool(text)] == [include]
    (earlier_lookup,) = statements.of(lambda: api.earlier_answer("username", "ada"))
    assert earlier_lookup.columns == [*BASIC[:5], "NULL", "d.earlier", "NULL", *COUNTERS]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("type=x&value=ada", []),
        ("type=username&value=%00", []),
        ("type=uid&value=" + "9" * 30, []),
        ("type=username&value=nobody&comments=true", ["SELECT accounts_name"]),
    ],
)
def test_an_error_costs_no_more_than_an_answer(asked_before: Filled, query: str, expected: list[str]) -> None:
    assert _names(answers.raw_user, query) == [*KEY, *expected]


def test_comments_are_looked_for_where_there_are_some(asked_before: Filled) -> None:
    assert answers.user("ada", "comments").body["comments"]["items"]
    UserDocument.objects.update(comments=0)
    assert answers.user("ada", "comments").body["comments"] == {"count": 0, "items": []}


def test_many_comments_are_read_as_few_are(asked_before: Filled) -> None:
    many = answers.user("ada", "comments").body["comments"]
    assert len(many["items"]) == MAX_COMMENTS < many["count"]
    UserDocument.objects.update(comments=MAX_COMMENTS)
    assert answers.user("ada", "comments").body["comments"] == {**many, "count": MAX_COMMENTS}


def test_a_key_that_is_missing_or_malformed_costs_nothing(asked_before: Filled) -> None:
    for secret in (None, "x" * 201, "sch\xfc"):
        assert _names(answers.raw_user, "type=uid&value=1", secret) == []


def test_a_leaderboard_is_the_key_and_one_statement(asked_before: Filled) -> None:
    UserFactory.create_batch(10)
    leaderboards.rank()
    columns = ["e.score", "e.change", "f.views", "d.leaderboard", "f.profile_id"]
    for name, count in (("views", 1), ("views", 10), ("badges", 10), ("uid", 10)):
        for read in (columns, []):  # the texts are read once
            found = statements.of(lambda name=name, count=count: answers.board(name, limit=count))  # type: ignore[misc]  # bound early
            assert [one.name for one in found] == [*KEY, "SELECT lookup_leaderboardentry"]
            assert found[-1].columns[1:] == read
            assert "d.user_version = u.public_version AND d.fingerprint = %s" in found[-1].columns[0]
        assert len(answers.board(name, limit=count).body) == count


def test_a_change_of_a_leaderboard_costs_one_more_statement(asked_before: Filled) -> None:
    leaderboards.rank()
    assert _names(answers.board, "uid") == [*KEY, "SELECT lookup_leaderboardentry"]
    UserDocument.objects.filter(pk=ADA).update(views=77)
    assert _names(answers.board, "uid") == [*KEY, *(["SELECT lookup_leaderboardentry"] * 2)]
    assert _names(answers.board, "uid") == [*KEY, "SELECT lookup_leaderboardentry"]


def test_a_stale_document_is_rendered_once(asked_before: Filled) -> None:
    """Whatever is requested: the picture in `user` is of the document."""
    before = answers.user("ada").text
    documents.mark_stale(Profile.objects.all())
    assert len(_names(answers.user, "ada")) > len(KEY) + 2
    assert _names(answers.user, "ada") == [*KEY, "SELECT accounts_name"]
    assert answers.user("ada").text == before


def test_stale_documents_of_a_board_are_rendered_in_one_number_of_statements(asked_before: Filled) -> None:
    UserFactory.create_batch(20)
    leaderboards.rank()
    counts = []
    for limit in (4, 20):
        documents.mark_stale(Profile.objects.all())
        counts.append(len(statements.of(lambda limit=limit: answers.board("uid", limit=limit))))  # type: ignore[misc]  # bound early
        assert statements.names(lambda: answers.board("uid", limit=4)) == [*KEY, "SELECT lookup_leaderboardentry"]
    assert counts[1] <= counts[0] + 2  # of a bulk write in batches


if settings.REDIS_URL:
    REQUESTS: dict[str, Callable[[], answers.Answer]] = {
        "lookup": lambda: answers.user("ada"),
        "lookup with everything": lambda: answers.user("ada", *INCLUDES),
        "lookup of nobody": lambda: answers.user("nobody"),
        "lookup with a bad type": lambda: answers.raw_user("type=x&value=y"),
        "lookup without a key": lambda: answers.raw_user("type=uid&value=1", None),
        "earlier lookup": lambda: answers.earlier("ada"),
        "earlier lookup by uid": lambda: answers.earlier("1", by="uid"),
        "leaderboard": lambda: answers.board("views"),
        "unknown path": lambda: answers.get("/api/nothing", "error"),
    }

    @pytest.mark.parametrize("request_name", REQUESTS)
    def test_a_request_is_one_command_of_redis(
        asked_before: Filled, redis_commands: list[str], request_name: str
    ) -> None:
        REQUESTS[request_name]()
        redis_commands.clear()
        REQUESTS[request_name]()
        assert redis_commands == ["EVALSHA"]
