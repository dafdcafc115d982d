"""GET /api/leaderboard/views, /badges and /uid."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.management import call_command

from accounts import bans, users
from accounts.models import User
from lookup import leaderboards
from lookup.documents import documents
from lookup.editing import profiles
from lookup.errors import LimitInvalid
from lookup.models import Profile, ProfileDocument, UserDocument
from lookup.views import api
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.lookup import CustomBadgeFactory, LinkFactory, ProfileBadgeFactory, main_profile, shown
from tests.lookup import answers
from tests.lookup.answers import LIMIT_INVALID

BOARDS = pytest.mark.parametrize("name", ["views", "badges", "uid"])


def _seen(user: User, views: int) -> None:
    UserDocument.objects.filter(user=user).update(views=views)


def _places(name: str, limit: int = 10) -> list[tuple[int, str, int, int]]:
    """Rank, username, score and change of each entry."""
    entries = answers.board(name, limit=limit).body
    return [(entry["rank"], entry["user"]["username"], entry["score"], entry["change"]) for entry in entries]


@pytest.fixture
def people(operator: User) -> list[User]:
    """Uids 1 to 12, on top of the operator's 0."""
    return [UserFactory(username=f"P{uid}") for uid in range(1, 13)]


def test_an_entry_names_the_account_of_a_link_that_is_shown(operator: User) -> None:
    user = UserFactory(username="Ada")
    links = {"profile": main_profile(user), "platform_id": "Steam"}
    LinkFactory(**links, url="hidden", is_active=False, order=0)
    LinkFactory(**links, url="shown", order=1)
    shown(user)
    leaderboards.rank()
    entry = answers.board("uid").body[1]["user"]
    assert (entry["displayName"], entry["profile"]["gameUsername"]) == ("Ada", "shown")


@BOARDS
def test_before_the_first_ranking_a_board_is_empty(operator: User, name: str) -> None:
    assert answers.board(name).whole == (200, [])


def test_views_rank_by_views_and_ties_by_uid(people: list[User]) -> None:
    for user, views in zip(people, (5, 9, 5, 2**40), strict=False):
        _seen(user, views)
    call_command("rank_leaderboards")
    assert _places("views", limit=6) == [
        (1, "P4", 2**40, 0),
        (2, "P2", 9, 0),
        (3, "P1", 5, 0),
        (4, "P3", 5, 0),
        (5, "Opal", 0, 0),
        (6, "P5", 0, 0),
    ]


def test_badges_rank_by_enabled_badges_of_both_kinds_and_ties_by_uid(people: list[User]) -> None:
    for user, standard, custom, disabled in zip(people, (1, 0, 2, 0), (0, 1, 1, 0), (9, 0, 0, 3), strict=False):
        profile = main_profile(user)
        ProfileBadgeFactory.create_batch(standard, profile=profile)
        CustomBadgeFactory.create_batch(custom, profile=profile)
        ProfileBadgeFactory.create_batch(disabled, profile=profile, is_enabled=False)
        CustomBadgeFactory.create_batch(disabled, profile=profile, is_enabled=False)
    shown(*people)
    leaderboards.rank()
    assert _places("badges", limit=5) == [
        (1, "P3", 3, 0),
        (2, "P1", 1, 0),
        (3, "P2", 1, 0),
        (4, "Opal", 0, 0),
        (5, "P4", 0, 0),
    ]


def test_uid_ranks_ascending_and_the_score_is_the_uid(people: list[User]) -> None:
    leaderboards.rank()
    assert _places("uid", limit=3) == [(1, "Opal", 0, 0), (2, "P1", 1, 0), (3, "P2", 2, 0)]


@BOARDS
def test_the_limit_is_10_by_default_and_at_most_100(people: list[User], name: str) -> None:
    leaderboards.rank()
    for limit, count in (("", 10), ("&limit=1", 1), ("&limit=100", 13)):
        entries = answers.get(f"/api/leaderboard/{name}?key={answers.ACCOUNT_SECRET}{limit}", "leaderboard").body
        assert [entry["rank"] for entry in entries] == list(range(1, count + 1))
    for wrong in ("0", "101", "abc", "5&limit=5"):
        path = f"/api/leaderboard/{name}?key={answers.ACCOUNT_SECRET}&limit={wrong}"
        assert answers.get(path, "leaderboard").whole == LIMIT_INVALID


