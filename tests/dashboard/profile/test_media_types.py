"""What is taken as an upload for a profile, by content alone: the corpus of the image host, sounds and fonts."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.files.base import ContentFile

from accounts.models import User
from dashboard import media
from dashboard.forms.uploads import told
from imagehost import probing
from lookup.models import Asset
from lookup.uploads import MIB, QUOTA, Kind
from tests.dashboard.profile import sounds_and_fonts as made
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AssetFactory
from tests.imagehost import media_corpus
from tests.imagehost.media_corpus import pieces
from tests.imagehost.media_corpus.sample import PLACE

FONTS = {
    "ttf": (made.plain_font(), "font/ttf", "ttf"),
    "otf": (made.plain_font(flavor=b"OTTO"), "font/otf", "otf"),
    "woff": (made.woff(), "font/woff", "woff"),
    "woff2": (made.woff2(), "font/woff2", "woff2"),
    "demo": (Path("static/uploads/demo-fonts/pixel.woff").read_bytes(), "font/woff", "woff"),
}


def stored(user: User, kind: Kind, content: bytes, name: str = "x.bin") -> Asset:
    return media.store(user=user, kind=kind, upload=ContentFile(content, name), by=user)


def refused(user: User, kind: Kind, content: bytes, name: str = "x.png") -> str:
    with pytest.raises(ValidationError) as refusal:
        stored(user, kind, content, name)
    assert not Asset.objects.exists()
    return str(refusal.value.messages[0])


@pytest.mark.parametrize("name", media_corpus.REAL_NAMES)
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


@pytest.mark.parametrize("name", media_corpus.REFUSED_NAMES)
def test_a_hostile_file_is_refused(name: str, user: User) -> None:
    sample = media_corpus.sample(name)
    assert "This file" in refused(user, Kind.BACKGROUND, sample.content, sample.claimed_name)


@pytest.mark.parametrize("name", media_corpus.BROKEN_NAMES)
def test_a_picture_whose_body_cannot_be_decoded_is_refused(name: str, user: User) -> None:
    assert refused(user, Kind.BACKGROUND, media_corpus.sample(name).content).startswith("This file is broken, or")


@pytest.mark.parametrize(
    "content",
    [
        b"<!doctype html><script>alert(1)</script>",
        b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
        b"\x89PNG\r\n\x1a\n<html><script>alert(1)</script>",
        b"GIF89a/*<script>*/=1;",
        b"",
        b"\0" * 100,
        b"%PDF-1.7\n",
    ],
)
@pytest.mark.parametrize("kind", list(Kind))
def test_what_only_has_the_name_of_a_picture_is_refused(kind: Kind, content: bytes, user: User) -> None:
    refused(user, kind, content, "picture.png")


def test_a_picture_with_more_pixels_than_can_be_shown_is_refused(user: User) -> None:
    rows = zlib.compress(b"\0" * (9000 // 8 + 1) * 9000, 9)
    bomb = (
        pieces.png_header(9000, 9000, depth=1, colour=0) + pieces.png_chunk(b"IDAT", rows) + pieces.png_chunk(b"IEND")
    )
    assert len(bomb) < 100_000
    assert refused(user, Kind.IMAGE, bomb) == (
        "This picture has 9000 by 9000 pixels; at most 8192 on a side and 40 million together can be shown."
    )


def test_a_picture_that_unpacks_to_far_more_than_its_header_says_does_no_harm(user: User) -> None:
    bomb = zlib.compress(b"\0" * (300 * MIB), 9)
    content = pieces.png_header(4, 4) + pieces.png_chunk(b"IDAT", bomb) + pieces.png_chunk(b"IEND")
    assert len(content) < MIB
    try:
        asset = stored(user, Kind.IMAGE, content)
    except ValidationError:
        return
    assert (asset.width, asset.height) == (4, 4)


@pytest.mark.parametrize(("kind", "most"), [(Kind.IMAGE, 10), (Kind.BADGE, 2), (Kind.AUDIO, 20), (Kind.FONT, 2)])
def test_a_file_that_is_too_large_is_refused_before_anybody_looks_at_it(kind: Kind, most: int, user: User) -> None:
    sentence = refused(user, kind, bytes(most * MIB + MIB))
    assert sentence == f"This file has {most + 1}.0 MiB; at most {most} MiB are allowed."


def test_a_background_picture_may_not_be_as_large_as_a_film(user: User) -> None:
    large = pieces.png(pieces.png_chunk(b"IDAT", bytes(11 * MIB)))
    assert refused(user, Kind.BACKGROUND, large).startswith(("This file has", "This file is broken"))


@pytest.mark.parametrize("name", list(made.SOUNDS))
def test_a_sound_is_taken_as_what_it_is(name: str, user: User) -> None:
    asset = stored(user, Kind.AUDIO, made.sound(name))
    _, _, mime, extension = made.SOUNDS[name]
    assert (asset.mime, asset.path.rpartition(".")[2]) == (mime, extension)
    assert asset.duration == pytest.approx(1, abs=0.1)
    assert (asset.width, asset.height) == (None, None)


@pytest.mark.parametrize("name", list(made.SOUNDS))
def test_the_image_host_takes_no_sound_as_before(name: str, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(made.sound(name))
    if name == "sound in mp4":  # looks like a film, until a frame is wanted
        with pytest.raises(probing.InvalidMedia, match="no video"):
            probing.probe(path)
        return
    with pytest.raises(probing.InvalidMedia):
        probing.probe(path)


@pytest.mark.parametrize("name", FONTS)
def test_the_image_host_takes_no_font_as_before(name: str, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(FONTS[name][0])
    with pytest.raises(probing.InvalidMedia):
        probing.probe(path)


@pytest.mark.parametrize(
    "content",
    [
        b"ID3" + bytes(5000),
        b"ID3\x04\0\0\0\0\0\0<script>alert(1)</script>" + b"x" * 5000,
        b"\xff\xfb\x90\x00" + b"<html>" * 500,
        b"OggS\0\2" + bytes(500),
        b"RIFF\xff\xff\xff\x7fWAVEfmt \x10\0\0\0\1\0\1\0" + bytes(10),
        pieces.ftyp(b"M4A ", b"isom"),
        media_corpus.sample(next(name for name in media_corpus.REAL_NAMES if name.startswith("mp4"))).content,
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
        made.woff({**made.TABLES, b"head": bytes(54)}),
        made.woff({**made.TABLES, b"long": bytes(20 * MIB)}),
        made.woff2(unpacked=2**31),
        made.woff2(packed=0),
        made.woff2()[:50],
        b"wOFF<script>alert(1)</script>" + bytes(100),
    ],
)
def test_what_is_no_font_is_refused(content: bytes, user: User) -> None:
    assert "another type than WOFF2, WOFF, TTF or OTF." in refused(user, Kind.FONT, content)


def test_an_upload_over_the_quota_is_refused_and_leaves_nothing(user: User, store_directory: Path) -> None:
    full = AssetFactory.create(owner=user, size=QUOTA - 100)
    sample = media_corpus.sample("png-rgb").content
    with pytest.raises(ValidationError, match=r"may have 200 MiB together, and 0\.0 MiB are left"):
        stored(user, Kind.IMAGE, sample)
    assert list(Asset.objects.all()) == [full]
    assert not list(store_directory.rglob("*.png"))


def test_nothing_is_left_where_files_come_in(user: User, tmp_path: Path) -> None:
    stored(user, Kind.IMAGE, media_corpus.sample("png-rgb").content)
    with pytest.raises(ValidationError):
        stored(user, Kind.IMAGE, b"no picture")
    assert list((tmp_path / "incoming").iterdir()) == []


def test_sounds_keep_what_they_say_of_themselves_and_the_form_tells(user: User, store_directory: Path) -> None:
    title = b"TIT2" + struct.pack(">IH", 8, 0) + b"\0A secret"[:8]
    asset = stored(user, Kind.AUDIO, b"ID3\3\0\0\0\0\0\x12" + title + made.sound("mp3"))
    assert b"A secre" in (store_directory / "uploads" / asset.path).read_bytes()
    assert "Everybody can read what the file says of itself" in told(Kind.AUDIO)
    assert "says of itself" not in told(Kind.IMAGE)


def test_nobody_has_us_look_at_more_files_than_so_many_a_minute(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "A_MINUTE", 2)
    for _ in range(2):
        assert "another type" in refused(user, Kind.IMAGE, b"no picture")
    assert refused(user, Kind.IMAGE, b"no picture").startswith("At most 2 files a minute. Try again in ")
    assert "another type" in refused(UserFactory.create(), Kind.IMAGE, b"no picture")
