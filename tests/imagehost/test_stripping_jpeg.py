"""JPEG: what describes the picture goes, what decodes it stays."""

from __future__ import annotations

import io
import struct

import pytest
from PIL import Image

from imagehost import media
from imagehost.examining import stripping
from tests.imagehost.media_corpus import pieces, real_images
from tests.imagehost.stripped import SECRET, pictures, refusal, stripped

_PLAIN = real_images.encoded(media.JPEG, real_images.picture())
_CMYK = real_images.encoded(media.JPEG, real_images.picture("CMYK"))
_JFIF = b"JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"


def _with(segment: bytes) -> bytes:
    """Behind JFIF's, before the picture's tables."""
    return _PLAIN[:20] + segment + _PLAIN[20:]


def _of(marker: int, body: bytes) -> bytes:
    return pieces.jpeg_segment(marker, body)


def _samsung() -> bytes:
    note = b"\x00\x00\x01\x0a\x0e\x00\x00\x00Image_UTC_Data" + SECRET
    directory = b"SEFH" + struct.pack("<II", 107, 1) + struct.pack("<HHII", 0, 0x0A01, len(note), len(note))
    return note + directory + struct.pack("<I", len(directory)) + b"SEFT"


_PRIVATE = {
    "exif": _of(0xE1, b"Exif\x00\x00" + SECRET),
    "xmp": _of(0xE1, b"http://ns.adobe.com/xap/1.0/\x00" + SECRET),
    "iptc": _of(0xED, b"Photoshop 3.0\x008BIM" + SECRET),
    "comment": _of(0xFE, SECRET),
    "other pictures": _of(0xE2, b"MPF\x00MM\x00*" + SECRET),
    "profile without a number": _of(0xE2, b"ICC_PROFILE\x00\x01") + _of(0xFE, SECRET),
    "thumbnail": _of(0xE0, b"JFXX\x00\x10" + SECRET),
    "odd first segment": _of(0xE0, SECRET),
    "thumbnail of JFIF": _of(0xE0, _JFIF[:12] + b"\x02\x01" + SECRET[:6]) + _of(0xFE, SECRET),
    "script behind JFIF": _of(0xE0, _JFIF + SECRET + b"*/=alert(1)/*" + bytes(0x2F2A - 45)),
    "tail of Adobe's": _of(0xEE, b"Adobe\x00\x64\x00\x00\x00\x00\x01" + SECRET),
    "odd Adobe": _of(0xEE, SECRET),
    "applications": b"".join(_of(0xE0 + number, SECRET) for number in (*range(3, 13), 15)),
    "between segments": SECRET,
    "fill bytes": b"\xff\xff\xff" + _of(0xFE, SECRET),
}
_REPLACED = {"thumbnail of JFIF", "script behind JFIF", "tail of Adobe's"}
"""Of these a part that decoders read stays."""


@pytest.mark.parametrize("name", _PRIVATE)
def test_private_segments_go_and_the_picture_stays(name: str) -> None:
    after = stripped(_with(_PRIVATE[name]), media.JPEG)
    assert SECRET[:6] not in after
    assert pictures(after) == pictures(_PLAIN)
    assert (after == _PLAIN) is (name not in _REPLACED)
    assert stripped(_CMYK[:2] + _PRIVATE["exif"] + _CMYK[2:], media.JPEG) == _CMYK


def test_private_segments_between_the_scans_of_a_progressive_picture_go() -> None:
    progressive = real_images.encoded(media.JPEG, real_images.picture(), progressive=True)
    second_scan = progressive.index(b"\xff\xc4", progressive.index(b"\xff\xda"))
    after = stripped(progressive[:second_scan] + _PRIVATE["comment"] + progressive[second_scan:], media.JPEG)
    assert after == progressive


def test_a_colour_profile_in_several_segments_stays() -> None:
    profile = real_images.colour_profile() + bytes(100_000)
    content = real_images.encoded(media.JPEG, real_images.picture(), icc_profile=profile, comment=SECRET)
    after = stripped(content, media.JPEG)
    assert pictures(after)["icc_profile"] == profile
    assert SECRET not in after


@pytest.mark.parametrize(("orientation", "order"), [(2, "<"), (6, "<"), (6, ">"), (8, ">")])
def test_the_orientation_alone_is_kept_of_the_exif(orientation: int, order: str) -> None:
    exif = Image.Exif()
    exif.endian = order
    exif[0x0112], exif[0x010F], exif[0x8298] = orientation, SECRET.decode(), SECRET.decode()
    content = real_images.encoded(media.JPEG, real_images.picture(), exif=exif)
    after = stripped(content, media.JPEG)
    with Image.open(io.BytesIO(after)) as image:
        assert dict(image.getexif()) == {0x0112: orientation}
        assert image.info["exif"] == struct.pack(
            "<6s2sHIHHHIHHI", b"Exif", b"II", 42, 8, 1, 0x0112, 3, 1, orientation, 0, 0
        )
    assert pictures(after) == pictures(content)
    assert SECRET not in after
    assert stripped(after, media.JPEG) == after


