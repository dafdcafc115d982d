"""Lines that name what belongs to users who are here."""

from __future__ import annotations

from pathlib import Path

import pytest

from accounts import users
from accounts.models import LinkedAccount, User
from lookup.models import Comment, Profile, Widget
from tests.factories import lookup as make
from tests.lookup.transfer_files import load, refusal
from tests.lookup.transfer_line import (
    ALIAS_PROFILE,
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


@pytest.fixture(scope="module", autouse=True)
def imported(module_db: None, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The user of the line is here already."""
    load(text_of(line()), tmp_path_factory.mktemp("imported"))


# What the line of another user names, and who has it: the user, or a profile of theirs.
CONFLICTS: list[tuple[str, object, str, str]] = [
    ("user.uid", 41, "The uid 41", USER),
    ("user.username", "zed", "The name ZED", USER),
    ("user.chatId", "268473310986249999", "The chat account 268473310986249999", USER),
    ("user.scrobblerUsername", "hand-fm", "The scrobbler account hand-fm", USER),
    ("profile.profileId", PROFILE, f"The profile {PROFILE}", USER),
    ("aliases.0.profileId", ALIAS_PROFILE, f"The profile {ALIAS_PROFILE}", USER),
    ("audios.0.id", new_id(30), f"The audio {new_id(30)}", PROFILE),
    ("comments.items.0.id", new_id(80), f"The comment {new_id(80)}", USER),
]


@pytest.mark.parametrize(("path", "value", "what", "holder"), CONFLICTS)
def test_what_a_user_who_is_here_or_an_earlier_line_has_is_refused_and_both_are_named(
    tmp_path: Path, path: str, value: object, what: str, holder: str
) -> None:
    other = second()
    put(other, path, value)
    claimant = "2" * 32 if holder == PROFILE else SECOND
    said = f"line 1: {path}: {what} belongs to Hand.Written ({holder}), not to {claimant}."
    found = refusal(text_of(other), tmp_path)
    assert found == refusal(text_of(other), tmp_path, "--check") == [said]
    assert not User.objects.filter(pk=SECOND).exists()
    users.delete(user=User.objects.get(pk=USER), by=None)
    said = f"line 2: {path}: {what} belongs to {holder}, not to {claimant}."
    assert said in refusal(text_of(line(), other), tmp_path, "--check")


def test_a_user_has_one_line(tmp_path: Path) -> None:
    other = second(id=USER)
    assert "line 2: user.id: Line 1 is of this user." in refusal(text_of(line(), other), tmp_path, "--check")


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
