"""Every statement of the lookups and of the ranking walks along indexes, however many users there are."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from lookup import leaderboards, people
from lookup.documents import documents, registry, resolve
from lookup.documents.resolve import EARLIER, Parts
from lookup.editing import badge_tiers
from lookup.models import Board, UserDocument
from lookup.views import api
from tests.lookup import many_users, statements
from tests.lookup.filled import row
from tests.lookup.statements import Statement

TYPES: dict[str, str | int] = {
    "username": "C1500",
    "uid": many_users.FIRST_UID + 1500,
    "id": row(0x100000 + 1500),
    "chat": str(many_users.FIRST_CHAT_ID + 1500),
}
FIRST = row(0x100000)
BY_INDEX = {"Index Scan", "Index Only Scan", "Bitmap Index Scan", "Bitmap Heap Scan"}
# What else a plan of one walk consists of; a sort of what an index has found is bounded by LIMIT.
JOINS = {"Nested Loop", "Limit", "Result", "Memoize", "Materialize"}


# How one column is made out of the comments of a lookup, of which there are 100 at most.
COMMENTS = {"Aggregate", "Sort", "CORRELATED SCALAR SUBQUERY", "CO-ROUTINE listed", "SCAN listed"}


def _explained(statement: Statement) -> list[str]:
    """The steps of its plan: of PostgreSQL each node with its table and index, of SQLite its own words."""
    prefix = "EXPLAIN (FORMAT JSON) " if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN "
    with connection.cursor() as cursor:
        cursor.execute(prefix + statement.sql, statement.values)
        found = cursor.fetchall()
    if connection.vendor == "sqlite":
        return [line[-1] for line in found]
    plan = json.loads(found[0][0]) if isinstance(found[0][0], str) else found[0][0]
    return [_summary_of(node) for node in _nodes(plan[0]["Plan"])]


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Any: JSON."""
    yield node
    for inner in node.get("Plans", []):
        yield from _nodes(inner)


def _summary_of(node: dict[str, Any]) -> str:
    parts = [node["Node Type"], node.get("Relation Name", ""), node.get("Index Name", "")]
    return " | ".join(part for part in parts if part)


def _is_walk(step: str) -> bool:
    """Whether the step is a search in an index, or glue between such."""
    if connection.vendor == "sqlite":
        return step.startswith("SEARCH ") and " INDEX " in step
    return step.split(" | ", maxsplit=1)[0] in BY_INDEX | JOINS


def _uses(steps: list[str], index: str) -> bool:
    """SQLite calls the index of a unique constraint by a name of its own."""
    return any(index in step or (connection.vendor == "sqlite" and "sqlite_autoindex" in step) for step in steps)


def _check(act: Callable[[], object], *, index: str = "", besides: Collection[str] = ()) -> None:
    """The one statement of `act` searches indexes alone, this one among them, and sorts nothing.

    `besides`: how steps begin that it may have all the same.
    """
    (statement,) = statements.of(act)
    steps = _explained(statement)
    assert [step for step in steps if not _is_walk(step) and not step.startswith(tuple(besides))] == [], (
        statement.sql,
        steps,
    )
    assert not index or _uses(steps, index), steps


pytestmark = [pytest.mark.embedded, pytest.mark.django_db]


@pytest.fixture(scope="module")
def many(module_db: None) -> None:
    many_users.gather()


def test_what_a_lookup_answers_is_found_by_indexes_alone(many: None) -> None:
    now = timezone.now()

    def read(by: str, value: str | int, *, is_alias_profile: bool = False) -> None:
        for texts, has_counters in (
            ((), False),
            (("profile", "links"), False),
            (tuple(registry.DOCUMENT_COLUMNS), True),
        ):
            wanted = Parts(texts, has_counters, has_counters, is_alias_profile)

            def act(wanted: Parts = wanted) -> None:
                found = resolve.read(by, value, wanted, now)
                assert found is not None
                assert found.fingerprint == documents.fingerprint()

            _check(act, besides=COMMENTS if has_counters else ())

    for by, value in TYPES.items():
        read(by, value)
    for name in ("A1500", "C1500"):
        read("username", name, is_alias_profile=True)
    of_alias = resolve.read("username", "A1500", Parts(is_alias_profile=True), now)
    assert of_alias is not None
    assert of_alias.profile_id == row(0x300000 + 1500)
    _check(lambda: resolve.read("username", "C1500", EARLIER, now))
    _check(lambda: resolve.read("uid", many_users.FIRST_UID + 1500, EARLIER, now))


# How a list of keys becomes rows; PostgreSQL's node of it has no table.
LISTED = {"Function Scan", "Result", "ProjectSet", "LIST SUBQUERY", "REUSE LIST SUBQUERY", "SCAN json_each"}
# How a user's comments are ordered before their authors are joined.
ORDERED = {"Subquery Scan", "MATERIALIZE c", "SCAN c", "USE TEMP B-TREE FOR ORDER BY"}


