"""GET /api/leaderboard/views, /badges and /uid."""

from __future__ import annotations

import re
from typing import ClassVar

from accounts import hot
from lookup import documents, openapi, rows
from lookup.errors import LimitInvalid
from lookup.models import Board
from lookup.rows import BoardRow
from lookup.views.earlier import EarlierView

DEFAULT_LIMIT, MAX_LIMIT = 10, 100
_LIMIT = re.compile(r"[0-9]{1,3}")


class Leaderboard(EarlierView):
    board: ClassVar[Board]

    def get(self, request: hot.Request) -> bytes:
        return answer(self.board, _limit(request.query.single("limit", str(DEFAULT_LIMIT))))


@openapi.board("views", "profile views")
class ViewsLeaderboard(Leaderboard):
    board = Board.VIEWS


@openapi.board("badges", "number of enabled badges")
class BadgesLeaderboard(Leaderboard):
    board = Board.BADGES


@openapi.board("uid", "uid")
class UidLeaderboard(Leaderboard):
    board = Board.UID


def answer(board: Board, limit: int) -> bytes:
    """The first `limit` entries, their ranks without a gap. 1 query; stale documents are rendered first."""
    found = rows.read_board(board, limit, documents.fingerprint())
    stale = [row.stale_profile_id for row in found if row.stale_profile_id is not None]
    if stale:
        documents.refresh(*stale)
        found = rows.read_board(board, limit, documents.fingerprint())
    shown = [row for row in found if row.text is not None]  # the others have been deleted meanwhile
    return b"[%b]" % b",".join([_entry(rank, row) for rank, row in enumerate(shown, start=1)])


def _entry(rank: int, row: BoardRow) -> bytes:
    score, change, views, text, _ = row
    return b'{"rank":%d,"user":%b%d},"score":%d,"change":%d}' % (rank, text or b"", views, score, change)


def _limit(value: str | None) -> int:
    if value is None or not _LIMIT.fullmatch(value) or not 1 <= int(value) <= MAX_LIMIT:
        raise LimitInvalid
    return int(value)
