"""GET /api/lookup/user answers what document 2 says, key by key."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest

from accounts.models import User
from tests.lookup import answers, expected_current
from tests.lookup.answers import INCLUDES, compact
from tests.lookup.filled import BARE, Filled
from tests.lookup.filled_settings import SETTINGS


def test_everything_that_a_user_can_have(filled: Filled) -> None:
    """Compared as text: the keys stand in the order of the document, and a whole number has no fraction."""
    answer = answers.user("ada", *INCLUDES)
    expected = expected_current.whole(filled.profile.pk)
    assert answer.body == expected
    assert answer.text == compact(expected)


def test_the_settings_are_the_decided_22(filled: Filled) -> None:
    assert (
        list(answers.user("ada", "profile").body["profile"]["settings"])
        == (
            "badgesSettings linksSettings colorsSettings cardSettings textSettings usernameSettings avatarSettings "
            "backgroundSettings cursorSettings audioSettings enterSettings animationSettings typewriterSettings "
            "titleSettings metadataSettings presenceSettings aboutMeSettings skillsSettings projectsSettings "
            "viewsSettings feedbackSettings commentsSettings"
        ).split()
    )


def test_a_user_who_has_filled_in_nothing(bare: User) -> None:
    answer = answers.user("bare", *INCLUDES)
    profile = answer.body.pop("profile")
    settings = profile.pop("settings")
    assert {key: list(fields) for key, fields in settings.items()} == {key: list(SETTINGS[key]) for key in SETTINGS}
    assert profile == {
        "profileId": profile["profileId"],
        "name": "Bare",
        **dict.fromkeys(("displayName", "description", "location", "theme", "font", "fontUsername"), ""),
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
            "uid": 1,
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


def _subsets() -> Iterator[tuple[str, ...]]:
    """None, each alone, each left out, and every pair with the one that comes before it in the query."""
    yield ()
    yield from ((include,) for include in INCLUDES)
    yield from (tuple(include for include in INCLUDES if include != absent) for absent in INCLUDES)
    yield from ((later, earlier) for earlier, later in combinations(INCLUDES, 2))


def test_only_what_is_asked_for_is_there_in_the_order_of_the_document(filled: Filled, unlimited: None) -> None:
    whole = expected_current.whole(filled.profile.pk)
    for asked in _subsets():
        expected = {name: value for name, value in whole.items() if name in {"error", "user", *asked}}
        assert answers.user("ada", *asked).text == compact(expected), asked


@pytest.mark.parametrize(
    "value", ["True", "TRUE", "1", "yes", "on", "t", "", "true ", " true", "false", "tru\u0435", "true\x00", "truetrue"]
)
def test_only_true_enables(filled: Filled, value: str) -> None:
    answer = answers.user("lovelace", **dict.fromkeys([*INCLUDES, "showAliasProfile"], value))
    assert answer.whole == (200, {"error": None, "user": expected_current.USER})


def test_true_may_be_escaped_as_any_query_may(filled: Filled) -> None:
    answer = answers.raw_user("v%69ews=%74rue&type=user%6eame&value=%41da")
    assert answer.whole == (200, {"error": None, "user": expected_current.USER, "views": 1234})


def test_an_unknown_parameter_changes_nothing(filled: Filled) -> None:
    assert answers.user("ada", lyrics="true", presence="true").body == {"error": None, "user": expected_current.USER}
