"""Lines that name what belongs to users who are here."""

from __future__ import annotations

from pathlib import Path

import pytest

from accounts.models import LinkedAccount, User
from lookup.models import Comment, Profile, Widget
from tests.factories import lookup as make
from tests.lookup.transfer_files import load, refusal
from tests.lookup.transfer_line import (
    AUTHOR,
    PROFILE,
    SECOND,
    USER,
    changed,
    line,
    new_id,
    put,
    second,
    text_of,
)

pytestmark = pytest.mark.django_db

HAND = f"Hand.Written ({USER})"


@pytest.fixture(scope="module", autouse=True)
def imported(module_db: None, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The user of the line is here already."""
    load(text_of(line()), tmp_path_factory.mktemp("imported"))


CONFLICTS: list[tuple[str, object, str]] = [
    (
        "user.chatId",
        "268473310986249999",
        f"user.chatId: The chat account 268473310986249999 belongs to {HAND}, not to {SECOND}.",
    ),
    (
        "user.scrobblerUsername",
        "hand-fm",
        f"user.scrobblerUsername: The scrobbler account hand-fm belongs to {HAND}, not to {SECOND}.",
    ),
    (
        "aliases.0.profileId",
        "c" * 32,
        f"aliases.0.profileId: The profile {'c' * 32} belongs to {HAND}, not to {SECOND}.",
    ),
    (
        "profile.profileId",
        PROFILE,
        f"profile.profileId: The profile {PROFILE} belongs to {HAND}, not to {SECOND}.",
    ),
    (
        "audios.0.id",
        new_id(30),
        f"audios.0.id: The audio {new_id(30)} belongs to Hand.Written ({PROFILE}), not to {'2' * 32}.",
    ),
    (
        "comments.items.0.id",
        new_id(80),
        f"comments.items.0.id: The comment {new_id(80)} belongs to {HAND}, not to {SECOND}.",
    ),
]


@pytest.mark.parametrize(("path", "value", "said"), CONFLICTS)
def test_what_belongs_to_a_user_who_is_here_is_refused_and_both_are_named(
    tmp_path: Path, path: str, value: object, said: str
) -> None:
    other = second()
    put(other, path, value)
    found = refusal(text_of(other), tmp_path)
    assert found == refusal(text_of(other), tmp_path, "--check") == [f"line 1: {said}"]
    assert not User.objects.filter(username="Second").exists()


def test_what_one_line_gives_up_the_next_line_may_take(tmp_path: Path) -> None:
    given_up = {"user.username": "Renamed", "user.chatId": None, "user.scrobblerUsername": None}
    first = line()
    for path, value in given_up.items():
        put(first, path, value)
    names = {name: line()["user"][name] for name in ("username", "chatId", "scrobblerUsername")}
    both = text_of(first, second(**names))
    for options in (["--check"], []):
        assert load(both, tmp_path, *options)[1] == ""
    assert User.objects.get(pk=SECOND).username == "Hand.Written"
    assert LinkedAccount.objects.filter(user=SECOND).count() == 2


def test_the_uid_of_a_user_never_changes(tmp_path: Path) -> None:
    assert refusal(text_of(changed("user.uid", 90)), tmp_path) == [
        f"line 1: user.uid: The user {USER} has the uid 41 here, not 90."
    ]


def test_profiles_of_one_user_do_not_change_their_parts(tmp_path: Path) -> None:
    said = refusal(text_of(changed("profile.profileId", "c" * 32) | {"aliases": []}), tmp_path)
    assert said == ["line 1: profile.profileId: Is the profile of an alias here."]
    moved = changed("profile.profileId", new_id(5))
    moved["aliases"][0]["profileId"] = PROFILE
    assert refusal(text_of(moved), tmp_path) == ["line 1: aliases.0.profileId: Is the main profile here."]


def test_a_row_of_an_alias_profile_stays_there(tmp_path: Path) -> None:
    widget = make.WidgetFactory(profile=Profile.objects.get(pk="c" * 32))
    bad = changed("widgets.0.id", widget.pk)
    bad["sections"][0]["widgetIds"] = []
    said = f"line 1: widgets.0.id: The widget {widget.pk} belongs to Hand.Written ({'c' * 32}), not to {PROFILE}."
    assert refusal(text_of(bad), tmp_path) == [said]
    assert Widget.objects.count() == 2


def test_a_reply_is_no_comment_of_a_line(tmp_path: Path) -> None:
    parent = Comment.objects.get(pk=new_id(80))
    reply = make.CommentFactory(user_id=USER, author_id=AUTHOR, parent=parent)
    bad = changed("comments.items.1.id", reply.pk)
    said = f"line 1: comments.items.1.id: The comment {reply.pk} belongs to another comment, not to {USER}."
    assert refusal(text_of(bad), tmp_path) == [said]
