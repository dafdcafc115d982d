"""Thumbnails and posters: WebP, upright, small, never enlarged, and none of a file that is broken."""

import io
from pathlib import Path

import pytest
from PIL import Image

from imagehost import media, probing
from imagehost.media import MediaType
from imagehost.probing import Preview
from tests.imagehost import media_corpus
from tests.imagehost.media_corpus.real_images import encoded
from tests.imagehost.media_corpus.real_videos import Recipe, recorded

pytestmark = pytest.mark.once

RENDERED_NAMES = [name for name in media_corpus.TAKEN_NAMES if name not in media_corpus.BROKEN_NAMES]


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


@pytest.mark.parametrize("name", RENDERED_NAMES)
def test_a_preview_has_the_shape_of_the_file_and_is_not_enlarged(name: str, stored: Path) -> None:
    sample = media_corpus.sample(name)
    preview = of_sample(name, stored)
    assert opened(preview).size == (sample.width, sample.height)
    assert stored.read_bytes() == sample.content  # only read


@pytest.mark.parametrize("name", media_corpus.BROKEN_NAMES)
def test_a_body_that_is_cut_off_gives_no_preview(name: str, stored: Path) -> None:
    sample = media_corpus.sample(name)
    stored.write_bytes(sample.content)
    assert probing.probe(stored).media.mime == sample.mime
    with pytest.raises(probing.InvalidMedia):
        probing.render(stored, media.BY_MIME[sample.mime or ""])


@pytest.mark.parametrize(
    ("size", "longest_side", "expected"),
    [
        ((1920, 1080), 640, (640, 360)),
        ((1080, 1920), 640, (360, 640)),
        ((5000, 5000), 640, (640, 640)),
        ((5001, 3), 640, (640, 1)),
        ((641, 640), 640, (640, 639)),
        ((640, 640), 640, (640, 640)),
        ((1, 1), 640, (1, 1)),
        ((1920, 1080), 320, (320, 180)),
    ],
)
@pytest.mark.parametrize("type_", [media.PNG, media.JPEG, media.WEBP], ids=lambda type_: type_.extension)
def test_the_longest_side_of_an_image_is_as_asked(
    type_: MediaType, size: tuple[int, int], longest_side: int, expected: tuple[int, int], stored: Path
) -> None:
    stored.write_bytes(encoded(type_, Image.new("RGB", size, "red")))
    assert opened(probing.render(stored, type_, longest_side=longest_side)).size == expected


def test_the_longest_side_of_a_video_is_as_asked(stored: Path) -> None:
    stored.write_bytes(recorded(Recipe("mp4", "libx264", size=(1280, 720), frames=2, tune={"preset": "ultrafast"})))
    assert opened(probing.render(stored, media.MP4)).size == (640, 360)


def colours(image: Image.Image) -> list[str]:
    """Of the four corners, clockwise from the top left."""
    width, height = image.size
    names = {(255, 0, 0): "red", (0, 128, 0): "green", (0, 0, 255): "blue", (255, 255, 0): "yellow"}
    corners = [(0.2, 0.2), (0.8, 0.2), (0.8, 0.8), (0.2, 0.8)]
    found = [image.convert("RGB").getpixel((int(width * x), int(height * y))) for x, y in corners]
    return [min(names.items(), key=lambda named: distance(named[0], pixel))[1] for pixel in found]


def distance(one: tuple[int, int, int], other: object) -> int:
    assert isinstance(other, tuple)
    return sum(abs(mine - theirs) for mine, theirs in zip(one, other, strict=True))


