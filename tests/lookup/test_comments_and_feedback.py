"""Comments, replies, likes, pins and votes: what lookups show of them, and which ones they count."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from accounts import bans, users
from accounts.models import User
from lookup.documents import counters, document_checks
from lookup.models import Comment, FeedbackVote, UserDocument
from lookup.social import comments, feedback
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.lookup import CommentFactory, shown
from tests.lookup import answers
from tests.lookup.filled import START, row


@pytest.fixture
def owner(operator: User) -> User:
    return UserFactory(username="Ada")


@pytest.fixture
def visitors(owner: User) -> list[User]:
    return UserFactory.create_batch(3)


def _comments() -> Any:
    """`comments` of Ada, a JSON object."""
    return answers.user("ada", "comments").body["comments"]


def _contents() -> list[str]:
    return [item["content"] for item in _comments()["items"]]


def _feedback() -> tuple[int, int]:
    """Likes and dislikes of Ada."""
    found = answers.user("ada", "feedback").body["feedback"]
    return found["likes"], found["dislikes"]


def _figures(content: str) -> tuple[int, int]:
    """Likes and replies of the comment with this content."""
    (item,) = [item for item in _comments()["items"] if item["content"] == content]
    return item["likeCount"], item["replyCount"]


@pytest.mark.parametrize("count", [99, 100, 101])
def test_the_count_is_the_full_total(owner: User, count: int) -> None:
    author = UserFactory()
    Comment.objects.bulk_create(Comment(user=owner, author=author, content=str(number)) for number in range(count))
    shown(owner)
    found = _comments()
    assert (found["count"], len(found["items"])) == (count, min(count, 100))


def test_pinned_ones_come_first_and_the_newest_of_each_kind(owner: User) -> None:
    moments = {"old": 0, "older pinned": 1, "newer pinned": 2, "newest": 3}
    for content, days in moments.items():
        at = START + timedelta(days=days)
        CommentFactory(user=owner, content=content, is_pinned="pinned" in content, created_at=at)
    shown(owner)
    assert _contents() == ["newer pinned", "older pinned", "newest", "old"]


def test_comments_of_the_same_second_are_in_the_order_of_their_ids(owner: User) -> None:
    for number in (3, 1, 2):
        CommentFactory(id=row(number), user=owner, content=str(number), created_at=START)
    shown(owner)
    for _ in range(2):
        assert _contents() == ["1", "2", "3"]
        counters.recount_comments([row(3), row(1)])  # writes the rows anew, elsewhere in the table


def test_writing_and_deleting_is_seen_at_once(owner: User, visitors: list[User]) -> None:
    first = comments.write(user=owner, content="  Hello\nworld ", by=visitors[0])
    second = comments.write(user=owner, content="Again", by=visitors[0])
    assert _contents() == ["Again", "Hello\nworld"]
    assert _comments()["count"] == 2
    comments.delete(comment=first, by=visitors[0])
    assert (_contents(), _comments()["count"]) == (["Again"], 1)
    comments.delete(comment=second, by=owner)
    assert _comments() == {"count": 0, "items": []}


def test_a_reply_is_counted_but_not_listed(owner: User, visitors: list[User]) -> None:
    comment = comments.write(user=owner, content="Hello", by=visitors[0])
    reply = comments.write(user=owner, content="Well", parent=comment, by=visitors[1])
    comments.write(user=owner, content="Well, well", parent=comment, by=owner)
    assert (_contents(), _comments()["count"], _figures("Hello")) == (["Hello"], 1, (0, 2))
    comments.delete(comment=reply, by=visitors[1])
    assert _figures("Hello") == (0, 1)
    comments.delete(comment=comment, by=StaffFactory(), by_staff=True)
    assert _comments() == {"count": 0, "items": []}
    assert not Comment.objects.exists()


def test_pinning_is_for_the_owner_and_staff(owner: User, visitors: list[User]) -> None:
    for content in ("old", "new"):
        comments.write(user=owner, content=content, by=visitors[0])
    old = Comment.objects.get(content="old")
    with pytest.raises(PermissionDenied):
        comments.pin(comment=old, is_pinned=True, by=visitors[0])
    assert _contents() == ["new", "old"]
    comments.pin(comment=old, is_pinned=True, by=owner)
    assert _contents() == ["old", "new"]
    comments.pin(comment=old, is_pinned=False, by=StaffFactory(), by_staff=True)
    assert _contents() == ["new", "old"]
    reply = comments.write(user=owner, content="reply", parent=old, by=owner)
    with pytest.raises(ValidationError):
        comments.pin(comment=reply, is_pinned=True, by=owner)
    Comment.objects.filter(pk=old.pk).delete()
    with pytest.raises(Comment.DoesNotExist):
        comments.pin(comment=old, is_pinned=True, by=owner)


@pytest.mark.parametrize("content", ["", " \n", "x" * 2001, "a\x00b"])
def test_what_is_no_comment_is_refused_and_not_counted(owner: User, visitors: list[User], content: str) -> None:
    with pytest.raises(ValidationError):
        comments.write(user=owner, content=content, by=visitors[0])
    assert _comments() == {"count": 0, "items": []}
    assert len(comments.write(user=owner, content=f" {'x' * 2000} ", by=visitors[0]).content) == 2000


def test_a_reply_belongs_to_a_comment_on_the_same_profile(owner: User, visitors: list[User]) -> None:
    elsewhere = comments.write(user=visitors[0], content="There", by=visitors[1])
    here = comments.write(user=owner, content="Here", by=visitors[1])
    reply = comments.write(user=owner, content="Reply", parent=here, by=visitors[1])
    for parent in (elsewhere, reply):
        with pytest.raises(ValidationError):
            comments.write(user=owner, content="No", parent=parent, by=visitors[1])
    assert _figures("Here") == (0, 1)


ACTS: dict[str, Callable[[User, Comment], object]] = {
    "vote": lambda user, comment: feedback.vote(user=comment.user, is_like=True, by=user),
    "withdraw a vote": lambda user, comment: feedback.withdraw(user=comment.user, by=user),
    "comment": lambda user, comment: comments.write(user=comment.user, content="x", by=user),
    "reply": lambda user, comment: comments.write(user=comment.user, content="x", parent=comment, by=user),
    "like": lambda user, comment: comments.like(comment=comment, by=user),
    "unlike": lambda user, comment: comments.unlike(comment=comment, by=user),
}


@pytest.mark.parametrize("act", ACTS)
def test_a_banned_user_can_do_nothing(owner: User, visitors: list[User], act: str) -> None:
    comment = comments.write(user=owner, content="Hello", by=visitors[1])
    comments.like(comment=comment, by=visitors[2])
    still_active = User.objects.get(pk=visitors[0].pk)  # as a request has read it before the ban
    bans.ban(user=visitors[0], by=None, reason="x")
    with pytest.raises(PermissionDenied):
        ACTS[act](still_active, comment)
    assert (_contents(), _comments()["count"], _figures("Hello"), _feedback()) == (["Hello"], 1, (1, 0), (0, 0))


@pytest.fixture
def busy(owner: User, visitors: list[User]) -> User:
    """A user who voted, commented, replied and liked, as another user did."""
    for user in visitors[:2]:
        comment = comments.write(user=owner, content=f"Of {user.pk}", by=user)
        first = Comment.objects.order_by("created_at")[0]
        comments.write(user=owner, content="Reply", parent=first, by=user)
        comments.like(comment=first, by=user)
        comments.pin(comment=comment, is_pinned=True, by=owner)
    feedback.vote(user=owner, is_like=True, by=visitors[0])
    feedback.vote(user=owner, is_like=False, by=visitors[1])
    return visitors[1]


def _whole() -> str:
    return answers.user("ada", "feedback", "comments").text


def test_a_ban_takes_all_of_it_away_at_once_and_its_end_brings_it_back(owner: User, busy: User) -> None:
    before = _whole()
    first = Comment.objects.order_by("created_at")[0]
    assert (_figures(first.content), _comments()["count"], _feedback()) == ((2, 2), 2, (1, 1))
    bans.ban(user=busy, by=None, reason="x")
    assert (_figures(first.content), _comments()["count"], _feedback()) == ((1, 1), 1, (1, 0))
    assert _contents() == [first.content]
    bans.lift(user=busy, by=None, reason="x")
    assert _whole() == before
    assert list(document_checks.differences()) == []


def test_a_deletion_takes_all_of_it_away_for_ever(owner: User, busy: User) -> None:
    users.delete(user=busy, by=None)
    first = Comment.objects.get(parent=None)
    assert (_figures(first.content), _comments()["count"], _feedback()) == ((1, 1), 1, (1, 0))
    assert FeedbackVote.objects.count() == 1
    assert list(document_checks.differences()) == []


def test_the_replies_of_others_go_with_the_comment_of_a_deleted_user(owner: User, visitors: list[User]) -> None:
    comment = comments.write(user=owner, content="Hello", by=visitors[0])
    comments.write(user=owner, content="Reply", parent=comment, by=visitors[1])
    users.delete(user=visitors[0], by=None)
    assert _comments() == {"count": 0, "items": []}
    assert not Comment.objects.exists()


def test_what_an_import_counted_is_counted(owner: User, visitors: list[User]) -> None:
    UserDocument.objects.filter(user=owner).update(imported_likes=10, imported_dislikes=20, imported_comments=30)
    comment = CommentFactory(user=owner, imported_like_count=5, imported_reply_count=6, created_at=timezone.now())
    shown(owner)
    feedback.vote(user=owner, is_like=True, by=visitors[0])
    comments.like(comment=comment, by=visitors[0])
    assert (_feedback(), _comments()["count"], _figures(comment.content)) == ((11, 20), 31, (6, 6))
    bans.ban(user=visitors[0], by=None, reason="x")
    assert (_feedback(), _comments()["count"], _figures(comment.content)) == ((10, 20), 31, (5, 6))
