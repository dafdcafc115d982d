"""A line of a user who is here already, and lines that name what belongs to users who are here."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts import bans, rate_limits, users
from accounts.api_keys import keys, records
from accounts.models import LinkedAccount, Name, User
from infrastructure import hashing, limits
from infrastructure.limits import KeyRequest
from lookup import models
from lookup.documents import document_checks
from lookup.editing import profiles
from lookup.models import Comment, Profile, Widget
from lookup.social import comments, feedback
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.lookup.transfer_files import load, looked_up, refusal
from tests.lookup.transfer_line import (
    ALIAS_PROFILE,
    AUTHOR,
    PROFILE,
    SECOND,
    USER,
    changed,
    comment,
    line,
    new_id,
    normal,
    put,
    second,
    text_of,
)

pytestmark = pytest.mark.django_db

# Changes that one line makes at once, by path; `...`: what is taken away.
UPDATES: dict[str, dict[str, object]] = {
    "user": {
        "user.username": "Renamed",
        "user.name": None,
        "user.chatId": "268473310986241111",
        "user.scrobblerUsername": "Other",
        "user.premium": False,
        "user.createdAt": "2019-01-01T00:00:00Z",
    },
    "other user": {"user.username": "hand.written", "user.chatId": None, "user.imagehost": True},
    "profile": {
        "profile.displayName": "",
        "profile.banner": None,
        "profile.updatedAt": "2026-05-05T00:00:00Z",
        "profile.settings.cardSettings.blur": 1,
    },
    "id of the profile": {"profile.profileId": new_id(1)},
    "no rows": {"badges": [], "audios": [], "aliases": []},
    "rows": {
        "badges.1.iconSvg": None,
        "badges.0.id": new_id(19),
        "widgets": [{"id": new_id(20), "platform": "p", "type": "t", "identifier": "i", "order": 0}],
        "links.0.url": "http://b.example",
        "projects.0.tags": ["c"],
        "views": 0,
    },
    "fewer rows": {"links.0": ..., "aliases.0": ..., "gallery.1": ..., "sections.4": ...},
    "alias": {"aliases": [{"name": "Zed", "redirect": False, "profileId": ALIAS_PROFILE}]},
    "profile of an alias": {"aliases.0.profileId": new_id(2)},
    "sections": {"sections.2.content": "Other", "sections.5.games.0.rating": 1.5, "sections.8.music": []},
    "visitors": {
        "feedback": {"likes": 0, "dislikes": 100},
        "comments.count": 3,
        "comments.items.1.content": "Edited",
        "comments.items.2.likeCount": 0,
        "comments.items.0.replyCount": 9,
    },
}


@pytest.fixture(scope="module", autouse=True)
def imported(module_db: None, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The user of the line is here already."""
    load(text_of(line()), tmp_path_factory.mktemp("imported"))


@pytest.mark.parametrize("changes", UPDATES.values(), ids=UPDATES)
def test_an_update_makes_the_lookup_say_what_the_new_line_says(tmp_path: Path, changes: dict[str, object]) -> None:
    wanted = line()
    for path, value in changes.items():
        put(wanted, path, value)
    assert load(text_of(wanted), tmp_path) == ("Imported 1 profiles, 0 of them new.\n", "")
    assert normal(looked_up(USER)) == normal(wanted)
    assert list(document_checks.differences()) == []
    load(text_of(line()), tmp_path)
    assert normal(looked_up(USER)) == normal(line())


def test_the_username_becomes_an_alias_and_the_alias_the_username(tmp_path: Path) -> None:
    wanted = changed("user.username", "Zed")
    wanted["aliases"][0]["name"] = "Hand.Written"
    load(text_of(wanted), tmp_path)
    assert normal(looked_up(USER)) == normal(wanted)
    assert sorted(Name.objects.filter(user=USER).values_list("key", "kind")) == [
        ("ALIAS-2", "ALIAS"),
        ("HAND.WRITTEN", "ALIAS"),
        ("ZED", "USERNAME"),
    ]
    assert models.Alias.objects.count() == 2


