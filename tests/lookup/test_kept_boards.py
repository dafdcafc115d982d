"""A process keeps the last answer of a leaderboard, and gives it again only while all that it says is as before."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.db.models import Value
from django.db.models.functions import Replace

from accounts import bans, users
from accounts.models import User
from lookup import leaderboards
from lookup.documents import documents
from lookup.editing import profiles
from lookup.models import Profile, ProfileBadge, ProfileDocument, UserDocument
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.lookup import CustomBadgeFactory, ProfileBadgeFactory, main_profile, shown
from tests.lookup import answers

pytestmark = pytest.mark.embedded
Json = list[dict[str, object]]


@pytest.fixture
def users_of_board(operator: User) -> list[User]:
    """Uids 1 to 5, ranked; the second one has a badge, the last one is banned."""
    found = [UserFactory(username=f"P{uid}") for uid in range(1, 6)]
    ProfileBadgeFactory(profile=main_profile(found[1]))
    shown(*found)
    leaderboards.rank()
    bans.ban(user=found[4], by=None, reason="x")
    return found


def _sql(statement: str) -> Callable[[list[User]], None]:
    """The statement as an operator enters it, about the first user."""

    def act(found: list[User]) -> None:
        with connection.cursor() as cursor:
            cursor.execute(statement, [found[0].pk])

    return act


def _edit(found: list[User]) -> None:
    profiles.change(profile=main_profile(found[0]), values={"location": "Here"}, by=found[0])


def _add_badge(found: list[User]) -> None:
    CustomBadgeFactory(profile=main_profile(found[0]))
    profiles.touch(main_profile(found[0]).pk)


def _mark_stale(found: list[User]) -> None:
    ProfileBadge.objects.update(color="#123456")
    documents.mark_stale(Profile.objects.all())


def _rank(found: list[User]) -> None:
    UserDocument.objects.filter(user=found[1]).update(views=70)
    leaderboards.rank()


CHANGES: dict[str, Callable[[list[User]], object]] = {
    "ban": lambda found: bans.ban(user=found[0], by=None, reason="x"),
    "unban": lambda found: bans.lift(user=found[4], by=None, reason="x"),
    "privacy": lambda found: profiles.set_public_access(user=found[0], is_public=False, by=found[0]),
    "ban by SQL": _sql("UPDATE accounts_user SET is_active = FALSE WHERE id = %s"),
    "privacy by SQL": _sql("UPDATE accounts_user SET public_api_access = FALSE WHERE id = %s"),
    "name by SQL": _sql("UPDATE accounts_user SET display_name = 'Other' WHERE id = %s"),
    "views by SQL": _sql("UPDATE lookup_userdocument SET views = 8 WHERE user_id = %s"),
    "score by SQL": _sql("UPDATE lookup_leaderboardentry SET score = 8 WHERE user_id = %s"),
    "change by SQL": _sql("UPDATE lookup_leaderboardentry SET change = 8 WHERE user_id = %s"),
    "rename": lambda found: users.rename(user=found[0], username="Newname", by=StaffFactory()),
    "deletion": lambda found: users.delete(user=found[0], by=None),
    "edit": _edit,
    "badge": _add_badge,
    "mark": _mark_stale,
    "ranking": _rank,
}


@pytest.mark.parametrize("change", CHANGES)
def test_no_kept_answer_outlives_a_change(users_of_board: list[User], change: str) -> None:
    before = _answers()
    assert _answers() == before
    CHANGES[change](users_of_board)
    after = _answers()
    assert after != before
    leaderboards._kept.cache_clear()
    assert _answers() == after


def test_who_comes_back_is_shown_again(users_of_board: list[User]) -> None:
    before = _answers()
    for is_active in (False, True):
        User.objects.filter(pk=users_of_board[0].pk).update(is_active=is_active)
        assert (_answers() == before) is is_active


def test_what_has_no_digest_is_not_kept(users_of_board: list[User]) -> None:
    ProfileDocument.objects.update(leaderboard_digest="")
    before = answers.board("uid").text
    ProfileDocument.objects.update(leaderboard=Replace("leaderboard", Value("P1"), Value("P9")))
    assert answers.board("uid").text == before.replace("P1", "P9") != before


def test_a_limit_has_an_answer_of_its_own(users_of_board: list[User]) -> None:
    for limit in (1, 3, 2, 3, 1):
        assert len(answers.board("uid", limit=limit).body) == limit
        assert [entry["score"] for entry in answers.board("uid", limit=limit).body] == list(range(limit))


def test_a_process_keeps_few_answers(users_of_board: list[User]) -> None:
    for limit in range(1, 3 * leaderboards.MOST_KEPT):
        answers.board("uid", limit=limit)
    assert leaderboards._kept.cache_info().currsize == leaderboards.MOST_KEPT


def _answers() -> list[Json]:
    return [answers.board(name).body for name in ("views", "badges", "uid")]
