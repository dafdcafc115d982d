"""/leaderboard/views, /badges and /uid: what people see of the boards."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts import bans, users
from accounts.models import User
from lookup import leaderboards
from lookup.editing import profiles
from lookup.models import UserDocument
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.lookup import AssetFactory, main_profile, shown
from tests.lookup import answers, statements
from tests.pages.markup import page_of, problems_of


@pytest.fixture
def people(operator: User) -> list[User]:
    """Uids 1 to 30, on top of the operator's 0, ranked; the first has the most views."""
    found = [UserFactory(username=f"P{uid}") for uid in range(1, 31)]
    for views, user in enumerate(reversed(found), start=1):
        UserDocument.objects.filter(user=user).update(views=views)
    leaderboards.rank()
    return found


def places(path: str) -> list[tuple[str, ...]]:
    """Rank, name, address, score and change in words of each row."""
    answer = Client().get(path)
    assert (answer.status_code, problems_of(answer)) == (200, [])
    return [
        (
            row.xpath("string(.//*[@class='person__rank'])").removeprefix("Rank "),
            row.xpath("string(.//a)"),
            row.xpath("string(.//a/@href)"),
            row.xpath("string(.//*[@class='person__score'])"),
            row.xpath("string(.//*[contains(@class, 'rank-change--')]/@title)"),
        )
        for row in page_of(answer).xpath("//main//ol/li")
    ]


@pytest.mark.embedded
def test_a_page_shows_25_places_as_the_api_ranks_them(people: list[User]) -> None:
    bans.ban(user=people[1], by=None, reason="x")
    User.objects.filter(pk=people[2].pk).update(public_api_access=False)
    for board in ("views", "badges", "uid"):
        of_api = [(str(entry["rank"]), entry["user"]["username"]) for entry in answers.board(board, limit=100).body]
        shown_places = [place[:2] for number in (1, 2) for place in places(f"/leaderboard/{board}?page={number}")]
        assert (len(shown_places), shown_places) == (29, of_api)
    assert len(places("/leaderboard/views")) == 25
    assert places("/leaderboard/views")[1] == ("2", "P4", "/P4", "27 views", "Same rank as before")
    assert places("/leaderboard/uid")[0] == ("1", "Opal", "/Opal", "Member 0", "Same rank as before")


def test_a_change_is_said_in_words(people: list[User]) -> None:
    UserDocument.objects.filter(user=people[2]).update(views=1000)
    UserDocument.objects.filter(user=UserFactory(username="Comet")).update(views=900)
    leaderboards.rank()
    assert [(name, *rest) for _, name, _, *rest in places("/leaderboard/views")[:4]] == [
        ("P3", "1,000 views", "Up 2 ranks"),
        ("Comet", "900 views", "New on this board"),
        ("P1", "30 views", "Down 2 ranks"),
        ("P2", "29 views", "Down 2 ranks"),
    ]
    leaderboards.rank()
    assert {place[4] for place in places("/leaderboard/views")} == {"Same rank as before"}


def test_a_row_has_the_name_and_the_picture_of_the_profile(people: list[User]) -> None:
    users.change(user=people[0], values={"display_name": "Account", "is_verified": True}, by=StaffFactory())
    assert places("/leaderboard/views")[0][1] == "Account"
    picture = AssetFactory(owner=people[0])
    profiles.change(
        profile=main_profile(people[0]), values={"display_name": "<b>Page</b>", "avatar": picture}, by=people[0]
    )
    shown(people[0])
    answer = Client().get("/leaderboard/views")
    row = page_of(answer).xpath("//main//ol/li")[0]
    assert row.xpath("string(.//a)") == "<b>Page</b>"
    assert row.xpath(".//img/@src") == [f"https://cdn.example.net/{picture.path}"]
    assert "https://cdn.example.net" in answer["Content-Security-Policy"].partition("img-src")[2].partition(";")[0]
    assert "Verified" in row.text_content()


@pytest.mark.embedded
@pytest.mark.parametrize("board", ["views", "badges", "uid"])
def test_before_the_first_ranking_the_page_says_when_it_comes(operator: User, board: str) -> None:
    answer = Client().get(f"/leaderboard/{board}")
    assert (answer.status_code, problems_of(answer)) == (200, [])
    assert "No ranks yet" in answer.content.decode()


@pytest.mark.parametrize(
    "path",
    [
        *("/leaderboard/likes", "/leaderboard/views/", "/leaderboard/views?page=0", "/leaderboard/views?page=3"),
        *("/leaderboard/views?page=x", "/leaderboard/views?page=1&page=2", "/leaderboard/views?page=-1"),
    ],
)
def test_other_boards_and_pages_are_404(people: list[User], path: str) -> None:
    assert Client().get(path).status_code == 404


def test_a_cache_keeps_the_page_of_visitors_and_no_other(people: list[User], client: Client) -> None:
    answer: Any = client.get("/leaderboard/views")
    assert (answer["Cache-Control"], "Cookie" in answer["Vary"]) == ("public, max-age=60", True)
    assert not answer.cookies
    client.force_login(people[0])
    assert "private" in client.get("/leaderboard/views")["Cache-Control"]
    assert client.get("/leaderboard")["Location"] == "/leaderboard/views"


def test_a_page_reads_one_row_set(people: list[User]) -> None:
    assert len(statements.of(lambda: Client().get("/leaderboard/views?page=2"))) == 1


def test_a_kept_page_shows_each_change_at_once(people: list[User]) -> None:
    before, again = (Client().get("/leaderboard/views") for _ in range(2))
    assert (before.content, before["ETag"]) == (again.content, again["ETag"])
    assert Client().get("/leaderboard/views", headers={"if-none-match": before["ETag"]}).status_code == 304
    profiles.change(profile=main_profile(people[0]), values={"display_name": "Renamed"}, by=people[0])
    assert places("/leaderboard/views")[0][1] == "Renamed"
    bans.ban(user=people[0], by=None, reason="x")
    assert [place[:2] for place in places("/leaderboard/views")[:2]] == [("1", "P2"), ("2", "P3")]
    UserDocument.objects.filter(user=people[9]).update(views=1000)
    leaderboards.rank()
    assert places("/leaderboard/views")[0][1:] == ("P10", "/P10", "1,000 views", "Up 9 ranks")


def test_a_kept_page_says_nothing_of_the_query_of_another_visitor(people: list[User]) -> None:
    with_query = Client().get("/leaderboard/views?ref=stranger")
    assert (b"ref=stranger" in with_query.content, with_query.has_header("ETag")) == (True, False)
    assert b"stranger" not in Client().get("/leaderboard/views").content
    assert Client().get("/leaderboard/views?page=1").content == Client().get("/leaderboard/views").content


def test_a_kept_page_is_no_page_of_who_is_signed_in(people: list[User], client: Client) -> None:
    client.force_login(people[0])
    for browser, is_theirs in ((Client(), False), (client, True), (Client(), False)):
        answer = browser.get("/leaderboard/views")
        assert (b"Sign out" in answer.content, answer.has_header("ETag")) == (is_theirs, not is_theirs)
