"""The files of a profile: what is taken, by content alone; uploaded, replaced, removed, mirrored, seen in lookups."""

from __future__ import annotations

import itertools
import struct
import zlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from accounts import rate_limits
from accounts.models import LinkedAccount, User
from dashboard.profile import media
from dashboard.profile.forms import PLACES, accepted_files
from imagehost.examining import probing
from imagehost.models import PreviewTurn
from lookup.documents import document_checks
from lookup.editing import profiles
from lookup.editing.uploads import MIB, Kind
from lookup.models import Asset, Profile
from tests.dashboard.profile import sounds_and_fonts as made
from tests.dashboard.profile.editor import said
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AssetFactory, BackgroundFactory, main_profile
from tests.imagehost import media_corpus
from tests.imagehost.media_corpus import pieces
from tests.imagehost.media_corpus.sample import PLACE
from tests.lookup import statements
from tests.pages.markup import page_of

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


def cards(page: Any) -> list[Any]:
    """Those of the page, then those of API clients."""
    return [*page.context["cards"], *page.context["client_cards"]]


def drawn(client: Client) -> dict[str, list[str]]:
    """The drawing of the page: the pictures of each place, by where it leads."""
    places = page_of(client.get(PAGE)).xpath("//nav[@aria-label='Files on your page']//a")
    return {place.get("href"): place.xpath(".//img/@src | .//video/@src") for place in places}


def test_the_drawing_has_a_place_for_what_the_public_page_shows_and_each_leads_to_its_form(
    signed_in: Client, user: User, profile: Profile
) -> None:
    page = page_of(signed_in.get(PAGE))
    assert drawn(signed_in) == {
        "#place-metadata_favicon": [],
        "#place-background": [],
        "#place-banner": [],
        "#place-avatar": [],
        "#place-metadata_banner": [],
    }
    ids = set(page.xpath("//main//li/@id"))
    assert {f"#{name}" for name in ids} >= set(drawn(signed_in))
    below = page.xpath("//details[@id='clients']//li/@id")
    assert sorted(below) == sorted(f"place-{name}" for name, place in PLACES.items() if not place.on_page)
    files = {place: AssetFactory(owner=user) for place in Profile.ASSETS}
    profiles.change(profile=profile, values=files, by=user)
    BackgroundFactory.create(profile=profile, is_active=False)
    ground = BackgroundFactory.create(profile=profile, asset=AssetFactory(owner=user, mime="video/mp4"))
    shown = {f"#place-{place}": [f"/uploads/{asset.path}"] for place, asset in files.items() if PLACES[place].on_page}
    assert drawn(signed_in) == shown | {"#place-background": [f"/uploads/{ground.asset.path}"]}
    public = signed_in.get(f"/{user.username}").content.decode()
    for place, asset in files.items():
        assert (asset.path in public) is PLACES[place].on_page, place


def test_the_preview_in_messengers_is_the_banner_where_there_is_no_other_picture(
    signed_in: Client, user: User, profile: Profile
) -> None:
    banner = AssetFactory(owner=user)
    profiles.change(profile=profile, values={"banner": banner}, by=user)
    assert drawn(signed_in)["#place-metadata_banner"] == [f"/uploads/{banner.path}"]


def test_every_asset_has_a_place_and_pictures_that_have_a_shape_on_the_page_can_be_cropped(
    signed_in: Client, profile: Profile
) -> None:
    assert set(PLACES) == set(Profile.ASSETS)
    page = signed_in.get(PAGE)
    sizes = {card.form.place: card.form.fields["file"].widget.attrs.get("data-crop") for card in cards(page)}
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
    with pytest.raises(PermissionDenied):
        profiles.change(profile=profile, values={"avatar": AssetFactory(owner=UserFactory())}, by=user)


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
    assert [card.form.place for card in cards(response) if card.form.errors] == [place]
    assert bool(page_of(response).xpath("//details[@id='clients'][@open]")) is not PLACES[place].on_page
    assert (shown(profile, place), Asset.objects.count()) == (None, 0)