def test_an_exif_of_nothing_but_the_orientation_has_room_for_it() -> None:
    shortest, same = (struct.pack(f"{order}6s2sHIHHHIHH", b"Exif", mark, 42, 8, 1, 0x0112, 3, 1, 6, 0)
                      for order, mark in ((">", b"MM"), ("<", b"II")))  # fmt: skip
    assert stripped(_with(_of(0xE1, shortest)), media.JPEG) == _with(_of(0xE1, same))


@pytest.mark.parametrize(
    "tiff",
    [
        struct.pack("<2sHIHHHIHHI", b"II", 42, 8, 1, 0x0112, 3, 1, 1, 0, 0),  # upright
        struct.pack("<2sHIHHHIHHI", b"II", 42, 8, 1, 0x0112, 3, 1, 9, 0, 0),  # no such orientation
        struct.pack("<2sHIHHHIHHI", b"II", 42, 8, 1, 0x0112, 4, 1, 6, 0, 0),  # of another kind
        struct.pack("<2sHIHHHIHHI", b"II", 42, 0xFFFFFFFF, 1, 0x0112, 3, 1, 6, 0, 0),  # far outside
        struct.pack("<2sHIHHHIHHI", b"II", 42, 8, 0, 0x0112, 3, 1, 6, 0, 0),  # counts no tags
        b"II*\x00",
        b"",
    ],
)
def test_an_exif_without_a_turn_goes_whole(tiff: bytes) -> None:
    assert stripped(_with(_of(0xE1, b"Exif\x00\x00" + tiff)), media.JPEG) == _PLAIN


@pytest.mark.parametrize(
    "trailer",
    [
        b"\x00" * 300 + _CMYK,
        b"\xff" + _PLAIN,
        pieces.ftyp(b"mp42", b"isom", b"mp42") + pieces.box(b"mdat", SECRET),
        _samsung(),
    ],
)
def test_what_cameras_put_behind_the_picture_goes(trailer: bytes) -> None:
    assert stripped(_PLAIN + trailer, media.JPEG) == _PLAIN


def test_a_picture_without_an_end_ends_where_another_one_starts() -> None:
    assert stripped(_PLAIN[:-2] + _CMYK, media.JPEG) == _PLAIN
    assert refusal(_PLAIN[:-2] + b"\xff\xd8<script>", media.JPEG) is stripping.ForeignBytes


@pytest.mark.parametrize("length", [0, 1])
def test_a_describing_segment_without_a_length_is_passed_over(length: int) -> None:
    assert stripped(_with(b"\xff\xfe\x00" + bytes([length])), media.JPEG) == _PLAIN


def test_a_picture_that_is_cut_off_stays_as_it_is() -> None:
    cut = _PLAIN[:-40]
    assert stripped(cut, media.JPEG) == cut
    assert stripped(cut + _PRIVATE["comment"], media.JPEG) == cut
    assert stripped(cut + _PRIVATE["comment"][:-3], media.JPEG) == cut + b"\xff\xd9"


def test_a_damaged_scan_that_is_cut_ends_with_an_end() -> None:
    """A marker in the scan, of a segment that is longer than the file."""
    middle = (_PLAIN.index(b"\xff\xda") + len(_PLAIN)) // 2
    damaged = _PLAIN[:middle] + b"\xff\xdd\x7f\xff" + _PLAIN[middle + 4 :]
    after = stripped(damaged, media.JPEG)
    assert after == _PLAIN[:middle] + b"\xff\xd9"
    assert stripped(after, media.JPEG) == after
    assert refusal(damaged[: middle + 4] + b"<script>", media.JPEG) is stripping.ForeignBytes


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xd8\xff\xd9",
        b"\xff\xd8\xff\xe0",
        _PLAIN[:300],
        b"\xff\xd8\xff\xda\x00\x02" + bytes(20) + b"\xff\xd9",
        _with(b"\xff\xc4\x00\x01"),
        _with(b"\xff\xd8"),
        _with(b"\xff\x02"),
        _with(b"\xff\xc8\x00\x02"),
    ],
)
def test_a_broken_structure_is_refused(content: bytes) -> None:
    assert refusal(content, media.JPEG) is stripping.Malformed


def test_200_scans_pass_and_one_more_is_refused() -> None:
    scan = _PLAIN[_PLAIN.rindex(b"\xff\xda") : -2]
    sound = _PLAIN[:-2] + scan * 199 + _PLAIN[-2:]
    assert stripped(sound, media.JPEG) == sound
    assert refusal(_PLAIN[:-2] + scan * 200 + _PLAIN[-2:], media.JPEG) is stripping.TooManyParts
