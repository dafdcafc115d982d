"""GET /api/lookup/user answers what docs/spec/lookup.md says, key by key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from accounts import bans
from accounts.models import User
from lookup.documents import queries
from lookup.models import Badge, BadgeTier, ProfileBadge
from lookup.social import comments
from tests.factories.lookup import (
    AudioFactory,
    CustomBadgeFactory,
    LinkFactory,
    ProfileBadgeFactory,
    main_profile,
    shown,
)
from tests.lookup import answers, expected
from tests.lookup.answers import INCLUDES, compact
from tests.lookup.expected import SETTINGS
from tests.lookup.filled import BARE, CLEO, Filled, row


def test_everything_that_a_user_can_have(filled: Filled) -> None:
    """Compared as text: keys are in the order of the document, and a whole number has no fraction."""
    answer = answers.user("ada", *INCLUDES)
    assert answer.body == (whole := expected.whole(filled.profile.pk))
    assert answer.text == compact(whole)


def test_a_user_who_has_filled_in_nothing(bare: User) -> None:
    answer = answers.user("bare", *INCLUDES)
    profile = answer.body.pop("profile")
    settings = profile.pop("settings")
    assert {key: list(fields) for key, fields in settings.items()} == {key: list(SETTINGS[key]) for key in SETTINGS}
    assert profile == {
        "profileId": profile["profileId"],
        "name": "Bare",
        **dict.fromkeys(("displayName", "description", "location", "font", "fontUsername"), ""),
        "theme": "hearth",
        **dict.fromkeys(("soundEffect", "soundEffectButton"), ""),
        "createdAt": "2024-05-06T07:08:09.120Z",
        "updatedAt": profile["updatedAt"],
        **dict.fromkeys(("avatar", "banner", "cursor", "cursorPointer", "fontAsset", "fontUsernameAsset"), None),
        **dict.fromkeys(("soundEffectAsset", "soundEffectButtonAsset", "metadataFavicon", "metadataBanner"), None),
    }
    assert answer.body == {
        "error": None,
        "user": {
            "id": BARE,
            "uid": bare.uid,
            "username": "Bare",
            "name": None,
            "avatarUrl": None,
            "chatId": None,
            "scrobblerUsername": None,
            "premium": False,
            "verified": False,
            "imagehost": False,
            "inactive": False,
            "createdAt": "2024-05-06T07:08:09.120Z",
        },
        **{name: [] for name in INCLUDES[1:7]},
        **{name: [] for name in ("aliases", "gallery", "sections")},
        "views": 0,
        "feedback": {"likes": 0, "dislikes": 0},
        "comments": {"count": 0, "items": []},
    }


def test_only_what_is_asked_for_is_there_in_the_order_of_the_document(filled: Filled, unlimited: None) -> None:
    whole = expected.whole(filled.profile.pk)
    each_left_out = [tuple(include for include in INCLUDES if include != absent) for absent in INCLUDES]
    for asked in [(), *((include,) for include in INCLUDES), *each_left_out, INCLUDES[::-1]]:
        shown = {name: value for name, value in whole.items() if name in {"error", "user", *asked}}
        assert answers.user("ada", *asked).text == compact(shown), asked


@pytest.mark.parametrize("value", ["True", "1", "", "true ", "false", "tru\u0435", "true\x00"])
def test_only_true_enables(filled: Filled, value: str) -> None:
    answer = answers.user("lovelace", **dict.fromkeys([*INCLUDES, "showAliasProfile"], value))
    assert answer.whole == (200, {"error": None, "user": expected.USER})


@pytest.mark.parametrize(
    ("factory", "include"), [(LinkFactory, "links"), (CustomBadgeFactory, "badges"), (AudioFactory, "audios")]
)
def test_rows_of_one_place_are_in_the_order_of_their_ids(
    bare: User, factory: Callable[..., object], include: str
) -> None:
    numbers = (2, 3, 1)
    for number in numbers:
        factory(profile=main_profile(bare), id=row(number), order=0)
    shown(bare)
    assert [entry["id"] for entry in answers.user("bare", include).body[include]] == [row(1), row(2), row(3)]


def test_both_kinds_of_badge_are_ordered_by_id_at_one_place(bare: User) -> None:
    for number, factory in ((3, ProfileBadgeFactory), (1, CustomBadgeFactory), (2, ProfileBadgeFactory)):
        factory(profile=main_profile(bare), id=row(number), order=0)
    shown(bare)
    assert [entry["id"] for entry in answers.user("bare", "badges").body["badges"]] == [row(1), row(2), row(3)]


@pytest.mark.django_db
def test_profiles_that_share_a_badge_show_the_tiers_that_each_has() -> None:
    Badge.objects.create(id="early", name="Early", image="early.svg")
    BadgeTier.objects.bulk_create(BadgeTier(badge_id="early", tier=n, title=f"Tier {n}", image="t.svg") for n in (2, 1))
    rows = [
        ProfileBadge(badge_id="early", unlocked_tiers=[2, 1, 2], selected_tier=2),
        ProfileBadge(badge_id="early", unlocked_tiers=[1], selected_tier=2),
        ProfileBadge(badge_id="early", unlocked_tiers=[1], selected_tier=None),
        ProfileBadge(badge_id="early", unlocked_tiers=[1], selected_tier=None),
    ]
    shown = [
        (one.row, [(tier.tier, tier.is_unlocked, tier.is_selected) for tier in one.tiers])
        for one in queries.standard_badges(rows)
    ]
    assert shown == [
        (rows[0], [(1, True, False), (2, True, True)]),
        (rows[1], [(1, True, False), (2, False, True)]),
        (rows[2], [(1, True, False), (2, False, False)]),
        (rows[3], [(1, True, False), (2, False, False)]),
    ]


@pytest.mark.django_db
def test_a_badge_that_has_left_the_catalogue_is_left_out() -> None:
    assert list(queries.standard_badges([ProfileBadge(badge_id="gone")])) == []


# --- Comments ---


def _comments_of_ada() -> Any:
    """A JSON object."""
    return answers.user("ada", "comments").body["comments"]


def test_a_ban_of_the_owner_leaves_what_they_wrote_elsewhere(filled: Filled) -> None:
    comment = comments.write(user=filled.ben, content="From Ada", by=filled.user)
    bans.ban(user=filled.user, by=None, reason="x")
    assert answers.user("ben", "comments").body["comments"] == {"count": 0, "items": []}
    bans.lift(user=filled.user, by=None, reason="x")
    (item,) = answers.user("ben", "comments").body["comments"]["items"]
    assert item["id"] == comment.pk
    assert item["author"]["username"] == "Ada"


def test_an_author_is_shown_as_they_are_now(filled: Filled) -> None:
    User.objects.filter(pk=CLEO).update(username="Cleopatra", display_name="")
    author = _comments_of_ada()["items"][2]["author"]
    assert author == {**expected.BY_CLEO, "username": "Cleopatra", "name": ""}


def test_a_private_author_is_shown(filled: Filled) -> None:
    """Only the lookup of a private user is closed; what they wrote on a public page stays there."""
    User.objects.filter(pk=CLEO).update(public_api_access=False)
    assert _comments_of_ada()["count"] == 108
    assert _comments_of_ada()["items"] == expected.COMMENTS
