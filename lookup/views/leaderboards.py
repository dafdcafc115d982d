"""GET /api/leaderboard/views, /badges and /uid."""

from __future__ import annotations

import functools
import re
from typing import ClassVar

from infrastructure.requests import request_context
from lookup import openapi
from lookup.documents import documents, sql
from lookup.documents.sql import BoardRow
from lookup.errors import LimitInvalid
from lookup.models import Board
from lookup.views.earlier import EarlierView

DEFAULT_LIMIT, MAX_LIMIT = 10, 100
MOST_KEPT = 6  # answers that a process keeps, of up to some hundred kB
_LIMIT = re.compile(r"[0-9]{1,3}")


class Leaderboard(EarlierView):
    board: ClassVar[Board]

    def get(self, request: request_context.Request) -> bytes:
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


class KeptAnswer:
    """The last answer of a board, with the states of its entries; None where there is none."""

    latest: tuple[list[bytes | None], bytes] | None = None


@functools.lru_cache(maxsize=MOST_KEPT)
def _kept(board: Board, limit: int) -> KeptAnswer:
    return KeptAnswer()


def answer(board: Board, limit: int) -> bytes:
    """Return the first `limit` entries, their ranks without a gap. 1 query where none of them has changed since the
    last answer, or there was none; else 2, and stale documents are rendered first."""
    kept = _kept(board, limit)
    latest = kept.latest  # once: another thread may replace it
    if latest is not None and latest[0] == sql.read_board_states(board, limit, documents.fingerprint()):
        return latest[1]
    found = _read(board, limit)
    body = b"[%b]" % b",".join([_entry(rank, row) for rank, row in enumerate(found, start=1)])
    kept.latest = ([row.state for row in found], body) if all(row.has_digest for row in found) else None
    return body


def _read(board: Board, limit: int) -> list[BoardRow]:
    found = sql.read_board(board, limit, documents.fingerprint())
    stale = [row.profile_id for row in found if row.state is None]
    if stale:
        documents.refresh(*stale)
        found = sql.read_board(board, limit, documents.fingerprint())
    return [row for row in found if row.text is not None]  # None: deleted since


def _entry(rank: int, row: BoardRow) -> bytes:
    user = b"%b%d}" % (row.text or b"", row.views)
    return b'{"rank":%d,"user":%b,"score":%d,"change":%d}' % (rank, user, row.score, row.change)


def _limit(value: str | None) -> int:
    if value is None or not _LIMIT.fullmatch(value) or not 1 <= int(value) <= MAX_LIMIT:
        raise LimitInvalid
    return int(value)
