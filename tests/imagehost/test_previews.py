"""Thumbnails and posters: WebP in sRGB, upright, small, never enlarged, of a file that is cut off what has come."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import av
import pytest
from PIL import Image, ImageOps, ImageStat

from imagehost import media
from imagehost.examining import probing
from imagehost.examining.prober import images
from imagehost.examining.probing import Preview
from imagehost.media import MediaType
from tests.imagehost import media_corpus
from tests.imagehost.media_corpus import color_profiles, pieces
from tests.imagehost.media_corpus.real_images import encoded, from_image, phone_exif, picture
from tests.imagehost.media_corpus.real_videos import Recipe, recorded

Color = tuple[int, int, int]
RED = (255, 0, 0)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    return tmp_path / "stored"


def opened(preview: Preview) -> Image.Image:
    image = Image.open(io.BytesIO(preview.content), formats=["WEBP"])
    image.load()
    assert image.size == (preview.width, preview.height)
    return image


def of_sample(name: str, path: Path) -> Preview:
    sample = media_corpus.sample(name)
    path.write_bytes(sample.content)
    return probing.render(path, media.BY_MIME[sample.mime or ""])


@pytest.mark.parametrize(
    ("size", "longest_side", "expected"),
    [
        ((192, 108), 64, (64, 36)),
        ((108, 192), 64, (36, 64)),
        ((501, 3), 64, (64, 1)),
        ((65, 64), 64, (64, 63)),
        ((64, 64), 64, (64, 64)),
        ((1, 1), 64, (1, 1)),
    ],
)
@pytest.mark.parametrize("type_", [media.PNG, media.JPEG], ids=lambda type_: type_.extension)
def test_the_longest_side_of_an_image_is_as_asked(
    type_: MediaType, size: tuple[int, int], longest_side: int, expected: tuple[int, int]
) -> None:
    file = io.BytesIO(encoded(type_, Image.new("RGB", size, "red")))
    assert images.thumbnail(file, type_, longest_side).size == expected


def test_a_preview_has_640_pixels_on_its_longest_side(stored: Path) -> None:
    stored.write_bytes(encoded(media.PNG, Image.new("RGB", (1920, 1080), "red")))
    assert opened(probing.render(stored, media.PNG)).size == (640, 360)
    stored.write_bytes(recorded(Recipe("mp4", "libx264", size=(1280, 720), frames=2, tune={"preset": "ultrafast"})))
    assert opened(probing.render(stored, media.MP4)).size == (640, 360)


def colors(image: Image.Image) -> list[str]:
    """Of the four corners, clockwise from the top left."""
    width, height = image.size
    names = {RED: "red", (0, 128, 0): "green", (0, 0, 255): "blue", (255, 255, 0): "yellow"}
    corners = [(0.2, 0.2), (0.8, 0.2), (0.8, 0.8), (0.2, 0.8)]
    found = [image.convert("RGB").getpixel((int(width * x), int(height * y))) for x, y in corners]
    return [min(names.items(), key=lambda named: distance(named[0], pixel))[1] for pixel in found]


def distance(one: Color, other: object) -> int:
    assert isinstance(other, tuple)
    return sum(abs(mine - theirs) for mine, theirs in zip(one, other, strict=True))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_thumbnail_is_upright_whatever_the_orientation(orientation: int) -> None:
    content = encoded(media.JPEG, picture(), exif=phone_exif(orientation), quality=95)
    with Image.open(io.BytesIO(content)) as image:
        upright = ImageOps.exif_transpose(image)
    thumbnail = images.thumbnail(io.BytesIO(content), media.JPEG, 640)
    assert (thumbnail.size, colors(thumbnail)) == (upright.size, colors(upright))


UPRIGHT = ["red", "green", "yellow", "blue"]
TURNED_RIGHT = ["blue", "red", "green", "yellow"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("jpeg-cmyk", UPRIGHT),
        ("png-palette", UPRIGHT),
        ("png-animated", UPRIGHT),
        ("gif-animated", UPRIGHT),
        ("webp-animated", UPRIGHT),
        ("avif-animated", UPRIGHT),
        ("jpeg-two-pictures", UPRIGHT),
        ("jpeg-turned-right", TURNED_RIGHT),
        ("png-turned", TURNED_RIGHT),
        ("webp-turned", TURNED_RIGHT),
        ("avif-turned", TURNED_RIGHT),
    ],
)
def test_a_thumbnail_is_the_first_frame_upright_before_and_after_the_strip(
    name: str, expected: list[str], stored: Path
) -> None:
    assert colors(opened(of_sample(name, stored))) == expected
    found = probing.probe(stored)
    assert colors(opened(probing.render(stored, found.media_type))) == expected


def test_sixteen_bits_of_grey_are_not_cut_off_at_white(stored: Path) -> None:
    first, last = opened(of_sample("png-grey-16-bit", stored)).convert("L").getextrema()
    assert isinstance(first, (int, float))
    assert isinstance(last, (int, float))
    assert first < 60
    assert 200 < last < 250


TRANSPARENT = ("png-rgba", "webp-alpha", "avif-alpha", "png-palette-transparent")


@pytest.mark.parametrize("name", [*TRANSPARENT, "jpeg-gps", "webp-gps", "avif-gps", "jpeg-xmp", "png-comments"])
def test_transparency_stays_and_private_metadata_never_reaches_a_preview(name: str, stored: Path) -> None:
    image = opened(of_sample(name, stored))
    assert (image.mode == "RGBA") is (name in TRANSPARENT)
    assert not {"exif", "xmp", "comment", "Comment", "Description"} & image.info.keys()


def position(image: Image.Image) -> float:
    """Where the red field of the video's frame stands: 0 at its start, 1 at its end."""
    row = image.convert("RGB").crop((0, image.height // 4, image.width, image.height // 4 + 1))
    reds = [x for x in range(row.width) if distance(RED, row.getpixel((x, 0))) < 150]
    return min(reds) / (image.width - image.width // 8)


@pytest.mark.parametrize(
    ("muxer", "frames", "shown"), [("mp4", 30, 10), ("mp4", 15, 5), ("webm", 30, 10), ("mp4", 1, 0)]
)
def test_a_poster_shows_the_second_one_or_a_third_of_less(muxer: str, frames: int, shown: int, stored: Path) -> None:
    """Ten frames a second, and a key frame at every fifth."""
    tune = {"preset": "ultrafast"} if muxer != "webm" else {"deadline": "realtime"}
    codec = "libvpx" if muxer == "webm" else "libx264"
    stored.write_bytes(recorded(Recipe(muxer, codec, tune=tune, frames=frames)))
    poster = opened(probing.render(stored, media.BY_MIME[f"video/{muxer}"]))
    assert round(position(poster) * max(1, frames - 1)) == pytest.approx(shown, abs=1)


def test_a_poster_is_turned_as_the_video_is_played(stored: Path) -> None:
    """A quarter turn to the right: the field on the upper half comes to stand on the right half."""
    poster = opened(of_sample("mp4-turned-right", stored)).convert("RGB")
    places = [(x, y) for x in range(poster.width) for y in range(poster.height)]
    reds = [x for x, y in places if distance(RED, poster.getpixel((x, y))) < 150]
    assert min(reds) >= poster.width // 2 - 1


def middle(preview: Preview) -> Color:
    found = opened(preview).convert("RGB").getpixel((preview.width // 2, preview.height // 2))
    assert isinstance(found, tuple)
    return found[0], found[1], found[2]


def of_color(color: Color, type_: MediaType, **options: object) -> bytes:
    return encoded(type_, Image.new("RGB", (64, 64), color), **options)


@pytest.mark.parametrize("type_", [media.PNG, media.JPEG, media.WEBP, media.AVIF], ids=lambda type_: type_.extension)
def test_the_colors_of_a_profile_become_those_of_srgb(type_: MediaType, stored: Path) -> None:
    """Its red and blue are swapped. Nothing is left of the profile."""
    swapped = color_profiles.with_tags({}, swapped=True)
    stored.write_bytes(of_color((220, 40, 20), type_, icc_profile=swapped))
    preview = probing.render(stored, type_)
    assert distance(middle(preview), (20, 40, 220)) < 40
    assert "icc_profile" not in opened(preview).info


@pytest.mark.parametrize("profile", [b"", b"no profile", color_profiles.with_tags({})[:200]])
def test_a_broken_profile_changes_no_color(profile: bytes) -> None:
    file = io.BytesIO(of_color((220, 40, 20), media.PNG, icc_profile=profile))
    assert images.thumbnail(file, media.PNG, 64).getpixel((9, 9)) == (220, 40, 20)


PQ, HLG, P3 = b"\x09\x10\x00\x01", b"\x09\x12\x00\x01", b"\x0c\x0d\x00\x01"


@pytest.mark.parametrize(
    ("codes", "coded", "shown"),
    [
        (PQ, (148, 148, 148), (238, 238, 238)),  # 203 cd/m², white paper
        (PQ, (255, 255, 255), (255, 255, 255)),
        (PQ, (100, 100, 100), (107, 107, 107)),
        (HLG, (191, 191, 191), (238, 238, 238)),
        (P3, (200, 30, 30), (218, 0, 6)),
        (P3, (148, 148, 148), (148, 148, 148)),
        (b"\x01\x0d\x00\x01", (200, 30, 30), (200, 30, 30)),
        (b"\x02\x02\x00\x01", (200, 30, 30), (200, 30, 30)),
    ],
)
def test_the_code_points_of_a_png_become_srgb(codes: bytes, coded: Color, shown: Color) -> None:
    content = of_color(coded, media.PNG)
    at = content.index(b"IDAT") - 4
    content = content[:at] + pieces.png_chunk(b"cICP", codes) + content[at:]
    found = images.thumbnail(io.BytesIO(content), media.PNG, 64).getpixel((9, 9))
    assert distance(shown, found) <= 3


def hdr_film(muxer: str, codec: str, tune: dict[str, str]) -> bytes:
    """Grey as bright as white paper, in PQ."""
    written = io.BytesIO()
    with av.open(written, "w", format=muxer) as container:
        stream: Any = container.add_stream(codec, rate=10)
        stream.width, stream.height, stream.pix_fmt, stream.options = 64, 64, "yuv420p10le", tune
        context = stream.codec_context
        context.thread_count = 1
        context.color_primaries, context.color_trc, context.colorspace, context.color_range = 9, 16, 9, 1
        frame = from_image(Image.new("RGB", (64, 64), (148, 148, 148))).reformat(format="yuv420p10le", dst_colorspace=9)
        for one in (frame, None):
            container.mux(stream.encode(one))
    return written.getvalue()


@pytest.mark.parametrize("type_", [media.MP4, media.AVIF], ids=lambda type_: type_.extension)
def test_hdr_films_and_avifs_have_previews_in_srgb(type_: MediaType, stored: Path) -> None:
    tune = {"preset": "12", "svtav1-params": "lp=1"}
    stored.write_bytes(hdr_film(type_.extension, "libsvtav1", tune))
    found = probing.probe(stored)
    assert found.media_type == type_
    assert distance(middle(probing.render(stored, type_)), (238, 238, 238)) < 20


def test_a_picture_that_is_cut_off_shows_what_has_come(stored: Path) -> None:
    noise = Image.effect_noise((128, 128), 40).convert("RGB")
    for type_ in (media.PNG, media.JPEG, media.GIF):
        content = encoded(type_, noise, **({"interlace": 0} if type_ is media.GIF else {}))
        stored.write_bytes(content[: len(content) * 6 // 10])
        assert probing.probe(stored).media_type == type_
        with pytest.raises(probing.InvalidMedia):
            probing.render(stored, type_, only_whole=True)
        image = opened(probing.render(stored, type_)).convert("L")
        assert ImageStat.Stat(image.crop((0, 0, 128, 40))).stddev[0] > 20, type_
        assert ImageStat.Stat(image.crop((0, 110, 128, 128))).stddev[0] < 5, type_