def test_the_picture_of_the_chat_account_is_mirrored_and_not(
    signed_in: Client, user: User, looked_up: Callable[..., Any]
) -> None:
    profile = main_profile(user)
    profiles.change(profile=profile, values={"avatar": AssetFactory(owner=user)}, by=user)
    LinkedAccount.objects.create(user=user, kind=LinkedAccount.Kind.SCROBBLER, external_id="9", name="ada")
    assert "Picture of your chat account" not in said(signed_in.get(PAGE))
    LinkedAccount.objects.create(user=user, kind=LinkedAccount.Kind.CHAT, external_id="123", name="ada")
    assert "Show the picture of my chat account" in said(signed_in.get(PAGE))
    signed_in.post(f"{PAGE}mirror/", {"mirror": "on"})
    assert looked_up("profile")["profile"]["avatar"]["url"].endswith(f"/api/chat/avatar/{user.pk}")
    assert "Show my own picture" in said(signed_in.get(PAGE))
    assert drawn(signed_in)["#place-avatar"] == []
    signed_in.post(f"{PAGE}mirror/", {"mirror": "off"})
    assert looked_up("profile")["profile"]["avatar"]["url"].endswith(drawn(signed_in)["#place-avatar"][0])
    assert main_profile(user).settings == {}


@pytest.mark.parametrize(
    ("mime", "words"),
    [
        ("image/svg+xml", "SVG drawing"),
        ("image/png", "PNG picture"),
        ("image/jpeg", "JPEG picture"),
        ("image/webp", "WebP picture"),
        ("video/mp4", "MP4 video"),
        ("audio/mpeg", "MP3 sound"),
        ("audio/mp4", "M4A sound"),
        ("font/woff2", "WOFF2 font"),
        ("image/x-unknown", "image/x-unknown"),
    ],
)
def test_a_file_is_described_in_words(mime: str, words: str, signed_in: Client, user: User, profile: Profile) -> None:
    profiles.change(profile=profile, values={"banner": AssetFactory(owner=user, mime=mime)}, by=user)
    (card,) = page_of(signed_in.get(PAGE)).xpath("//li[@id='place-banner']")
    assert f"{words}, 640 \N{MULTIPLICATION SIGN} 480 px" in [text.strip() for text in card.xpath(".//p/text()")]


@pytest.mark.parametrize(
    ("size", "used"),
    [(None, "Nothing yet, of 200 MB"), (12_000, "11.7 KB of 200 MB"), (3 * MIB, "3.0 MB of 200 MB")],
)
def test_the_used_storage_is_written_in_words(size: int | None, used: str, signed_in: Client, user: User) -> None:
    AssetFactory(owner=user, size=size)
    assert used in said(signed_in.get(PAGE))


def test_unknown_and_empty_places_are_not_found(signed_in: Client) -> None:
    for path in ("nothing/", "nothing/remove/", "avatar/remove/", "settings/remove/"):
        assert signed_in.get(f"{PAGE}{path}").status_code == 404
        assert signed_in.post(f"{PAGE}{path}").status_code == 404


@pytest.mark.embedded
def test_the_page_takes_as_many_queries_with_all_files_as_with_one(signed_in: Client, user: User) -> None:
    profile = main_profile(user)
    profiles.change(profile=profile, values={"avatar": AssetFactory(owner=user)}, by=user)
    # The page's own: the profile, its files, backgrounds, their sum, the chat account, profiles to edit.
    with_one = statements.names(lambda: signed_in.get(PAGE))
    files = {place: AssetFactory(owner=user) for place in Profile.ASSETS}
    profiles.change(profile=profile, values=files, by=user)
    assert statements.names(lambda: signed_in.get(PAGE)) == with_one


