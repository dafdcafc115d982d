"""The files of a profile: uploaded, replaced, removed, mirrored, and seen in lookups."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import LinkedAccount, User
from dashboard.profile.forms import PLACES
from lookup.documents import document_checks
from lookup.editing import profiles
from lookup.editing.uploads import Kind
from lookup.models import Asset, Profile
from tests.dashboard.profile import sounds_and_fonts as made
from tests.dashboard.profile.editor import said
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AssetFactory, main_profile
from tests.imagehost import media_corpus
from tests.lookup import statements

PAGE = "/dashboard/profile/media/"
CONTENT = {
    Kind.IMAGE: media_corpus.sample("png-rgb").content,
    Kind.AUDIO: made.sound("mp3"),
    Kind.FONT: made.woff(),
}


def send(client: Client, place: str, content: bytes, name: str = "file.bin") -> Any:
    """A response of the test client, which Django gives no public type."""
    return client.post(f"{PAGE}{place}/", {f"{place}-file": SimpleUploadedFile(name, content)})


def shown(profile: Profile, place: str) -> Asset | None:
    asset: Asset | None = getattr(Profile.objects.get(pk=profile.pk), place)
    return asset


def test_every_asset_of_a_profile_has_a_place() -> None:
    assert set(PLACES) == set(Profile.ASSETS)


def test_pictures_that_have_a_shape_on_the_page_can_be_cropped(signed_in: Client, profile: Profile) -> None:
    page = signed_in.get(PAGE)
    sizes = {card.form.place: card.form.fields["file"].widget.attrs.get("data-crop") for card in page.context["cards"]}
    assert {place: size for place, size in sizes.items() if size} == {
        "avatar": "1024x1024",
        "banner": "2400x800",
        "metadata_favicon": "256x256",
        "metadata_banner": "1200x630",
    }
    assert page.content.count(b"data-crop-dialog") == 1
    assert "blob:" not in page.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("place", "key"),
    [
        ("avatar", "avatar"),
        ("font_username_asset", "fontUsernameAsset"),
        ("sound_effect_button_asset", "soundEffectButtonAsset"),
    ],
)
def test_a_file_goes_from_the_page_to_the_lookup_and_away_again(
    place: str,
    key: str,
    signed_in: Client,
    profile: Profile,
    looked_up: Callable[..., Any],
    store_directory: Path,
    django_capture_on_commit_callbacks: Any,
) -> None:
    assert send(signed_in, place, CONTENT[PLACES[place].kind]).headers["Location"] == PAGE
    asset = shown(profile, place)
    assert asset is not None
    found = looked_up("profile")["profile"][key]
    assert found["url"].endswith(f"/uploads/{asset.path}")
    assert found["mime"] == asset.mime
    page = signed_in.get(PAGE)
    assert f"/uploads/{asset.path}" in page.content.decode()
    answer: Any = signed_in.get(f"/uploads/{asset.path}")
    assert b"".join(answer.streaming_content) == (store_directory / "uploads" / asset.path).read_bytes()
    assert "Remove “" in said(signed_in.get(f"{PAGE}{place}/remove/"))
    assert shown(profile, place) == asset
    with django_capture_on_commit_callbacks(execute=True):
        signed_in.post(f"{PAGE}{place}/remove/")
    assert shown(profile, place) is None
    assert looked_up("profile")["profile"][key] is None
    assert not Asset.objects.exists()
    assert not (store_directory / "uploads" / asset.path).exists()
    assert signed_in.get(f"/uploads/{asset.path}").status_code == 404
    assert list(document_checks.differences()) == []


def test_a_replaced_file_is_removed_unless_something_else_shows_it(signed_in: Client, user: User) -> None:
    profile = main_profile(user)
    send(signed_in, "avatar", CONTENT[Kind.IMAGE])
    first = shown(profile, "avatar")
    assert first is not None
    profiles.change(profile=profile, values={"banner": first}, by=user)
    send(signed_in, "avatar", CONTENT[Kind.IMAGE])
    assert Asset.objects.count() == 2
    send(signed_in, "banner", CONTENT[Kind.IMAGE])
    assert not Asset.objects.filter(pk=first.pk).exists()
    assert Asset.objects.count() == 2


@pytest.mark.parametrize(
    ("place", "content", "message"),
    [
        ("avatar", b"", "This file is empty."),
        ("font_asset", CONTENT[Kind.IMAGE], "of another type than WOFF2, WOFF, TTF or OTF."),
        ("font_asset", bytes(2 * 1024 * 1024 + 52429), "This file has 2.1 MB; at most 2 MB are allowed."),
    ],
)
def test_a_refused_file_is_explained_at_its_place_alone(
    place: str, content: bytes, message: str, signed_in: Client, profile: Profile
) -> None:
    response = send(signed_in, place, content, "picture.png")
    assert response.status_code == 200
    assert message in said(response)
    assert [card.form.place for card in response.context["cards"] if card.form.errors] == [place]
    assert (shown(profile, place), Asset.objects.count()) == (None, 0)


def test_the_picture_of_the_chat_account_is_mirrored_and_not(
    signed_in: Client, user: User, looked_up: Callable[..., Any]
) -> None:
    LinkedAccount.objects.create(user=user, kind=LinkedAccount.Kind.SCROBBLER, external_id="9", name="ada")
    assert "Picture of your chat account" not in said(signed_in.get(PAGE))
    LinkedAccount.objects.create(user=user, kind=LinkedAccount.Kind.CHAT, external_id="123", name="ada")
    assert "Show the picture of my chat account" in said(signed_in.get(PAGE))
    signed_in.post(f"{PAGE}mirror/", {"mirror": "on"})
    assert looked_up("profile")["profile"]["avatar"]["url"].endswith(f"/api/chat/avatar/{user.pk}")
    assert "Show my own picture" in said(signed_in.get(PAGE))
    signed_in.post(f"{PAGE}mirror/", {"mirror": "off"})
    assert looked_up("profile")["profile"]["avatar"] is None
    assert main_profile(user).settings == {}


def test_unknown_and_empty_places_are_not_found(signed_in: Client) -> None:
    for path in ("nothing/", "nothing/remove/", "avatar/remove/", "settings/remove/"):
        assert signed_in.get(f"{PAGE}{path}").status_code == 404
        assert signed_in.post(f"{PAGE}{path}").status_code == 404


@pytest.mark.embedded
def test_the_page_takes_as_many_queries_with_all_files_as_with_one(signed_in: Client, user: User) -> None:
    profile = main_profile(user)
    profiles.change(profile=profile, values={"avatar": AssetFactory(owner=user)}, by=user)
    # The page's own: the profile, its files, their sum, the chat account, profiles to edit.
    with_one = statements.names(lambda: signed_in.get(PAGE))
    files = {place: AssetFactory(owner=user) for place in Profile.ASSETS}
    profiles.change(profile=profile, values=files, by=user)
    assert statements.names(lambda: signed_in.get(PAGE)) == with_one


def test_the_file_of_another_user_cannot_be_shown(user: User, profile: Profile) -> None:
    with pytest.raises(PermissionDenied):
        profiles.change(profile=profile, values={"avatar": AssetFactory(owner=UserFactory())}, by=user)
