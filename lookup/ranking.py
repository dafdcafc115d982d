"""The three leaderboards, ranked into a snapshot that the endpoints read."""

from __future__ import annotations

from django.db import transaction

from accounts.models import User
from infrastructure.databases import bulk
from lookup.documents import documents
from lookup.models import Board, LeaderboardEntry, Profile, ProfileDocument, UserDocument

# Ten times what an endpoint shows: who comes up from further below counts as new, and ranking a million users costs as
# little as ranking a thousand.
DEPTH = 1000
AT_ONCE = 50  # documents that are locked and rendered together


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