PICTURES = ("png-gps", "jpeg-gps", "webp-gps", "gif-comment", "avif-gps", "mp4-gps", "webm-gps", "mov-gps")
FONTS = {
    "ttf": (made.plain_font(), "font/ttf", "ttf"),
    "otf": (made.plain_font(flavor=b"OTTO"), "font/otf", "otf"),
    "woff": (made.woff(), "font/woff", "woff"),
    "woff2": (made.woff2(), "font/woff2", "woff2"),
    "demo": (Path("demo/static/uploads/demo-fonts/pixel.woff").read_bytes(), "font/woff", "woff"),
}


def stored(user: User, kind: Kind, content: bytes, name: str = "x.bin") -> Asset:
    return media.store(user=user, kind=kind, upload=ContentFile(content, name), by=user)


def refused(user: User, kind: Kind, content: bytes, name: str = "x.png") -> str:
    with pytest.raises(ValidationError) as refusal:
        stored(user, kind, content, name)
    assert not Asset.objects.exists()
    return str(refusal.value.messages[0])


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_taken_and_a_film_for_backgrounds_alone(name: str, user: User, store_directory: Path) -> None:
    sample = media_corpus.sample(name)
    is_film = sample.mime is not None and sample.mime.startswith("video/")
    if is_film:
        assert "another type than PNG, JPEG, WebP, GIF or AVIF." in refused(user, Kind.IMAGE, sample.content)
    if sample.mime == "video/quicktime":
        assert "another type than" in refused(user, Kind.BACKGROUND, sample.content)
        return
    asset = stored(user, Kind.BACKGROUND if is_film else Kind.IMAGE, sample.content)
    assert (asset.mime, asset.width, asset.height) == (sample.mime, sample.width, sample.height)
    assert asset.path == f"{user.pk}/{asset.path.rpartition('/')[2]}"
    assert asset.path.endswith(f".{sample.extension}")
    kept = (store_directory / "uploads" / asset.path).read_bytes()
    assert asset.size == len(kept)
    assert PLACE.encode() not in kept


@pytest.mark.parametrize("name", ["png-bomb-by-header", "jpeg-and-zip", "png-cut-at-99%"])
def test_what_the_image_host_refuses_is_refused_here(name: str, user: User) -> None:
    assert "This file" in refused(user, Kind.BACKGROUND, media_corpus.sample(name).content)