def test_two_badges_and_two_aliases_change_places(tmp_path: Path) -> None:
    first = line()
    first["badges"].insert(1, copy.deepcopy(first["badges"][0]) | {"id": new_id(13), "badgeId": "sailor", "order": 0})
    first["aliases"][0]["profileId"] = new_id(3)
    load(text_of(first), tmp_path)
    second = copy.deepcopy(first)
    second["badges"][0]["badgeId"], second["badges"][1]["badgeId"] = "sailor", "seafarer"
    second["aliases"][0]["profileId"], second["aliases"][1]["profileId"] = ALIAS_PROFILE, new_id(3)
    load(text_of(second), tmp_path)
    assert normal(looked_up(USER)) == normal(second)


def test_what_lookups_hide_stays_as_it_is(tmp_path: Path) -> None:
    profile = models.Profile.objects.get(pk=PROFILE)
    hidden = make.SectionFactory(profile=profile, type="GALLERY", config={}, is_enabled=False)
    rows = [
        hidden,
        make.SectionFactory(profile=profile, config={"content": 5}),  # no longer valid
        make.GalleryItemFactory(profile=profile, section=hidden),
        make.LinkFactory(profile=profile, is_active=False),
        make.AudioFactory(profile=profile, is_active=False),
        make.BackgroundFactory(profile=profile, is_active=False),
        make.WidgetFactory(profile=models.Profile.objects.get(pk=ALIAS_PROFILE)),
    ]
    profiles.touch(PROFILE)
    load(text_of(line()), tmp_path)
    assert normal(looked_up(USER)) == normal(line())
    assert all(type(row)._default_manager.filter(pk=row.pk).exists() for row in rows)
    assert [model._default_manager.filter(profile=PROFILE).count() for model in COUNTED] == [1, 2, 3, 3, 11, 2]


COUNTED = (models.Widget, models.Audio, models.Link, models.GalleryItem, models.Section, models.CustomBadge)


def test_votes_comments_likes_and_replies_that_are_here_count_in_the_totals_once(tmp_path: Path) -> None:
    user, author = User.objects.get(pk=USER), User.objects.get(pk=AUTHOR)
    feedback.vote(user=user, is_like=True, by=author)
    reply = comments.write(user=user, content="A reply", parent=models.Comment.objects.get(pk=new_id(80)), by=user)
    comments.like(comment=models.Comment.objects.get(pk=new_id(80)), by=user)
    assert looked_up(USER)["feedback"]["likes"] == 41
    load(text_of(line()), tmp_path)
    assert normal(looked_up(USER)) == normal(line())
    assert models.Comment.objects.filter(pk=reply.pk).exists()
    assert list(document_checks.differences()) == []
    load(text_of(changed("feedback", {"likes": 0, "dislikes": 0})), tmp_path)
    assert looked_up(USER)["feedback"] == {"likes": 1, "dislikes": 0}


def test_a_comment_of_somebody_who_is_banned_here_is_not_shown_and_not_counted(tmp_path: Path) -> None:
    banned = UserFactory(username="Banned", email="")
    bans.ban(user=banned, by=None, reason="A test.")
    author = {"id": banned.pk, "username": "Banned", "name": "", "avatarUrl": "", "uid": banned.uid}
    load(
        text_of(line(comments={"count": 3, "items": [comment(80), comment(81, author=author), comment(82)]})), tmp_path
    )
    answer = looked_up(USER)["comments"]
    assert (answer["count"], [item["id"] for item in answer["items"]]) == (2, [new_id(80), new_id(82)])
    assert list(document_checks.differences()) == []
    bans.lift(user=banned, by=None, reason="A test.")
    assert looked_up(USER)["comments"]["count"] == 3


def test_a_plan_that_ends_is_kept_where_it_says_the_same(tmp_path: Path) -> None:
    user = User.objects.get(pk=USER)
    user.plan_expires_at = datetime(2999, 1, 1, tzinfo=UTC)
    user.save()
    load(text_of(line()), tmp_path)
    assert User.objects.get(pk=USER).plan_expires_at == user.plan_expires_at
    load(text_of(changed("user.premium", value=False)), tmp_path)
    changed_user = User.objects.get(pk=USER)
    assert (changed_user.plan, changed_user.plan_expires_at) == ("FREE", None)


