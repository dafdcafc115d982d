"""What the signed-in visitor of a profile page has done there, and may do."""

from __future__ import annotations

from dataclasses import dataclass, field

from accounts.models import User
from lookup.page.context import ProfilePage
from lookup.page.presenters import Comment
from lookup.serializers.rows import UserRow
from lookup.social import threads


@dataclass(frozen=True)
class Viewer:
    """`vote`: whether they like the profile, None without a vote. `liked`: ids of comments. `here`: the path that forms
    lead back to."""

    id: str
    here: str
    is_owner: bool
    is_blocked: bool = False
    vote: bool | None = None
    liked: frozenset[str] = field(default_factory=frozenset)

    @property
    def may_write(self) -> bool:
        return not self.is_blocked


def of_page(page: ProfilePage, viewer: User, here: str) -> Viewer:
    """Return the viewer of a profile page. At most 3 queries."""
    return of_comments(page.user, page.comments, viewer, here, has_votes=page.has_votes)


def of_comments(user: UserRow, shown: list[Comment], viewer: User, here: str, *, has_votes: bool = False) -> Viewer:
    """Return the viewer of a page of comments. At most 3 queries; 1 where the viewer is the owner."""
    is_owner = viewer.pk == user.id
    ids = [one.id for comment in shown for one in (comment, *comment.replies)]
    return Viewer(
        id=viewer.pk,
        here=here,
        is_owner=is_owner,
        is_blocked=not is_owner and threads.is_blocked(viewer.pk, user.id),
        vote=threads.vote_of(viewer.pk, user.id) if has_votes and not is_owner else None,
        liked=threads.liked_by(viewer.pk, ids),
    )
