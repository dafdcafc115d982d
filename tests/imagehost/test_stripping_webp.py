"""WebP: chunks of a list stay, in the file and in each frame; the sizes and flags say what is left."""

from __future__ import annotations

import io
import struct

import pytest
from PIL import Image

from imagehost import media
from imagehost.examining import stripping
from tests.imagehost.media_corpus import pieces, real_images
from tests.imagehost.stripped import SECRET, pictures, refusal, stripped

_PLAIN = real_images.encoded(media.WEBP, real_images.picture())
_IMAGE = (b"VP8 ", _PLAIN[20:])
_EXIF_FLAG, _XMP_FLAG, _ICC_FLAG = 0x08, 0x04, 0x20


def _features(flags: int) -> tuple[bytes, bytes]:
    width, height = ((length - 1).to_bytes(3, "little") for length in real_images.SIZE)
    return b"VP8X", bytes([flags, 0, 0, 0]) + width + height


def _exif(orientation: int) -> bytes:
    return struct.pack("<2sHIHHHIHHI", b"II", 42, 8, 1, 0x0112, 3, 1, orientation, 0, 0)


def test_private_and_unknown_chunks_go_and_the_flags_with_them() -> None:
    private = [(b"EXIF", _exif(1) + SECRET), (b"XMP ", SECRET + b"!"), (b"META", SECRET), (b"evil", SECRET)]
    profile = (b"ICCP", real_images.colour_profile())
    content = pieces.riff(_features(_ICC_FLAG | _EXIF_FLAG | _XMP_FLAG), profile, private[3], _IMAGE, *private)
    after = stripped(content, media.WEBP)
    assert after == pieces.riff(_features(_ICC_FLAG), profile, _IMAGE)
    assert pictures(after) == pictures(content)


def test_chunks_behind_the_image_of_a_simple_file_go() -> None:
    assert stripped(pieces.riff(_IMAGE, (b"EXIF", _exif(6)), (b"zip ", SECRET)), media.WEBP) == pieces.riff(_IMAGE)


@pytest.mark.parametrize(("orientation", "prefix"), [(2, b""), (6, b"Exif\x00\x00"), (8, b"")])
def test_the_orientation_alone_is_kept_of_the_exif(orientation: int, prefix: bytes) -> None:
    exif = real_images.phone_exif(orientation)
    exif[0x010F] = SECRET.decode()
    content = pieces.riff(
        _features(_EXIF_FLAG | _XMP_FLAG), _IMAGE, (b"EXIF", prefix + exif.tobytes()[6:]), (b"XMP ", SECRET)
    )
    after = stripped(content, media.WEBP)
    assert after == pieces.riff(_features(_EXIF_FLAG), _IMAGE, (b"EXIF", _exif(orientation)))
    with Image.open(io.BytesIO(after)) as image:
        assert dict(image.getexif()) == {0x0112: orientation}
    assert pictures(after) == pictures(content)
    assert stripped(after, media.WEBP) == after


@pytest.mark.parametrize("left", [22, 25])
def test_an_exif_of_nothing_but_the_orientation_has_room_for_it(left: int) -> None:
    content = pieces.riff(_features(_EXIF_FLAG), _IMAGE, (b"EXIF", _exif(6)[:left]))
    after = stripped(content, media.WEBP)
    assert after == pieces.riff(_features(_EXIF_FLAG), _IMAGE, (b"EXIF", _exif(6)[: left // 2 * 2]))
    assert stripped(after, media.WEBP) == after


def test_an_animation_keeps_its_frames_and_loses_what_hides_in_them() -> None:
    clean = real_images.animation(media.WEBP, loop=3)
    start = clean.index(b"ANMF")
    size = int.from_bytes(clean[start + 4 : start + 8], "little")
    hidden = b"evil" + len(SECRET).to_bytes(4, "little") + SECRET
    frame = b"ANMF" + (size + len(hidden)).to_bytes(4, "little") + clean[start + 8 : start + 8 + size] + hidden
    body = clean[8:start] + frame + clean[start + 8 + size :]
    content = b"RIFF" + len(body).to_bytes(4, "little") + body
    after = stripped(content, media.WEBP)
    assert len(pictures(content)["frames"]) == 3
    assert after == clean


@pytest.mark.parametrize("second", [(b"VP8 ", SECRET), (b"VP8L", SECRET), (b"VP8X", SECRET[:10]), (b"ANIM", SECRET)])
def test_a_second_chunk_that_may_be_there_once_goes(second: tuple[bytes, bytes]) -> None:
    plain = pieces.riff(_features(0), _IMAGE)
    assert stripped(pieces.riff(_features(0), _IMAGE, second), media.WEBP) == plain


def test_a_body_that_is_cut_off_keeps_what_is_there() -> None:
    assert stripped(_PLAIN[:-10], media.WEBP) == _PLAIN[:-10]


@pytest.mark.parametrize(
    "content",
    [
        _PLAIN[:15],
        b"RIFF\x04\x00\x00\x00WEBP" + _PLAIN[12:],
        pieces.riff((b"EXIF", SECRET)),
        pieces.riff(_IMAGE, _features(0)),
        pieces.riff((b"VP8X", bytes(9)), _IMAGE),
        pieces.riff(_features(2), (b"ANMF", bytes(15))),
        pieces.riff(_IMAGE, size=20) + bytes(10),
    ],
)
def test_a_broken_structure_is_refused(content: bytes) -> None:
    assert refusal(content, media.WEBP) is stripping.Malformed
