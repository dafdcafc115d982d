"""Thumbnails and posters: WebP, upright, small, never enlarged, and none of a file that is broken."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image, ImageOps

from imagehost import media, probing
from imagehost.media import MediaType
from imagehost.prober import images
from imagehost.probing import Preview
from tests.imagehost import media_corpus
from tests.imagehost.media_corpus.real_images import encoded, phone_exif, picture
from tests.imagehost.media_corpus.real_videos import Recipe, recorded

Colour = tuple[int, int, int]
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


def colours(image: Image.Image) -> list[str]:
    """Of the four corners, clockwise from the top left."""
    width, height = image.size
    names = {RED: "red", (0, 128, 0): "green", (0, 0, 255): "blue", (255, 255, 0): "yellow"}
    corners = [(0.2, 0.2), (0.8, 0.2), (0.8, 0.8), (0.2, 0.8)]
    found = [image.convert("RGB").getpixel((int(width * x), int(height * y))) for x, y in corners]
    return [min(names.items(), key=lambda named: distance(named[0], pixel))[1] for pixel in found]


def distance(one: Colour, other: object) -> int:
    assert isinstance(other, tuple)
    return sum(abs(mine - theirs) for mine, theirs in zip(one, other, strict=True))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_thumbnail_is_upright_whatever_the_orientation(orientation: int) -> None:
    content = encoded(media.JPEG, picture(), exif=phone_exif(orientation), quality=95)
    with Image.open(io.BytesIO(content)) as image:
        upright = ImageOps.exif_transpose(image)
    thumbnail = images.thumbnail(io.BytesIO(content), media.JPEG, 640)
    assert (thumbnail.size, colours(thumbnail)) == (upright.size, colours(upright))


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
    assert colours(opened(of_sample(name, stored))) == expected
    found = probing.probe(stored)
    assert colours(opened(probing.render(stored, found.media))) == expected


def test_sixteen_bits_of_grey_are_not_cut_off_at_white(stored: Path) -> None:
    first, last = opened(of_sample("png-grey-16-bit", stored)).convert("L").getextrema()
    assert isinstance(first, (int, float))
    assert isinstance(last, (int, float))
    assert first < 60
    assert 200 < last < 250


@pytest.mark.parametrize("name", ["png-rgba", "webp-alpha", "avif-alpha", "png-palette-transparent"])
def test_transparency_stays(name: str, stored: Path) -> None:
    assert opened(of_sample(name, stored)).mode == "RGBA"


def test_a_colour_profile_stays(stored: Path) -> None:
    assert "icc_profile" in opened(of_sample("jpeg-profile", stored)).info


@pytest.mark.parametrize("name", ["jpeg-gps", "webp-gps", "avif-gps", "jpeg-xmp", "png-comments"])
def test_private_metadata_never_reaches_a_preview(name: str, stored: Path) -> None:
    info = opened(of_sample(name, stored)).info
    assert not {"exif", "xmp", "comment", "Comment", "Description"} & info.keys()


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