@pytest.mark.parametrize("limit", ["", "-1", "1.5", "+5", " 5", "10\n", "1e1", "\u0665", "1_0", "9" * 40, "5\x00"])
def test_a_limit_is_a_plain_number(limit: str) -> None:
    with pytest.raises(LimitInvalid):
        api._limit(limit)


@BOARDS
def test_a_refused_key_comes_before_a_bad_limit_and_is_404(operator: User, name: str) -> None:
    missing = {"error": "Missing key parameter or Bearer token.", "code": "UNAUTHORIZED"}
    assert answers.board(name, secret="", limit="0").whole == (404, missing)


def test_change_is_the_previous_rank_on_the_same_board_minus_the_rank(people: list[User]) -> None:
    for views, user in enumerate(reversed(people), start=1):
        _seen(user, views)
    leaderboards.rank()
    assert _places("views", limit=3) == [(1, "P1", 12, 0), (2, "P2", 11, 0), (3, "P3", 10, 0)]
    _seen(people[2], 50)
    _seen(UserFactory(username="Comet"), 40)
    leaderboards.rank()
    assert _places("views", limit=5) == [
        (1, "P3", 50, 2),
        (2, "Comet", 40, 0),
        (3, "P1", 12, -2),
        (4, "P2", 11, -2),
        (5, "P4", 9, -1),
    ]
    assert [change for *_, change in _places("uid", limit=14)] == [0] * 14
    leaderboards.rank()
    for name in ("views", "badges", "uid"):
        assert [change for *_, change in _places(name, limit=14)] == [0] * 14


@pytest.mark.embedded
def test_a_board_holds_so_many_places_and_no_more(people: list[User], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaderboards, "DEPTH", 5)
    assert leaderboards.rank() == 15
    for name in ("views", "badges", "uid"):
        assert len(_places(name, limit=14)) == 5


def test_the_job_renders_every_stale_document_of_the_boards(
    people: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaderboards, "AT_ONCE", 2)
    documents.mark_stale(Profile.objects.all())
    call_command("rank_leaderboards")
    assert not ProfileDocument.objects.filter(fingerprint="").exists()


def test_the_score_is_of_the_snapshot_and_the_view_count_of_the_moment(people: list[User]) -> None:
    _seen(people[0], 3)
    leaderboards.rank()
    _seen(people[0], 4)
    first = answers.board("views", limit=1).body[0]
    assert (first["score"], first["user"]["viewCount"]) == (3, 4)


def _banned(user: User) -> None:
    bans.ban(user=user, by=None, reason="x")


def _private(user: User) -> None:
    User.objects.filter(pk=user.pk).update(public_api_access=False)


@BOARDS
@pytest.mark.parametrize("leave", [_banned, _private])
def test_who_is_banned_or_private_is_left_out_at_once_and_leaves_no_gap(
    people: list[User], name: str, leave: Callable[[User], None]
) -> None:
    leaderboards.rank()
    leave(people[0])
    leave(people[3])
    left = [(1, "Opal"), (2, "P2"), (3, "P3"), (4, "P5")]
    assert [(*place[:2], place[3]) for place in _places(name, limit=4)] == [(*place, 0) for place in left]
    assert [place[0] for place in _places(name, limit=100)] == list(range(1, 12))
    leaderboards.rank()
    changes = [place[3] for place in _places(name, limit=4)]
    assert ([place[:2] for place in _places(name, limit=4)], changes) == (left, [0, 1, 1, 2])


def test_who_was_away_counts_as_new(people: list[User]) -> None:
    leaderboards.rank()
    _banned(people[0])
    leaderboards.rank()
    bans.lift(user=people[0], by=None, reason="x")
    assert "P1" not in [place[1] for place in _places("uid", limit=100)]
    leaderboards.rank()
    assert _places("uid", limit=3) == [(1, "Opal", 0, 0), (2, "P1", 1, 0), (3, "P2", 2, -1)]


def test_an_entry_shows_a_user_and_a_profile_as_they_are_now(people: list[User]) -> None:
    leaderboards.rank()
    profiles.change(profile=main_profile(people[0]), values={"location": "Here"}, by=people[0])
    values = {"username": "Neu", "display_name": "Neu!", "is_verified": True}
    users.change(user=people[0], values=values, by=StaffFactory())
    entry = answers.board("uid").body[1]["user"]
    assert (entry["username"], entry["displayName"], entry["isVerified"]) == ("Neu", "Neu!", True)
    assert entry["profile"]["location"] == "Here"


def test_an_unknown_board_is_no_endpoint(operator: User) -> None:
    assert answers.board("likes").whole == answers.NO_SUCH_PATH
