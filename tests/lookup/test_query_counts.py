"""Which statements each request costs. More of them need a reason here.

With Redis the key is in its cache, and costs no statement; without, it is read at each request.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from accounts import key_uses
from lookup import boards, documents
from lookup.models import Comment, Profile, UserDocument
from tests.factories.accounts import UserFactory
from tests.factories.lookup import (
    AudioFactory,
    BackgroundFactory,
    CustomBadgeFactory,
    GalleryItemFactory,
    LinkFactory,
    ProfileBadgeFactory,
    ProjectFactory,
    SectionFactory,
    WidgetFactory,
    shown,
)
from tests.lookup import answers, statements
from tests.lookup.answers import INCLUDES
from tests.lookup.filled import ADA, Filled

KEY = [] if settings.REDIS_URL else ["SELECT accounts_apikey"]  # who asks
TYPES = {
    "username": ("ada", "accounts_name"),
    "uid": ("1", "accounts_user"),
    "id": (ADA, "accounts_user"),
    "chat": ("80351110224678912", "accounts_linkedaccount"),
}
# What every lookup reads: the `user` object, and what decides whether it may be answered.
BASIC = (
    "u.id u.uid u.username u.display_name u.plan u.plan_expires_at u.is_active u.public_api_access u.is_verified "
    "u.is_inactive u.created_at chat.external_id scrobbler.name d.profile_id d.fingerprint d.avatar_path "
    "d.mirrors_chat f.views f.likes f.dislikes f.comments"
).split()
COLUMNS = {
    "profile": ["d.profile_text"],
    **{name: [f"d.{name}"] for name in ("badges", "widgets", "audios", "backgrounds", "links", "projects")},
    "gallery": ["d.gallery"],
    "sections": ["d.sections"],
    "aliases": ["f.aliases"],
    **{name: [] for name in ("views", "feedback", "comments")},  # counters, in every row
}


@pytest.fixture
def asked_before(filled: Filled) -> Filled:
    """Both keys have been used before, as at nearly every request."""
    key_uses.last_uses.clear()
    assert answers.user("ada").status == answers.earlier("ada").status == 200
    return filled


def _grow(filled: Filled) -> None:
    """A hundred rows of every kind."""
    made = (AudioFactory, BackgroundFactory, CustomBadgeFactory, GalleryItemFactory, LinkFactory, ProfileBadgeFactory)
    factories: tuple[Any, ...] = (*made, ProjectFactory, SectionFactory, WidgetFactory)  # of several models
    for factory in factories:
        factory.create_batch(100, profile=filled.profile)
    shown(filled.user)


@pytest.mark.parametrize("by", TYPES)
def test_a_lookup_is_the_key_and_one_statement(asked_before: Filled, by: str) -> None:
    value, table = TYPES[by]
    assert statements.names(lambda: answers.user(value, by=by)) == [*KEY, f"SELECT {table}"]
    for alias in ("true", "false"):
        names = statements.names(lambda alias=alias: answers.user(value, by=by, showAliasProfile=alias))  # type: ignore[misc]  # bound early
        assert names == [*KEY, f"SELECT {table}"]


def test_any_includes_are_one_statement_and_comments_a_second(asked_before: Filled, unlimited: None) -> None:
    for count in (1, 2, len(INCLUDES)):
        for asked in itertools.combinations(INCLUDES, count):
            expected = [*KEY, "SELECT accounts_name", *["SELECT lookup_comment"] * ("comments" in asked)]
            assert statements.names(lambda asked=asked: answers.user("lovelace", *asked)) == expected, asked  # type: ignore[misc]  # bound early


@pytest.mark.parametrize("by", TYPES)
def test_a_hundred_rows_of_each_kind_cost_what_one_costs(asked_before: Filled, by: str) -> None:
    value, table = TYPES[by]
    expected = [*KEY, f"SELECT {table}", "SELECT lookup_comment"]
    assert statements.names(lambda: answers.user(value, *INCLUDES, by=by)) == expected
    _grow(asked_before)
    assert len(answers.user(value, *INCLUDES, by=by).body["links"]) == 103
    assert statements.names(lambda: answers.user(value, *INCLUDES, by=by)) == expected
    Comment.objects.all().delete()
    assert statements.names(lambda: answers.user(value, *INCLUDES, by=by)) == expected


@pytest.mark.parametrize("include", [None, *INCLUDES])
def test_nothing_is_read_that_was_not_asked_for(asked_before: Filled, include: str | None) -> None:
    asked = [] if include is None else [include]
    found = [one for one in statements.of(lambda: answers.user("ada", *asked)) if one.name == "SELECT accounts_name"]
    assert [one.columns for one in found] == [[*BASIC, *(COLUMNS[include] if include else [])]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("type=x&value=ada", []),
        ("type=uid&value=ada", []),
        ("type=username&value=" + "a" * 65, []),
        ("type=username&value=%00", []),
        ("type=uid&value=" + "9" * 30, []),
        ("type=username&value=nobody&comments=true", ["SELECT accounts_name"]),
    ],
)
def test_a_question_without_an_answer_costs_no_more(asked_before: Filled, query: str, expected: list[str]) -> None:
    assert statements.names(lambda: answers.raw_user(query)) == [*KEY, *expected]


def test_a_key_that_is_missing_or_malformed_costs_nothing(asked_before: Filled) -> None:
    for secret in (None, "", "x" * 201, "sch\xfc"):
        assert statements.names(lambda secret=secret: answers.raw_user("type=uid&value=1", secret)) == []  # type: ignore[misc]  # bound early


@pytest.mark.parametrize(("by", "value"), [("username", "ada"), ("username", "lovelace"), ("uid", "1")])
def test_an_earlier_lookup_is_the_key_and_one_statement(asked_before: Filled, by: str, value: str) -> None:
    expected = [*KEY, f"SELECT accounts_{'name' if by == 'username' else 'user'}"]
    assert statements.names(lambda: answers.earlier(value, by=by)) == expected
    _grow(asked_before)
    found = statements.of(lambda: answers.earlier(value, by=by))
    assert [one.name for one in found] == expected
    assert found[-1].columns == [*BASIC, "d.earlier", "f.aliases"]


@pytest.mark.parametrize("name", ["views", "badges", "uid"])
@pytest.mark.parametrize("count", [1, 100])
def test_a_leaderboard_is_the_key_and_one_statement(asked_before: Filled, name: str, count: int) -> None:
    UserFactory.create_batch(100)
    boards.rank()
    found = statements.of(lambda: answers.board(name, limit=count))
    assert [one.name for one in found] == [*KEY, "SELECT lookup_leaderboardentry"]
    columns = (
        "e.rank e.score e.change u.uid u.username u.display_name chat.external_id u.is_verified u.created_at f.views "
        "d.leaderboard d.profile_id d.fingerprint"
    )
    assert found[-1].columns == columns.split()
    assert len(answers.board(name, limit=count).body) == count


@pytest.mark.parametrize("asked", [(), ("views",), ("links",), INCLUDES])
def test_a_stale_document_is_rendered_once(asked_before: Filled, asked: tuple[str, ...]) -> None:
    """Whatever is asked for: the picture in `user` is of the document."""
    before = answers.user("ada", *asked).text
    documents.mark_stale(Profile.objects.all())
    assert len(statements.of(lambda: answers.user("ada", *asked))) > len(KEY) + 2
    expected = [*KEY, "SELECT accounts_name", *["SELECT lookup_comment"] * ("comments" in asked)]
    assert statements.names(lambda: answers.user("ada", *asked)) == expected
    assert answers.user("ada", *asked).text == before


def test_stale_documents_of_a_board_are_rendered_in_one_number_of_statements(asked_before: Filled) -> None:
    UserFactory.create_batch(50)
    boards.rank()
    counts = []
    for limit in (4, 50):
        documents.mark_stale(Profile.objects.all())
        counts.append(len(statements.of(lambda limit=limit: answers.board("uid", limit=limit))))  # type: ignore[misc]  # bound early
        assert statements.names(lambda: answers.board("uid", limit=4)) == [*KEY, "SELECT lookup_leaderboardentry"]
    assert counts[1] <= counts[0] + 2  # of a bulk write in batches


def test_rendering_a_profile_costs_the_same_for_three_rows_and_for_a_hundred(asked_before: Filled) -> None:
    def render() -> int:
        return len(statements.of(lambda: documents.rebuild(asked_before.profile.pk)))

    few = render()
    _grow(asked_before)
    assert render() == few


def test_the_picture_of_a_chat_account_is_one_statement(asked_before: Filled) -> None:
    UserDocument.objects.update(views=0)
    path = f"/api/chat/avatar/{ADA}"
    assert statements.names(lambda: Client().get(path)) == ["SELECT accounts_linkedaccount"]


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
        asked_before: Filled, monkeypatch: pytest.MonkeyPatch, request_name: str
    ) -> None:
        from redis import Redis

        commands: list[str] = []
        execute: Callable[..., Any] = Redis.execute_command

        def noted(self: Redis, *arguments: Any, **options: Any) -> Any:
            """Any: as the library says."""
            commands.append(arguments[0])
            return execute(self, *arguments, **options)

        REQUESTS[request_name]()
        monkeypatch.setattr(Redis, "execute_command", noted)
        REQUESTS[request_name]()
        assert commands == ["EVALSHA"]