def test_the_name_of_a_file_makes_it_no_picture(user: User) -> None:
    contents = (b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', b"GIF89a/*<script>*/=1;", b"")
    for kind, content in itertools.product(Kind, contents):
        refused(user, kind, content, "picture.png")


def bilevel(width: int, height: int) -> bytes:
    """A black PNG of one bit a pixel."""
    rows = zlib.compress(b"\0" * (-(-width // 8) + 1) * height, 9)
    header = pieces.png_header(width, height, depth=1, color=0)
    return header + pieces.png_chunk(b"IDAT", rows) + pieces.png_chunk(b"IEND")


def test_a_picture_that_browsers_cannot_show_is_refused_and_the_largest_is_taken(user: User) -> None:
    for width, height in ((8193, 1), (1, 8193), (6326, 6325)):
        assert refused(user, Kind.IMAGE, bilevel(width, height)) == (
            f"This picture has {width} by {height} pixels; at most 8192 on a side and 40 million together can be shown."
        )
    for width, height in ((8192, 1), (6400, 6250)):
        assert stored(user, Kind.IMAGE, bilevel(width, height)).width == width


@pytest.mark.parametrize("name", list(made.SOUNDS))
def test_a_sound_is_taken_as_what_it_is(name: str, user: User) -> None:
    asset = stored(user, Kind.AUDIO, made.sound(name))
    _, _, mime, extension = made.SOUNDS[name]
    assert (asset.mime, asset.path.rpartition(".")[2]) == (mime, extension)
    assert asset.duration == pytest.approx(1, abs=0.1)
    assert (asset.width, asset.height) == (None, None)


def test_the_image_host_takes_neither_sounds_nor_fonts(tmp_path: Path) -> None:
    path = tmp_path / "upload"
    for content in (*map(made.sound, made.SOUNDS), FONTS["ttf"][0], FONTS["woff2"][0]):
        path.write_bytes(content)
        with pytest.raises(probing.InvalidMedia):
            probing.probe(path)


@pytest.mark.parametrize(
    "content",
    [
        b"ID3" + bytes(5000),
        b"\xff\xfb\x90\x00" + b"<html>" * 500,
        b"OggS\0\2" + bytes(500),
        b"RIFF\xff\xff\xff\x7fWAVEfmt \x10\0\0\0\1\0\1\0" + bytes(10),
        pieces.ftyp(b"M4A ", b"isom"),
        media_corpus.sample("mp4-gps").content,
        made.sound("mp3") + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 4, 0, 0),  # an archive behind it
    ],
    ids=range(7),
)
def test_what_is_no_sound_is_refused(content: bytes, user: User) -> None:
    assert "another type than MP3, Ogg, WAV or M4A." in refused(user, Kind.AUDIO, content)


@pytest.mark.parametrize("name", FONTS)
def test_a_font_is_taken_as_what_it_is(name: str, user: User) -> None:
    content, mime, extension = FONTS[name]
    asset = stored(user, Kind.FONT, content)
    assert (asset.mime, asset.path.rpartition(".")[2], asset.size) == (mime, extension, len(content))


@pytest.mark.parametrize(
    "content",
    [
        b"\0\1\0\0" + bytes(100),
        made.plain_font({b"cmap": b"", b"maxp": b""}),
        made.plain_font({**made.TABLES, b"head": bytes(54)}),
        made.plain_font({**made.TABLES, b"\0\0\0\0": b""}),
        made.plain_font()[:60],
        made.plain_font(flavor=b"ttcf"),
        made.woff(length=9),
        made.woff({**made.TABLES, b"long": bytes(20 * MIB)}),
        made.woff2(unpacked=2**31),
        made.woff2(packed=0),
        made.woff2()[:50],
    ],
)
def test_what_is_no_font_is_refused(content: bytes, user: User) -> None:
    assert "another type than WOFF2, WOFF, TTF or OTF." in refused(user, Kind.FONT, content)


def test_the_directory_for_incoming_files_is_left_empty(user: User, tmp_path: Path) -> None:
    stored(user, Kind.IMAGE, media_corpus.sample("png-rgb").content)
    with pytest.raises(ValidationError):
        stored(user, Kind.IMAGE, b"no picture")
    assert list((tmp_path / "incoming").iterdir()) == []


def test_sounds_keep_their_tags_and_the_form_warns(user: User, store_directory: Path) -> None:
    title = b"TIT2" + struct.pack(">IH", 8, 0) + b"\0A secret"[:8]
    asset = stored(user, Kind.AUDIO, b"ID3\3\0\0\0\0\0\x12" + title + made.sound("mp3"))
    assert b"A secre" in (store_directory / "uploads" / asset.path).read_bytes()
    assert "Its tags stay readable for everyone" in accepted_files(Kind.AUDIO)
    assert "says of itself" not in accepted_files(Kind.IMAGE)


@pytest.mark.embedded
@pytest.mark.parametrize("kind", CONTENT)
def test_what_the_examinations_take_is_paid_off_by_waiting(user: User, kind: Kind) -> None:
    assert "another type" in refused(user, kind, b"no picture")
    turn = PreviewTurn.objects.get()
    assert (turn.owner_id, turn.spent_until > timezone.now()) == (user.pk, True)
    PreviewTurn.objects.update(spent_until=timezone.now() + timedelta(minutes=7))
    assert refused(user, kind, CONTENT[kind]).startswith("Your latest files took too long to examine. Try again in ")


@pytest.mark.embedded
def test_a_user_may_send_a_number_of_files_a_minute(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits.PROFILE_UPLOADS, "amount", 2)
    for _ in range(2):
        assert "another type" in refused(user, Kind.IMAGE, b"no picture")
    assert refused(user, Kind.IMAGE, b"no picture").startswith("At most 2 files a minute. Try again in ")
    assert "another type" in refused(UserFactory.create(), Kind.IMAGE, b"no picture")
