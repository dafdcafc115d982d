"""People in the lists of public pages: leaderboards and search."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

from django.urls import reverse

from lookup.leaderboards import PlaceRow
from lookup.models import Board
from lookup.page import url_policy
from lookup.people import PersonRow
from lookup.shapes import addresses

TINTS = 8  # colors of initials, in static/css/components.css


@dataclass(frozen=True, slots=True)
class Person:
    """`name`: as the address of the profile says."""

    name: str
    display_name: str
    is_verified: bool
    avatar: str
    tint: int

    @property
    def initial(self) -> str:
        return self.display_name[:1].upper()

    @property
    def url(self) -> str:
        return reverse("profile_page", args=[self.name])


@dataclass(frozen=True, slots=True)
class Change:
    """A change of rank. `kind`: up, down, new or same; `short`: shown next to its mark."""

    kind: str
    words: str
    short: str


@dataclass(frozen=True, slots=True)
class Place:
    rank: int
    person: Person
    score: str
    change: Change


@dataclass(frozen=True, slots=True)
class BoardWords:
    """`unit`: of a score, for one and for any other number."""

    title: str
    lead: str
    one: str
    many: str

    def score(self, number: int) -> str:
        return f"{number:,} {self.one if number == 1 else self.many}"


BOARDS = {
    Board.VIEWS: BoardWords("Most viewed", "The profiles with the most views.", "view", "views"),
    Board.BADGES: BoardWords("Most badges", "The profiles that show the most badges.", "badge", "badges"),
    Board.UID: BoardWords("First members", "Those who came first, by member number.", "", ""),
}


def person(row: PersonRow, name: str = "") -> Person:
    """Return a person. `name`: an alias with a profile of its own. Leaves out a picture that is mirrored from the chat
    platform: a reader of the list makes no request to it."""
    path = "" if row.mirrors_chat else row.avatar_path
    avatar = url_policy.own(addresses.upload(path)) if path else ""
    return Person(name or row.username, row.display_name, row.is_verified, avatar, tint_of(row.id))


def tint_of(user_id: str) -> int:
    """Return the number of the user's color, from 1."""
    return crc32(user_id.encode()) % TINTS + 1


def place(board: Board, rank: int, row: PlaceRow) -> Place:
    score = f"Member {row.score}" if board is Board.UID else BOARDS[board].score(row.score)
    return Place(rank, person(row.person), score, _change(row))


def _change(row: PlaceRow) -> Change:
    if row.is_new:
        return Change("new", "New on this board", "New")
    if not row.change:
        return Change("same", "Same rank as before", "")
    direction = "up" if row.change > 0 else "down"
    steps = abs(row.change)
    return Change(direction, f"{direction.capitalize()} {steps} rank{'' if steps == 1 else 's'}", f"{steps:,}")