def test_a_batch_is_found_by_indexes_alone(many: None) -> None:
    now = timezone.now()
    for by, value in TYPES.items():
        for has_texts in (False, True):
            parts = Parts(tuple(registry.DOCUMENT_COLUMNS) * has_texts, has_texts, has_texts)
            asked = resolve.Batch(resolve.prepared(by, parts), (value,) * 50)
            _check(lambda asked=asked: resolve.answers_to(asked, (), now), besides=COMMENTS | LISTED)  # type: ignore[misc]  # bound early


def test_comments_of_several_users_are_found_by_indexes_alone(many: None) -> None:
    others = [row(0x100000 + n) for n in range(600, 649)]
    found = resolve.read_comments_of_many([FIRST, *others])
    assert found == {user: resolve.read_comments(user) for user in (FIRST, *others)}
    _check(lambda: resolve.read_comments_of_many([FIRST, *others]), besides=COMMENTS | LISTED | ORDERED)


def test_comments_come_in_the_order_of_their_index(many: None) -> None:
    assert len(resolve.read_comments(FIRST)) == 100
    _check(lambda: resolve.read_comments(FIRST), index="comment_in_shown_order")
    _check(lambda: resolve.read_comments(row(0x100000 + 700)))


def test_a_board_is_read_by_rank(many: None) -> None:
    for board, limit in itertools.product(Board, (1, 100)):

        def act(board: Board = board, limit: int = limit) -> None:
            assert len(leaderboards._BOARD.all(board.value, limit, documents.fingerprint())) == limit

        def compare(board: Board = board, limit: int = limit) -> None:
            assert len(leaderboards._BOARD_STATES.all(board.value, limit, documents.fingerprint())) == limit

        _check(act, index="leaderboard_rank_is_unique")
        _check(compare, index="leaderboard_rank_is_unique")


# A thousand of a million users, as here three of three thousand: with a third of all, a sort would be cheaper.
@pytest.mark.parametrize(
    ("board", "index"),
    [(Board.VIEWS, "user_document_by_views"), (Board.BADGES, "user_document_by_badges"), (Board.UID, "uid_key")],
)
def test_ranking_walks_an_index_from_its_start(
    many: None, monkeypatch: pytest.MonkeyPatch, board: Board, index: str
) -> None:
    monkeypatch.setattr(leaderboards, "DEPTH", 3)
    (ranked,) = [one for one in statements.of(lambda: leaderboards._best(board)) if one.name.startswith("SELECT")]
    steps = _explained(ranked)
    assert _uses(steps, index), steps
    unwanted = ("Sort", "Seq Scan", "TEMP B-TREE", "Hash")
    assert [step for step in steps if any(word in step for word in unwanted)] == []
    if connection.vendor == "sqlite":
        assert [step for step in steps if step.startswith("SCAN") and "INDEX" not in step] == []


def test_what_is_due_is_found_by_its_index(many: None) -> None:
    UserDocument.objects.filter(pk=FIRST).update(unlock_due=True)
    due, locked, *_ = [one for one in statements.of(badge_tiers.unlock) if one.name == "SELECT lookup_userdocument"]
    assert any("user_document_unlock_due" in step for step in _explained(due)), _explained(due)
    UserDocument.objects.update(unlock_due=True)  # of which the statistics know nothing yet
    assert not any("user_document_unlock_due" in step for step in _explained(locked)), _explained(locked)


def test_the_picture_of_a_chat_account_is_found_by_an_index(many: None) -> None:
    assert api.chat_avatar(FIRST).startswith(settings.CHAT_CDN_URL)
    _check(lambda: api.chat_avatar(FIRST))


def test_rendering_searches_for_the_rows_of_its_profile(many: None) -> None:
    """Tables with a handful of rows aside, which PostgreSQL rather reads whole."""
    asked = [one for one in statements.of(lambda: documents.rebuild(row(0x200000))) if one.sql.startswith("SELECT")]
    whole = [
        step
        for statement in asked
        for step in _explained(statement)
        if ("Seq Scan" in step or step.startswith("SCAN"))
        and any(name in step for name in ("_user", "_name", "document", "alias", "linkedaccount", "lookup_profile "))
    ]
    assert whole == []


def test_a_search_walks_the_indexes_for_prefixes_in_their_order(many: None) -> None:
    """Of PostgreSQL: SQLite reads the tables. A small table is rather read whole or sorted, unless that is off."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        for way in ("seqscan", "sort", "bitmapscan", "hashjoin", "mergejoin"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
    (statement,) = statements.of(lambda: people.find("c1", 20))
    steps = _explained(statement)
    for index in ("accounts_name_key", "user_display_name_folded", "profile_display_name_folded"):
        assert any(index in step for step in steps), steps
    assert [step for step in steps if step.startswith(("Seq Scan", "Sort", "Incremental Sort"))] == [], steps