def test_the_badge_catalogue_is_never_overwritten(tmp_path: Path) -> None:
    models.BadgeTier.objects.exclude(tier=1).delete()
    models.BadgeTier.objects.update(threshold=5)
    models.Badge.objects.update(name="Here")
    out, err = load(text_of(line()), tmp_path)
    said = "Warning: The badge catalog says something else of this badge here, and lookups show that."
    assert (out, err) == ("Imported 1 profiles, 0 of them new.\n", f"line 1: badges.0: {said}\n")
    assert models.Badge.objects.get().name == "Here"
    assert list(models.BadgeTier.objects.order_by("tier").values_list("tier", "threshold")) == [
        (1, 5),
        (2, 20),
        (3, 0.5),
    ]


def test_a_game_says_what_the_newest_line_says_on_every_profile(tmp_path: Path) -> None:
    other = make.main_profile(UserFactory(email=""))
    models.Game.objects.update(name="Before")
    make.SectionFactory(profile=other, type="GAMES", config={"gameIds": [5]})
    profiles.touch(other.pk)
    assert looked_up(other.user_id)["sections"][0]["games"][0]["name"] == "Before"
    load(text_of(line()), tmp_path)
    assert looked_up(other.user_id)["sections"][0]["games"][0]["name"] == "G"
    assert models.Game.objects.get().rating == 4


def test_what_the_form_does_not_say_of_a_row_is_kept(tmp_path: Path) -> None:
    models.Link.objects.filter(pk=new_id(50)).update(clicks=9)
    LinkedAccount.objects.filter(user=USER, kind="CHAT").update(name="written")
    load(text_of(line()), tmp_path)
    assert models.Link.objects.get(pk=new_id(50)).clicks == 9
    assert LinkedAccount.objects.get(user=USER, kind="CHAT").name == "written"
    assert models.UserDocument.objects.get(pk=USER).unlock_due is False


def test_public_api_access_stays_turned_off_for_those_who_can_sign_in(tmp_path: Path) -> None:
    for signed_in in ({"email": "hand@example.org"}, {"last_login": datetime(2026, 1, 1, tzinfo=UTC)}):
        User.objects.filter(pk=USER).update(
            **{"public_api_access": False, "email": "", "last_login": None, **signed_in}
        )
        load(text_of(line()), tmp_path)
        assert not User.objects.get(pk=USER).public_api_access


def test_an_import_leaves_a_profile_hidden_that_staff_hid(tmp_path: Path) -> None:
    User.objects.filter(pk=USER).update(
        public_api_access=False, hidden_at=timezone.now(), email="", last_login=None, password="!"
    )
    load(text_of(line()), tmp_path)
    assert not User.objects.get(pk=USER).public_api_access


def test_a_plan_that_changes_counts_at_once_for_the_keys_of_the_user(
    tmp_path: Path, django_capture_on_commit_callbacks: Any
) -> None:
    secret = keys.issue(owner=User.objects.get(pk=USER), permissions=["lookup:user"], by=None).secret
    now = timezone.now()
    asked = KeyRequest(
        rate_limits.API_ADDRESS.of("an address"),
        hashing.digest(secret),
        "lookup:user",
        limits.microseconds(now),
        rate_limits.API_KEY,
        rate_limits.API_PREMIUM_KEY,
    )

    def is_premium() -> bool:
        record = limits.check_key(asked, records.load).record
        return record is not None and record.is_premium(limits.microseconds(now))

    before = is_premium()
    with django_capture_on_commit_callbacks(execute=True):
        load(text_of(changed("user.premium", value=False)), tmp_path)
    assert (before, is_premium()) == (True, False)


def test_a_comment_that_the_line_does_not_name_stays(tmp_path: Path) -> None:
    load(text_of(changed("comments.items.1", ...)), tmp_path)
    answer = looked_up(USER)["comments"]
    assert (answer["count"], len(answer["items"])) == (250, 3)


def test_an_author_who_is_here_stays_what_they_are(tmp_path: Path) -> None:
    other = line()
    for item in other["comments"]["items"]:
        item["author"]["username"] = "Another"
    said = "line 1: comments.items.0.author: Warning: Has other names here, and lookups show those.\n"
    assert load(text_of(other), tmp_path) == ("Imported 1 profiles, 0 of them new.\n", said)
    assert normal(looked_up(USER)) == normal(line())


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
