"""What is taken as an upload for a profile, by content alone: the corpus of the image host, sounds and fonts."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.files.base import ContentFile

from accounts import rate_limits
from accounts.models import User
from dashboard.profile import media
from dashboard.profile.forms import accepted_files
from imagehost.examining import probing
from lookup.editing.uploads import MIB, Kind
from lookup.models import Asset
from tests.dashboard.profile import sounds_and_fonts as made
from tests.factories.accounts import UserFactory
from tests.imagehost import media_corpus
from tests.imagehost.media_corpus import pieces
from tests.imagehost.media_corpus.sample import PLACE

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


@pytest.mark.parametrize("kind", list(Kind))
def test_the_name_of_a_file_makes_it_no_picture(kind: Kind, user: User) -> None:
    for content in (b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', b"GIF89a/*<script>*/=1;", b""):
        refused(user, kind, content, "picture.png")


def bilevel(width: int, height: int) -> bytes:
    """A black PNG of one bit a pixel."""
    rows = zlib.compress(b"\0" * (-(-width // 8) + 1) * height, 9)
    header = pieces.png_header(width, height, depth=1, colour=0)
    return header + pieces.png_chunk(b"IDAT", rows) + pieces.png_chunk(b"IEND")


@pytest.mark.parametrize(("width", "height"), [(8193, 1), (1, 8193), (6326, 6325)])
def test_a_picture_that_browsers_cannot_show_is_refused(width: int, height: int, user: User) -> None:
    assert refused(user, Kind.IMAGE, bilevel(width, height)) == (
        f"This picture has {width} by {height} pixels; at most 8192 on a side and 40 million together can be shown."
    )


@pytest.mark.parametrize(("width", "height"), [(8192, 1), (6400, 6250)])
def test_a_picture_of_the_largest_size_is_taken(width: int, height: int, user: User) -> None:
    assert stored(user, Kind.IMAGE, bilevel(width, height)).width == width


@pytest.mark.parametrize("name", list(made.SOUNDS))
def test_a_sound_is_taken_as_what_it_is(name: str, user: User) -> None:
    asset = stored(user, Kind.AUDIO, made.sound(name))
    _, _, mime, extension = made.SOUNDS[name]
    assert (asset.mime, asset.path.rpartition(".")[2]) == (mime, extension)
    assert asset.duration == pytest.approx(1, abs=0.1)
    assert (asset.width, asset.height) == (None, None)


@pytest.mark.parametrize("content", [*map(made.sound, made.SOUNDS), FONTS["ttf"][0], FONTS["woff2"][0]], ids=range(7))
def test_the_image_host_takes_neither_sounds_nor_fonts(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "upload"
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
    ],
)
def test_what_is_no_sound_is_refused(content: bytes, user: User) -> None:
    assert "another type than MP3, Ogg, WAV or M4A." in refused(user, Kind.AUDIO, content)


def test_an_archive_behind_a_sound_is_refused(user: User) -> None:
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 4, 0, 0)
    assert "broken" in refused(user, Kind.AUDIO, made.sound("mp3") + end)


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
def test_a_user_may_send_a_number_of_files_a_minute(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits.PROFILE_UPLOADS, "amount", 2)
    for _ in range(2):
        assert "another type" in refused(user, Kind.IMAGE, b"no picture")
    assert refused(user, Kind.IMAGE, b"no picture").startswith("At most 2 files a minute. Try again in ")
    assert "another type" in refused(UserFactory.create(), Kind.IMAGE, b"no picture")
