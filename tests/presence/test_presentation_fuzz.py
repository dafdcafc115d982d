"""Whatever the platform sends, there is a whole answer, of the documented types, that every reader of JSON can read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings as django_settings
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from presence.answer import presentation
from presence.answer.serializers import PresenceSerializer

Json = dict[str, Any]  # Any: a JSON value
SCHEMA = Draft202012Validator(json.loads((Path(__file__).parent / "schemas" / "presence.json").read_text()))
HOSTS = {"media.discordapp.net", "i.scdn.co", "static-cdn.jtvnw.net", "i.ytimg.com"}

TEXTS = st.text(st.characters(), max_size=8) | st.sampled_from(
    ["", "\0", "\ud800", "\udfff\ud800", "a_" + "0" * 32, "../..", "mp:external/a/..", "mp:external/a/b", "spotify:a/b",
     "spotify:ab", "twitch:x", "youtube:x\n", "1" * 19, "1" * 30, "https://evil.example/x", "online", "dnd",
     "spotify:1", "nameplates/x/"]
)  # fmt: skip
NUMBERS = (
    st.integers(-5, 10)
    | st.integers()
    | st.sampled_from([10**400, -(10**400), 2**53, 2**63, 2**64])
    | st.floats()
    | st.sampled_from([1e300, 2.0, 4.0])
)
PLAIN = st.none() | st.booleans() | NUMBERS | TEXTS
ANY = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6
)


def objects(**known: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object with some of the known fields, each of which may be anything; or something else altogether."""
    return st.fixed_dictionaries({}, optional={name: value | ANY for name, value in known.items()}) | ANY


TAGS = st.fixed_dictionaries(
    {"identity_enabled": st.just(value=True) | ANY},
    optional=dict.fromkeys(("identity_guild_id", "tag", "badge"), TEXTS | ANY),
)
PLATES = objects(nameplate=objects(asset=TEXTS))
DECORATIONS = objects(asset=TEXTS)
ACTIVITIES = objects(
    id=TEXTS,
    name=TEXTS,
    type=NUMBERS,
    state=TEXTS,
    details=TEXTS,
    sync_id=TEXTS,
    application_id=TEXTS,
    assets=objects(large_image=TEXTS, large_text=TEXTS, small_image=TEXTS, small_text=TEXTS),
    emoji=objects(id=TEXTS, name=TEXTS, animated=st.booleans()),
)
USERS = objects(
    username=TEXTS,
    global_name=TEXTS,
    discriminator=TEXTS,
    avatar=TEXTS,
    public_flags=NUMBERS,
    primary_guild=TAGS,
    collectibles=PLATES,
    avatar_decoration_data=DECORATIONS,
)
MEMBERS = objects(
    user=USERS,
    nick=TEXTS,
    avatar=TEXTS,
    banner=TEXTS,
    premium_since=TEXTS,
    collectibles=PLATES,
    avatar_decoration_data=DECORATIONS,
)
PRESENCES = objects(
    status=TEXTS,
    client_status=objects(desktop=TEXTS, mobile=TEXTS, web=TEXTS, vr=TEXTS, embedded=TEXTS),
    activities=st.lists(ACTIVITIES, max_size=3),
)


def whole_answer(**given_values: Any) -> Json:
    """What the answer says, read back out of its bytes."""
    presence = presentation.of(**given_values)
    assert presence.activity is None or any(presence.activity is one for one in presence.activities)
    written = json.dumps(PresenceSerializer().to_representation(presence), ensure_ascii=False, allow_nan=False)
    answer: Json = json.loads(written.encode())
    SCHEMA.validate(answer)
    assert _hosts(answer) <= HOSTS | {_host(django_settings.CHAT_CDN_URL), _host(django_settings.ASSET_URL)}
    return answer


def _host(url: str) -> str | None:
    return urlsplit(url).hostname


def _hosts(answer: Json) -> set[str | None]:
    """Of every URL but those that people write into their own texts."""
    found = [answer[name] for name in ("avatar", "serverAvatar", "serverBanner", "banner", "decoration", "nameplate")]
    found += [activity["image"] for activity in answer["activities"]]
    found += [badge["url"] for badge in answer["badges"].values()]
    found += [answer["status"]["url"], (answer["clan"] or {}).get("badge")]
    return {_host(url) for url in found if url}


@settings(max_examples=400, derandomize=True, deadline=None, database=None)
@given(data=st.data())
def test_fields_of_any_value(data: st.DataObject) -> None:
    """The known fields, each with a likely value or with anything."""
    presence = data.draw(PRESENCES)
    answer = whole_answer(
        chat_id=data.draw(st.integers(10**16, 2**63 - 1)),
        member=data.draw(MEMBERS),
        presence=presence,
        last_online=data.draw(st.none() | st.integers(0, 2**40)),
        banner=data.draw(st.none() | TEXTS),
        biography=data.draw(st.none() | TEXTS),
        profile_badges=data.draw(st.lists(TEXTS | ANY, max_size=3)),
    )
    entries = presence.get("activities") if isinstance(presence, dict) else None
    objects_of_list = [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
    assert len(answer["activities"]) == len(objects_of_list)
    assert answer["status"]["status"] == presentation.status_of(presence)
