"""PNG: chunks of a list stay, nothing else."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from PIL import Image

from imagehost import media
from imagehost.examining import stripping
from tests.imagehost.media_corpus import pieces, real_images
from tests.imagehost.stripped import SECRET, pictures, refusal, stripped

_PLAIN = pieces.png()
_chunk = pieces.png_chunk
_PRIVATE = {
    "text": _chunk(b"tEXt", b"Comment\x00" + SECRET),
    "compressed text": _chunk(b"zTXt", b"Comment\x00\x00" + zlib.compress(SECRET)),
    "international text": _chunk(b"iTXt", b"XML:com.adobe.xmp\x00\x00\x00\x00\x00" + SECRET),
    "time": _chunk(b"tIME", struct.pack(">HBBBBB", 2026, 1, 2, 3, 4, 5)),
    "exif": _chunk(b"eXIf", b"II*\x00" + SECRET),
    "unknown": _chunk(b"prVt", SECRET),
    "a resolution that is too long": _chunk(b"pHYs", bytes(9) + SECRET),
    "a name of no letters": _chunk(b"t<xt", SECRET),
    "a wrong checksum": _chunk(b"iCCP", SECRET)[:-4] + bytes(4),
    "a profile without a name": _chunk(b"iCCP", b"\x00\x00" + SECRET),
    "a profile of another method": _chunk(b"iCCP", b"name\x00\x01" + SECRET),
    "a short gamma": _chunk(b"gAMA", SECRET[:3]),
    "a suggested palette that is too long": _chunk(b"sPLT", SECRET + bytes(1 << 16)),
}
_KEPT = {
    "resolution": _chunk(b"pHYs", struct.pack(">IIB", 2835, 2835, 1)),
    "gamma": _chunk(b"gAMA", struct.pack(">I", 45455)),
    "primaries": _chunk(b"cHRM", struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)),
    "colour space": _chunk(b"sRGB", b"\x00"),
    "profile": _chunk(b"iCCP", b"icc\x00\x00" + zlib.compress(real_images.colour_profile())),
    "coded colour": _chunk(b"cICP", b"\x01\x0d\x00\x01"),
    "mastering display": _chunk(b"mDCV", bytes(24)),
    "light level": _chunk(b"cLLI", bytes(8)),
    "transparent colour": _chunk(b"tRNS", bytes(6)),
    "background": _chunk(b"bKGD", bytes(6)),
    "significant bits": _chunk(b"sBIT", b"\x08\x08\x08"),
}


@pytest.mark.parametrize("name", _PRIVATE)
def test_private_chunks_go_and_what_the_pixels_need_stays(name: str) -> None:
    private = _PRIVATE[name]
    content = pieces.png(private, *_KEPT.values())[:-12] + private + _chunk(b"IEND")
    assert stripped(content, media.PNG) == pieces.png(*_KEPT.values())


@pytest.mark.parametrize("orientation", [2, 6, 8])
def test_the_orientation_alone_is_kept_of_the_exif(orientation: int) -> None:
    exif = real_images.phone_exif(orientation)
    exif[0x010F] = SECRET.decode()
    content = real_images.encoded(media.PNG, real_images.picture(), exif=exif)
    after = stripped(content, media.PNG)
    with Image.open(io.BytesIO(after)) as image:
        assert dict(image.getexif()) == {0x0112: orientation}
        image.verify()
    assert pictures(after) == pictures(content)
    assert SECRET not in after
    assert stripped(after, media.PNG) == after


def test_an_exif_of_nothing_but_the_orientation_has_room_for_it() -> None:
    shortest = struct.pack(">2sHIHHHIHH", b"MM", 42, 8, 1, 0x0112, 3, 1, 6, 0)
    after = stripped(pieces.png(_chunk(b"eXIf", shortest)), media.PNG)
    assert after == pieces.png(_chunk(b"eXIf", struct.pack("<2sHIHHHIHH", b"II", 42, 8, 1, 0x0112, 3, 1, 6, 0)))


@pytest.mark.parametrize(
    ("rest", "kept"),
    [
        (_chunk(b"EVIL", SECRET) + _chunk(b"IEND"), _chunk(b"IEND")),
        (_chunk(b"IHDR", bytes(13)) + _chunk(b"IEND"), _chunk(b"IEND")),
        (_chunk(b"IEND", SECRET) + _chunk(b"IEND"), b""),
        (b"\xff\xff\xff\xffIEND" + SECRET, b""),
        (b"\x00\x00\x01\x00tEXt" + SECRET, b""),
    ],
)
def test_what_no_decoder_knows_behind_the_data_goes(rest: bytes, kept: bytes) -> None:
    assert stripped(_PLAIN[:-12] + rest, media.PNG) == _PLAIN[:-12] + kept


def test_markup_behind_the_data_is_refused() -> None:
    assert refusal(_PLAIN[:-12] + b"\xff\xff\xff\xff<script>", media.PNG) is stripping.ForeignBytes


def test_a_body_that_is_cut_off_keeps_what_is_there() -> None:
    start = _PLAIN.index(b"IDAT") - 4
    cut = _PLAIN[: start + 13]
    assert stripped(cut, media.PNG) == cut
    assert stripped(_PLAIN[:-12] + _PRIVATE["text"][:-2], media.PNG) == _PLAIN[:-12]
    assert stripped(_PLAIN[:-12] + b"\x00\x00\x00", media.PNG) == _PLAIN[:-12]


@pytest.mark.parametrize(
    "content",
    [
        _PLAIN[:20],
        _PLAIN[:33],
        pieces.png_header(4, 4) + _chunk(b"IEND"),
        pieces.PNG_SIGNATURE + _chunk(b"IDAT", bytes(13)) + _chunk(b"IEND"),
        pieces.png(_chunk(b"IHDR", bytes(13))),
        pieces.png(_chunk(b"CgBI", bytes(4))),
        pieces.png(_chunk(b"PLTE", bytes(771))),
        pieces.png(b"\x80\x00\x00\x00tEXt"),
    ],
)
def test_a_broken_structure_is_refused(content: bytes) -> None:
    assert refusal(content, media.PNG) is stripping.Malformed
