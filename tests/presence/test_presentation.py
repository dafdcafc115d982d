"""The whole answer, against what was written by hand: for a member with everything, for one with nothing, for each rule
that is about the member."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pytest_django import Settings
from rest_framework import serializers

from presence.answer import presentation
from presence.answer.serializers import ActivitySerializer, ChatBadgesSerializer, PresenceSerializer
from tests.presence import whole_members
from tests.presence.whole_members import (
    ADA,
    CDN,
    EVERYTHING,
    HASH,
    MOVING,
    NOTHING,
    SHOWN_NOTHING,
    Json,
)

LOST = "\N{REPLACEMENT CHARACTER}"
NO_TEXTS: list[object] = ["", None, 1, []]
NO_IDS: list[object] = [None, "", "../x", "1" * 21]
NOT_TRUE: list[object] = [False, None, 1, "true"]
EMPTY: Json = {**NOTHING, "member": {}}


@pytest.fixture(autouse=True)
def _addresses(settings: Settings) -> None:
    whole_members.addresses(settings)


def text(answer: object) -> str:
    """With the order of keys."""
    return json.dumps(answer, indent=1, ensure_ascii=False)


def shown(given: Json) -> Json:
    return PresenceSerializer().to_representation(presentation.of(**given))


def changed(given: Json = NOTHING, *, user: Json | None = None, **member: Any) -> Json:
    """`given` with other values of the member, or of its user."""
    kept = given["member"]
    return {**given, "member": {**kept, "user": {**kept["user"], **(user or {})}, **member}}


def of_fields(serializer: serializers.Serializer[Any], instance: object) -> object:
    """What Django REST framework makes of the fields."""
    return serializers.Serializer.to_representation(serializer, instance)


@pytest.mark.parametrize("given", [EVERYTHING, NOTHING, EMPTY])
def test_the_written_forms_say_what_the_fields_say(given: Json) -> None:
    presence, answer = presentation.of(**given), shown(given)
    assert text(of_fields(PresenceSerializer(), presence)) == text(answer)
    assert text(of_fields(ChatBadgesSerializer(), presence.badges)) == text(answer["badges"])
    activities = [of_fields(ActivitySerializer(), activity) for activity in presence.activities]
    assert text(activities) == text(answer["activities"])


@pytest.mark.parametrize(
    ("user", "names"),
    [
        ({"username": "ada", "global_name": "Ada"}, ("ada", "Ada")),
        ({"username": "ada", "global_name": None}, ("ada", "ada")),
        ({"username": "ada", "global_name": ""}, ("ada", "ada")),
        ({"username": "ada", "global_name": 7}, ("ada", "ada")),
        ({"username": None, "global_name": "Ada"}, ("", "Ada")),
        ({"username": ["ada"], "global_name": {}}, ("", "")),
        ({"username": "a\0\ud800", "global_name": "\udc00"}, (f"a\0{LOST}", LOST)),
    ],
)  # fmt: skip
def test_names(user: Json, names: tuple[str, str]) -> None:
    username, global_name = names
    assert shown(changed(user=user)) == {**SHOWN_NOTHING, "username": username, "globalName": global_name}


@pytest.mark.parametrize(
    ("nick", "expected"),
    [("Countess", "Countess"), (" ", " "), *((none, None) for none in NO_TEXTS)],
)
def test_the_nick(nick: object, expected: str | None) -> None:
    assert shown(changed(nick=nick)) == {**SHOWN_NOTHING, "serverNick": expected}


ONE, OTHER = {"asset": "nameplates/one/"}, {"asset": "nameplates/two/"}
BAD: list[Any] = [None, {"asset": None}, {"asset": "../x"}, []]  # Any: of every JSON type


@pytest.mark.parametrize(
    ("of_member", "of_user", "expected"),
    [
        (ONE, OTHER, "one"),
        (ONE, None, "one"),
        *((bad, OTHER, "two") for bad in BAD),
        *((bad, bad, None) for bad in BAD),
    ],
)
def test_a_nameplate_of_the_member_goes_before_that_of_the_user(
    of_member: object, of_user: object, expected: str | None
) -> None:
    given = changed(user={"collectibles": {"nameplate": of_user}}, collectibles={"nameplate": of_member})
    url = f"{CDN}/assets/collectibles/nameplates/{expected}/asset.webm" if expected else None
    assert shown(given) == {**SHOWN_NOTHING, "nameplate": url}


@pytest.mark.parametrize(("of_member", "expected"), [({"asset": MOVING}, MOVING), *((bad, HASH) for bad in BAD)])
def test_a_decoration_of_the_member_goes_before_that_of_the_user(of_member: object, expected: str) -> None:
    given = changed(user={"avatar_decoration_data": {"asset": HASH}}, avatar_decoration_data=of_member)
    assert shown(given) == {**SHOWN_NOTHING, "decoration": f"{CDN}/avatar-decoration-presets/{expected}.png"}


TAG = {"identity_guild_id": "41771983423143937", "identity_enabled": True, "tag": "LOVE", "badge": HASH}
SHOWN_TAG = {"tag": "LOVE", "badge": f"https://cdn.example/guild-tag-badges/41771983423143937/{HASH}.png"}


@pytest.mark.parametrize(
    ("guild", "expected"),
    [
        (TAG, SHOWN_TAG),
        ({**TAG, "tag": "愛\ud800"}, {**SHOWN_TAG, "tag": f"愛{LOST}"}),
        *(({**TAG, "identity_enabled": bad}, None) for bad in NOT_TRUE),
        *(({**TAG, "tag": bad}, None) for bad in NO_TEXTS),
        *(({**TAG, "badge": bad}, None) for bad in (*NO_TEXTS, "../x", "a b")),
        *(({**TAG, "identity_guild_id": bad}, None) for bad in NO_IDS),
        *(({name: value for name, value in TAG.items() if name != gone}, None) for gone in TAG),
        *((bad, None) for bad in (*NO_TEXTS, "LOVE")),
    ],
)
def test_the_tag_of_a_chat_server(guild: object, expected: Json | None) -> None:
    assert shown(changed(user={"primary_guild": guild})) == {**SHOWN_NOTHING, "clan": expected}


@pytest.mark.parametrize(
    ("banner", "url"),
    [
        (HASH, f"{CDN}/banners/{ADA}/{HASH}.png"),
        (MOVING, f"{CDN}/banners/{ADA}/{MOVING}.gif"),
        (None, None),
        ("", None),
        ("../x", None),
    ],
)
def test_the_banner_is_the_one_that_rest_answered(banner: str | None, url: str | None) -> None:
    given = {**changed(user={"banner": MOVING}), "banner": banner}
    assert shown(given) == {**SHOWN_NOTHING, "banner": url}


@pytest.mark.parametrize(
    ("biography", "expected"),
    [
        ("Hello\n*world* 🌱", "Hello\n*world* 🌱"),
        ("", None),
        (None, None),
        ("a\0\ud800", f"a\0{LOST}"),
    ],
)
def test_the_biography(biography: str | None, expected: str | None) -> None:
    assert shown({**NOTHING, "biography": biography}) == {**SHOWN_NOTHING, "biography": expected}


@pytest.mark.parametrize("status", ["online", "idle", "dnd", "streaming", "offline"])
def test_each_status_has_a_picture(status: str) -> None:
    activities = [{"type": 1, "name": "Twitch"}] if status == "streaming" else []
    presence = {"status": status, "client_status": {"web": status}, "activities": activities}
    expected = {"status": status, "url": f"https://assets.example/status/{status}.png"}
    assert shown({**NOTHING, "presence": presence})["status"] == expected