UPRIGHT = ["red", "green", "yellow", "blue"]
TURNED_RIGHT = ["blue", "red", "green", "yellow"]
TURNED_LEFT = ["green", "yellow", "blue", "red"]
TURNED_OVER = ["yellow", "blue", "red", "green"]
MIRRORED_AND_TURNED = ["red", "blue", "yellow", "green"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("jpeg-baseline", UPRIGHT),
        ("jpeg-cmyk", UPRIGHT),
        ("png-palette", UPRIGHT),
        ("png-interlaced", UPRIGHT),
        ("png-animated", UPRIGHT),
        ("gif-animated", UPRIGHT),
        ("webp-animated", UPRIGHT),
        ("avif-animated", UPRIGHT),
        ("jpeg-two-pictures", UPRIGHT),
        ("jpeg-turned-right", TURNED_RIGHT),
        ("jpeg-turned-left", TURNED_LEFT),
        ("jpeg-turned-upside-down", TURNED_OVER),
        ("jpeg-mirrored-and-turned", MIRRORED_AND_TURNED),
        ("png-turned", TURNED_RIGHT),
        ("webp-turned", TURNED_RIGHT),
        ("avif-turned", TURNED_RIGHT),
    ],
)
def test_a_thumbnail_is_the_first_frame_upright(name: str, expected: list[str], stored: Path) -> None:
    assert colours(opened(of_sample(name, stored))) == expected


@pytest.mark.parametrize("name", ["jpeg-turned-right", "png-turned", "webp-turned", "avif-turned", "avif-gps"])
def test_a_thumbnail_is_the_same_after_the_strip(name: str, stored: Path) -> None:
    before = of_sample(name, stored)
    probing.probe(stored)
    after = probing.render(stored, media.BY_MIME[media_corpus.sample(name).mime or ""])
    assert (after.width, after.height) == (before.width, before.height)
    assert colours(opened(after)) == colours(opened(before))


def test_sixteen_bits_of_grey_are_not_cut_off_at_white(stored: Path) -> None:
    greys = opened(of_sample("png-grey-16-bit", stored)).convert("L")
    first, last = greys.getextrema()
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
    reds = [
        x
        for x in range(image.width)
        if distance((255, 0, 0), image.convert("RGB").getpixel((x, image.height // 4))) < 150
    ]
    return min(reds) / (image.width - image.width // 8)


@pytest.mark.parametrize(
    ("muxer", "frames", "shown"),
    [("mp4", 30, 10), ("mp4", 15, 5), ("mov", 30, 10), ("webm", 30, 10), ("mp4", 1, 0)],
)
def test_a_poster_shows_the_second_one_or_a_third_of_less(muxer: str, frames: int, shown: int, stored: Path) -> None:
    """Ten frames a second, and a key frame at every fifth."""
    tune = {"preset": "ultrafast"} if muxer != "webm" else {"deadline": "realtime"}
    codec = "libvpx" if muxer == "webm" else "libx264"
    stored.write_bytes(recorded(Recipe(muxer, codec, tune=tune, frames=frames)))
    poster = opened(probing.render(stored, media.BY_MIME[{"mov": "video/quicktime"}.get(muxer, f"video/{muxer}")]))
    assert round(position(poster) * max(1, frames - 1)) == pytest.approx(shown, abs=1)


def test_a_poster_is_turned_as_the_video_is_played(stored: Path) -> None:
    """A quarter turn to the right: the field on the upper half comes to stand on the right half."""
    poster = opened(of_sample("mp4-turned-right", stored)).convert("RGB")
    reds = [
        x for x in range(poster.width) for y in range(poster.height)
        if distance((255, 0, 0), poster.getpixel((x, y))) < 150
    ]  # fmt: skip
    assert reds
    assert min(reds) >= poster.width // 2 - 1


@pytest.mark.parametrize(
    ("name", "claimed"), [("png-rgb", media.JPEG), ("mp4-h264", media.WEBM), ("gif-87a", media.MP4)]
)
def test_a_file_of_another_type_gives_no_preview(name: str, claimed: MediaType, stored: Path) -> None:
    stored.write_bytes(media_corpus.sample(name).content)
    with pytest.raises(probing.InvalidMedia):
        probing.render(stored, claimed)
