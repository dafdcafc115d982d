"""The three leaderboards, ranked into a snapshot that the endpoints and the pages read."""

from __future__ import annotations

import functools
from typing import NamedTuple

from django.db import transaction

from accounts.models import User
from infrastructure.databases import bulk
from infrastructure.databases.statements import Statement
from lookup.documents import documents
from lookup.models import Board, LeaderboardEntry, Profile, ProfileDocument, UserDocument
from lookup.people import PERSON, PERSON_TYPES, PersonRow

# Ten times what an endpoint shows: who comes up from further below counts as new, and ranking a million users costs as
# little as ranking a thousand.
DEPTH = 1000
AT_ONCE = 50  # documents that are locked and rendered together
MOST_KEPT = 6  # answers that a process keeps, of up to some hundred kB

# All that an entry depends on, as one text, which is sent and compared sooner than columns; NULL: the document has to
# be rendered.
_BOARD_STATE = """e.score || ' ' || e.change || ' ' || f.views || ' ' ||
    CASE WHEN d.user_version = u.public_version AND d.fingerprint = $3 THEN d.leaderboard_digest END"""
_BOARD_SOURCE = """
    FROM lookup_leaderboardentry e
    JOIN accounts_user u ON u.id = e.user_id AND u.is_active AND u.public_api_access
    JOIN lookup_userdocument f ON f.user_id = u.id
    LEFT JOIN lookup_profiledocument d ON d.user_id = u.id AND d.is_main
    WHERE e.board = $1
    ORDER BY e.rank
    LIMIT $2
"""
_BOARD_STATES = Statement(f"SELECT {_BOARD_STATE}{_BOARD_SOURCE}", "t")
_BOARD = Statement(
    f"SELECT {_BOARD_STATE}, e.score, e.change, f.views, d.leaderboard, f.profile_id{_BOARD_SOURCE}", "tiiits"
)
_MAIN_DISPLAY_NAME = "(SELECT p.display_name FROM lookup_profile p WHERE p.id = f.profile_id)"
# The columns are the fields of PlaceRow.
_PLACES = Statement(
    f"SELECT e.score, e.change, e.is_new, {PERSON.format(profile=_MAIN_DISPLAY_NAME)}{_BOARD_SOURCE}",
    f"iib{PERSON_TYPES}",
)


class PlaceRow(NamedTuple):
    """A place on a leaderboard as the page shows it."""

    score: int
    change: int
    is_new: bool
    person: PersonRow


class BoardRow(NamedTuple):
    """A place on a leaderboard with its user as the read model holds it.

    `state`: changes with anything else of the entry; None: the document is stale.
    `change`: as the ranking stored it; users who left the board since then do not count.
    """

    state: bytes | None
    score: int
    change: int
    views: int
    text: bytes | None
    profile_id: str

    @property
    def has_digest(self) -> bool:
        """Whether `state` covers the text: documents of an earlier release have no digest."""
        return self.state is not None and not self.state.endswith(b" ")


@transaction.atomic
def rank() -> int:
    """Rank every board; return the number of places. Readers see the old snapshot until the new one is complete."""
    return sum(_rank(board) for board in Board)


def _rank(board: Board) -> int:
    found = _best(board)
    previous = dict(LeaderboardEntry.objects.filter(board=board).values_list("user_id", "rank"))
    LeaderboardEntry.objects.filter(board=board).delete()
    bulk.insert(
        [
            bulk.build(
                LeaderboardEntry,
                board=board,
                rank=rank,
                user_id=user_id,
                score=score,
                change=previous.get(user_id, rank) - rank,
                is_new=bool(previous) and user_id not in previous,
            )
            for rank, (user_id, score) in enumerate(found, start=1)
        ]
    )
    return len(found)


def _best(board: Board) -> list[tuple[str, int]]:
    """Return visible users and their scores, best first, ties by uid. 1 query, along an index."""
    if board is Board.UID:
        users = User.objects.filter(is_active=True, public_api_access=True).order_by("uid")
        return list(users.values_list("pk", "uid")[:DEPTH])
    score = {Board.VIEWS: "views", Board.BADGES: "badge_count"}[board]
    rows = UserDocument.objects.filter(user__is_active=True, user__public_api_access=True)
    return list(rows.order_by(f"-{score}", "uid").values_list("pk", score)[:DEPTH])


def render_stale() -> None:
    """Render stale documents of users on the boards, a few at a time, so that no reader has to wait for it."""
    ranked = Profile.objects.filter(is_main=True, user__leaderboard_entries__isnull=False)
    stale = ProfileDocument.objects.exclude(documents.is_fresh()).filter(profile__in=ranked)
    ids = list(stale.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), AT_ONCE):
        documents.refresh(*ids[start : start + AT_ONCE])


def places(board: Board, limit: int) -> list[PlaceRow]:
    """Return the first `limit` places of visible users, in order, for the page. 1 query."""
    return [
        PlaceRow(score, change, is_new, PersonRow._make(person))
        for score, change, is_new, *person in _PLACES.all(str(board), limit)
    ]


class KeptAnswer:
    """The last answer of a board, with the states of its entries; None where there is none."""

    latest: tuple[list[bytes | None], bytes] | None = None


@functools.lru_cache(maxsize=MOST_KEPT)
def _kept(board: Board, limit: int) -> KeptAnswer:
    return KeptAnswer()


def answer(board: Board, limit: int) -> bytes:
    """Return the first `limit` entries of visible users, their ranks without a gap, as JSON.

    1 query where none of them has changed since the last answer, or there was none; else 2, and stale documents are
    rendered first.
    """
    kept = _kept(board, limit)
    latest = kept.latest  # once: another thread may replace it
    if latest is not None:
        states = [state for (state,) in _BOARD_STATES.all(str(board), limit, documents.fingerprint())]
        if latest[0] == states:
            return latest[1]
    found = _read(board, limit)
    if stale := [row.profile_id for row in found if row.state is None]:
        documents.refresh(*stale)
        found = _read(board, limit)
    found = [row for row in found if row.text is not None]  # None: deleted since
    body = b"[%b]" % b",".join([_entry(rank, row) for rank, row in enumerate(found, start=1)])
    kept.latest = ([row.state for row in found], body) if all(row.has_digest for row in found) else None
    return body


def _read(board: Board, limit: int) -> list[BoardRow]:
    return [BoardRow._make(row) for row in _BOARD.all(str(board), limit, documents.fingerprint())]


def _entry(rank: int, row: BoardRow) -> bytes:
    user = b"%b%d}" % (row.text or b"", row.views)
    return b'{"rank":%d,"user":%b,"score":%d,"change":%d}' % (rank, user, row.score, row.change)
