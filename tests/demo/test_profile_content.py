"""The profiles of the demo users."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as project
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings
from whitenoise.middleware import WhiteNoiseMiddleware  # type: ignore[import-untyped]  # it has no types

from accounts.models import LinkedAccount, Name, User
from accounts.models.names import NameKind
from demo import profile_content, seeding
from demo.profile_content import showcase
from imagehost.models import File
from lookup import leaderboards
from lookup.documents import document_checks
from lookup.editing import profiles
from lookup.models import (
    Alias,
    Asset,
    Audio,
    Background,
    Comment,
    CustomBadge,
    FeedbackVote,
    GalleryItem,
    Link,
    Profile,
    ProfileBadge,
    ProfileDocument,
    Project,
    Section,
    Widget,
)
from lookup.shapes import sections, settings_schema
from lookup.shapes.settings_schema import FIELDS
from tests.factories.accounts import UserFactory
from tests.lookup.profile_pages import NOT_KEPT, html_of

pytestmark = pytest.mark.django_db

INCLUDES = (
    "profile badges widgets audios backgrounds links projects views aliases gallery sections feedback comments".split()
)
Json = dict[str, Any]  # Any: a JSON value


@pytest.fixture(autouse=True)
def _unlimited(settings: Any, entry: Json) -> None:
    settings.RATE_LIMITS_ENABLED = False


def lookup(entry: Json, value: str, client: Client) -> Json:
    key = next(key["key"] for key in entry["api_keys"] if key["permissions"] == ["lookup:user"])
    wanted = {"type": "username", "value": value, "showAliasProfile": "true"} | dict.fromkeys(INCLUDES, "true")
    answer = client.get("/api/lookup/user", wanted, headers={"X-API-Key": key})
    assert answer.status_code == 200
    return dict(answer.json())


def leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Every value that is no list and no object, and the empty ones of those; places in lists are left out."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from leaves(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for inner in value:
            yield from leaves(inner, path)
    else:
        yield path, value


def never_filled(answer: Json) -> set[str]:
    found = list(leaves(answer))
    filled = [path for path, value in found if value not in (None, "", [], {})]
    return {path for path, _ in found if not any(f"{other}.".startswith(f"{path}.") for other in filled)}


def test_every_field_of_adas_answer_is_filled_somewhere(entry: Json, client: Client) -> None:
    empty = never_filled(lookup(entry, "ada", client))
    assert empty - {"error"} == {path for path in empty if path.rpartition(".")[2] in {"width", "height", "duration"}}
    # Pictures last no time, and sounds and fonts have no size.
    assert {path for path in empty if path.endswith("duration")}.isdisjoint({"audios.audio.duration"})
    assert {path for path in empty if path.endswith("width")}.isdisjoint(
        {"gallery.asset.width", "profile.avatar.width"}
    )


def test_every_include_of_adas_other_profile_is_filled(entry: Json, client: Client) -> None:
    answer = lookup(entry, showcase.OWN_ALIAS, client)
    assert answer["user"]["username"] == "ada"
    assert answer["profile"]["name"] == showcase.OWN_ALIAS
    assert answer["user"]["avatarUrl"].endswith("/demo/avatar-7.svg")
    assert [name for name in INCLUDES if not answer[name]] == []
    aliases = [(alias["name"], alias["redirect"], alias["profileId"]) for alias in answer["aliases"]]
    assert aliases == [
        (showcase.REDIRECTING_ALIAS, True, None),
        (showcase.OWN_ALIAS, False, answer["profile"]["profileId"]),
    ]


def test_every_field_of_adas_earlier_answer_is_filled_somewhere(entry: Json, client: Client) -> None:
    key = next(key["key"] for key in entry["api_keys"] if key["permissions"] == ["account"])
    answer = client.get("/api/lookup/username/ada", {"key": key}).json()
    assert never_filled(answer) == {"alias.profileId"}  # the first alias leads to her username
    leaderboards.rank()
    first = client.get("/api/leaderboard/views", {"key": key}).json()[0]
    assert (first["user"]["username"], first["score"]) == ("ada", showcase.VIEWS)
    assert never_filled(first) == set()


def test_adas_settings_differ_wherever_a_profile_can_look_different() -> None:
    stored = Profile.objects.get(user__username="ada", is_main=True).settings
    assert settings_schema.validated(showcase.SETTINGS) == stored == showcase.SETTINGS
    switches = {field.key for field in FIELDS} - set(stored)
    assert switches == {"viewsSettings", "feedbackSettings", "commentsSettings"}  # these can only be turned off


def test_ben_is_as_new_and_cleo_shows_her_chat_picture(entry: Json, client: Client) -> None:
    ben, cleo = lookup(entry, "ben", client), lookup(entry, "cleo", client)
    lists = "badges widgets audios backgrounds links projects views aliases gallery sections".split()
    assert [name for name in lists if ben[name]] == []
    assert ben["user"]["avatarUrl"] is None
    assert cleo["user"]["premium"] is True
    assert cleo["user"]["avatarUrl"].endswith(f"/api/chat/avatar/{cleo['user']['id']}")
    answer = client.get(f"/api/chat/avatar/{cleo['user']['id']}")
    assert answer.headers["Location"].endswith("/uploads/demo/avatar-9.svg")


def test_everything_is_valid_and_every_file_exists() -> None:
    assert list(document_checks.differences()) == []
    for section in Section.objects.all():
        assert sections.is_valid(section.type, section.config)
    for link in Link.objects.select_related("profile"):
        link.clean()
    uploads = Path(project.BASE_DIR) / "demo" / "static" / "uploads"
    assert [path for path in Asset.objects.values_list("path", flat=True) if not (uploads / path).is_file()] == []


def test_files_are_served_with_the_type_that_the_lookup_names() -> None:
    served = WhiteNoiseMiddleware(lambda request: HttpResponse()).media_types
    named = set(Asset.objects.values_list("path", "mime"))
    assert {mime for _, mime in named} >= {"audio/wav", "font/woff", "image/svg+xml"}
    assert {(path, served.get_type(path)) for path, _ in named} == named


def test_what_the_demo_users_changed_stays(entry: Json) -> None:
    Profile.objects.filter(user__username="ada", is_main=True).update(description="Mine now.")
    Link.objects.filter(profile__user__username="ada").delete()
    Comment.objects.filter(author__username="ben").delete()
    before = list(ProfileDocument.objects.order_by("pk").values_list("pk", "fingerprint", "profile_text"))
    assert seeding.seed() == entry
    assert Profile.objects.get(user__username="ada", is_main=True).description == "Mine now."
    assert not Link.objects.filter(profile__user__username="ada").exists()
    assert not Comment.objects.filter(author__username="ben").exists()
    assert list(ProfileDocument.objects.order_by("pk").values_list("pk", "fingerprint", "profile_text")) == before


def test_a_demo_of_an_earlier_release_is_filled() -> None:
    """Its users are there with nothing on their profiles, and there is no population."""
    demo_users = ("keeper", "ada", "ben", "cleo")
    File.objects.exclude(owner__username__in=demo_users).delete()
    User.objects.exclude(username__in=demo_users).delete()
    Name.objects.filter(kind=NameKind.ALIAS).delete()
    for rows in (Comment, FeedbackVote, Profile, Asset):
        rows.objects.all().delete()
    for username in demo_users:
        profiles.create_for(User.objects.get(username=username))
    seeding.seed()
    assert User.objects.count() == 4 + profile_content.MEMBERS
    assert Comment.objects.filter(user__username="ada", parent=None).count() == len(showcase.COMMENTS)
    assert Alias.objects.filter(name__user__username="ada").count() == 2


def test_an_emptied_profile_is_filled_again_and_what_others_said_stays() -> None:
    comments = set(Comment.objects.values_list("pk", flat=True))
    ada = Profile.objects.get(user__username="ada", is_main=True)
    Profile.objects.filter(pk=ada.pk).update(description="")
    for rows in (Link, Section, ProfileBadge, CustomBadge, Widget, Audio, Background, Project, GalleryItem):
        rows.objects.filter(profile=ada).delete()
    seeding.seed()
    assert Link.objects.filter(profile=ada).count() == len(showcase.LINKS)
    assert set(Comment.objects.values_list("pk", flat=True)) == comments
    assert list(document_checks.differences()) == []


def test_an_alias_that_somebody_has_is_left_to_them(entry: Json) -> None:
    File.objects.all().delete()
    for user in entry["users"]:
        User.objects.get(pk=user["id"]).delete()
    other = UserFactory(username=showcase.OWN_ALIAS)
    seeding.path().unlink()
    seeding.seed()
    assert Name.objects.by_name(showcase.OWN_ALIAS).get().user == other
    assert Name.objects.by_name(showcase.REDIRECTING_ALIAS).get().user.username == "ada"


def test_the_chat_pictures_follow_the_service_unless_they_are_others(settings: Any, entry: Json) -> None:
    settings.UPLOAD_CDN_URL = "https://files.example"
    ada, cleo = entry["users"][0]["id"], entry["users"][2]["id"]
    LinkedAccount.objects.filter(user=ada, kind="CHAT").update(avatar_url="https://chat.example/other.png")
    seeding.seed()
    assert LinkedAccount.objects.get(user=ada, kind="CHAT").avatar_url == "https://chat.example/other.png"
    assert LinkedAccount.objects.get(user=cleo, kind="CHAT").avatar_url == "https://files.example/demo/avatar-9.svg"


def test_the_pages_are_what_they_are_without_being_kept(entry: dict[str, Any], settings: Settings) -> None:
    shown = User.objects.filter(is_active=True, public_api_access=True).order_by("uid")
    names = [*shown.values_list("username", flat=True)]
    names += Alias.objects.filter(name__user__in=shown, redirects=False).values_list("name__name", flat=True)
    members = {user.username: Client() for user in shown}
    for user in shown:
        members[user.username].force_login(user)

    def pages() -> Iterator[str]:
        for name in names:
            yield html_of(Client(), f"/{name}")
            yield html_of(members["ben"], f"/{name}")
            yield html_of(members.get(name, Client()), f"/{name}")

    assert len(names) > 40
    made, kept = list(pages()), list(pages())
    settings.CACHES = {**settings.CACHES, "pages": NOT_KEPT}
    assert made == kept == list(pages())
