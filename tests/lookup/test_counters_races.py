"""Many requests at once: counters equal the tables, documents hold every change, no request fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction

from accounts import bans, users
from accounts.models import User
from lookup import leaderboards
from lookup.documents import counters, document_checks, documents
from lookup.editing import badge_tiers, profiles
from lookup.models import Comment, CommentLike, FeedbackVote, Link, Profile, ProfileBadge, UserDocument
from lookup.social import comments, feedback
from tests.factories.accounts import UserFactory
from tests.factories.lookup import BadgeFactory, BadgeTierFactory, LinkFactory, main_profile
from tests.lookup import answers
from tests.support.threads import together

pytestmark = [pytest.mark.embedded, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unlimited")]
THREADS = 8


@pytest.fixture
def ada(operator: User) -> User:
    return UserFactory(username="Ada")


@pytest.fixture
def people(ada: User) -> list[User]:
    return UserFactory.create_batch(THREADS)


def _feedback() -> tuple[int, int]:
    found = answers.user("ada", "feedback").body["feedback"]
    return found["likes"], found["dislikes"]


def test_one_voter_in_many_tabs_has_one_vote(ada: User, people: list[User]) -> None:
    """A double click causes no server error."""
    together(THREADS, lambda number: feedback.vote(user=ada, is_like=number % 2 > 0, by=people[0]))
    assert FeedbackVote.objects.count() == sum(_feedback()) == 1
    together(THREADS, lambda _: feedback.withdraw(user=ada, by=people[0]))
    assert _feedback() == (0, 0)
    assert list(document_checks.differences()) == []


def test_one_like_in_many_tabs_counts_once(ada: User, people: list[User]) -> None:
    comment = comments.write(user=ada, content="Hello", by=people[0])
    together(THREADS, lambda _: comments.like(comment=comment, by=people[1]))
    assert Comment.objects.get().like_count == CommentLike.objects.count() == 1
    together(THREADS, lambda _: comments.unlike(comment=comment, by=people[1]))
    assert Comment.objects.get().like_count == CommentLike.objects.count() == 0


def test_votes_comments_replies_and_likes_at_once_all_count(ada: User, people: list[User]) -> None:
    comment = comments.write(user=ada, content="Hello", by=ada)

    def act(number: int) -> None:
        comments.write(user=ada, content="One", by=people[number])
        comments.write(user=ada, content="Two", parent=comment, by=people[number])
        comments.like(comment=comment, by=people[number])
        if number % 2:
            comments.unlike(comment=comment, by=people[number])
        feedback.vote(user=ada, is_like=number % 4 > 0, by=people[number])

    together(THREADS, act)
    assert _feedback() == (6, 2)
    found = answers.user("ada", "comments").body["comments"]
    assert found["count"] == THREADS + 1
    (hello,) = [item for item in found["items"] if item["content"] == "Hello"]
    assert (hello["likeCount"], hello["replyCount"]) == (THREADS // 2, THREADS)
    assert list(document_checks.differences()) == []


def test_bans_and_their_ends_at_the_same_time_as_everything_else(ada: User, people: list[User]) -> None:
    """Each does all there is to do, while a ban of their neighbor begins and ends."""
    comment = comments.write(user=ada, content="Hello", by=ada)

    def act(number: int) -> None:
        neighbor = people[number - 1]
        steps: list[Callable[[], object]] = [
            lambda: feedback.vote(user=ada, is_like=True, by=people[number]),
            lambda: bans.ban(user=neighbor, by=None, reason="x"),
            lambda: comments.write(user=ada, content="One", by=people[number]),
            lambda: comments.write(user=ada, content="Two", parent=comment, by=people[number]),
            lambda: bans.lift(user=neighbor, by=None, reason="x") if number % 2 else None,
            lambda: comments.like(comment=comment, by=people[number]),
            lambda: feedback.vote(user=ada, is_like=False, by=people[number]),
        ]
        for step in steps:
            try:
                step()
            except PermissionDenied:  # banned at that moment
                continue

    together(THREADS, act)
    assert list(document_checks.differences()) == []
    for user in people:
        bans.lift(user=user, by=None, reason="x")
    assert list(document_checks.differences()) == []
    assert sum(_feedback()) == FeedbackVote.objects.count()


def test_deletions_of_comments_at_the_same_time_as_new_ones(ada: User, people: list[User]) -> None:
    old = [comments.write(user=ada, content="Old", by=user) for user in people]
    replied = comments.write(user=ada, content="Replied", by=ada)
    replies = [comments.write(user=ada, content="Old", parent=replied, by=user) for user in people]

    def act(number: int) -> None:
        comments.write(user=ada, content="New", by=people[number])
        comments.delete(comment=old[number], by=people[number])
        comments.write(user=ada, content="New", parent=replied, by=people[number])
        comments.delete(comment=replies[number], by=ada)

    together(THREADS, act)
    found = answers.user("ada", "comments").body["comments"]
    assert (found["count"], found["items"][-1]["replyCount"]) == (THREADS + 1, THREADS)
    assert list(document_checks.differences()) == []


def test_deletions_of_accounts_at_the_same_time_as_what_others_do(ada: User, people: list[User]) -> None:
    comment = comments.write(user=ada, content="Hello", by=ada)
    for user in people:
        feedback.vote(user=ada, is_like=True, by=user)
        comments.write(user=ada, content="Two", parent=comment, by=user)
        comments.like(comment=comment, by=user)

    def act(number: int) -> None:
        if number % 2:
            users.delete(user=people[number], by=None)
        else:
            feedback.vote(user=ada, is_like=False, by=people[number])
            comments.write(user=ada, content="One", by=people[number])

    together(THREADS, act)
    assert _feedback() == (0, THREADS // 2)
    assert list(document_checks.differences()) == []


def test_votes_on_an_account_that_is_deleted_meanwhile(ada: User, people: list[User]) -> None:
    """They come too late or count until the end; either way nothing is left."""

    def act(number: int) -> str:
        try:
            if number == 0:
                users.delete(user=ada, by=None)
            else:
                feedback.vote(user=ada, is_like=True, by=people[number])
                comments.write(user=ada, content="One", by=people[number])
        except (User.DoesNotExist, PermissionDenied):
            return "too late"
        return "done"

    assert together(THREADS, act)[0] == "done"
    assert not User.objects.filter(pk=ada.pk).exists()
    assert FeedbackVote.objects.count() == Comment.objects.count() == 0
    assert list(document_checks.differences()) == []


def test_likes_of_a_comment_that_is_deleted_meanwhile(ada: User, people: list[User]) -> None:
    pk = comments.write(user=ada, content="Hello", by=ada).pk
    loaded = [Comment.objects.get(pk=pk) for _ in people]

    def act(number: int) -> str:
        comment = loaded[number]
        try:
            if number == 0:
                comments.delete(comment=comment, by=ada)
            elif number % 2:
                comments.like(comment=comment, by=people[number])
            else:
                comments.write(user=ada, content="Reply", parent=comment, by=people[number])
        except (Comment.DoesNotExist, PermissionDenied, ValidationError):
            return "too late"
        return "done"

    assert together(THREADS, act)[0] == "done"
    assert CommentLike.objects.count() == Comment.objects.count() == 0
    assert answers.user("ada", "comments").body["comments"] == {"count": 0, "items": []}
    assert list(document_checks.differences()) == []


def test_the_documents_hold_every_one_of_many_changes(ada: User) -> None:
    profile = main_profile(ada)

    def act(number: int) -> None:
        with transaction.atomic():
            Link.objects.create(profile=profile, title=str(number), url="https://x.example/", order=number)
            profiles.touch(profile.pk)

    together(THREADS, act)
    titles = [link["title"] for link in answers.user("ada", "links").body["links"]]
    assert titles == [str(number) for number in range(THREADS)]
    assert list(document_checks.differences()) == []


def test_many_first_readers_of_a_stale_document_read_the_same(ada: User) -> None:
    LinkFactory(profile=main_profile(ada), title="New")
    documents.mark_stale(Profile.objects.filter(user=ada))
    texts = together(THREADS, lambda _: answers.user("ada", "links").text)
    assert len(set(texts)) == 1
    assert "New" in texts[0]


def test_badges_are_unlocked_once_while_profiles_change(ada: User, people: list[User]) -> None:
    """The job, twice at once, between changes of the same profiles."""
    badge = BadgeFactory(rule="VIEWS")
    BadgeTierFactory(badge=badge, threshold=1)
    ids = [main_profile(user).pk for user in people]

    def act(number: int) -> None:
        if number < 2:
            badge_tiers.unlock()
        else:
            for _ in range(3):
                profiles.touch(ids[number])

    for _ in range(2):
        UserDocument.objects.update(views=1, unlock_due=True)
        ProfileBadge.objects.all().delete()
        together(THREADS, act)
        badge_tiers.unlock()
        assert ProfileBadge.objects.count() == User.objects.count()
        assert list(document_checks.differences()) == []


def test_a_board_is_whole_at_every_moment(people: list[User]) -> None:
    leaderboards.rank()

    def act(number: int) -> set[int]:
        if number == 0:
            for _ in range(3):
                leaderboards.rank()
        return {len(answers.board(name, limit=18).body) for _ in range(3) for name in ("views", "uid")}

    assert set().union(*together(4, act)) == {THREADS + 2}


def test_repairs_at_the_same_time_as_changes_leave_no_difference(ada: User, people: list[User]) -> None:
    counters.recount([ada.pk])
    UserDocument.objects.filter(pk=ada.pk).update(likes=50, comments=50)

    def act(number: int) -> None:
        if number == 0:
            list(document_checks.differences(is_repairing=True))
        else:
            feedback.vote(user=ada, is_like=True, by=people[number])
            comments.write(user=ada, content="One", by=people[number])

    together(THREADS, act)
    assert list(document_checks.differences(is_repairing=True)) == []
    assert _feedback() == (THREADS - 1, 0)
