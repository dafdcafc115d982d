"""PNG, GIF and WebP: chunks and blocks of a list stay, nothing else. The orientation of the three with Exif."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from PIL import Image

from imagehost import media
from imagehost.examining import stripping
from imagehost.media import MediaType
from tests.imagehost.media_corpus import pieces, real_images
from tests.imagehost.stripped import SECRET, pictures, refusal, stripped

_chunk = pieces.png_chunk
_PNG = pieces.png()
_PRIVATE_CHUNKS = {
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
_KEPT_CHUNKS = (
    _chunk(b"pHYs", struct.pack(">IIB", 2835, 2835, 1)),
    _chunk(b"gAMA", struct.pack(">I", 45455)),
    _chunk(b"cHRM", struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)),
    _chunk(b"sRGB", b"\x00"),
    _chunk(b"iCCP", b"icc\x00\x00" + zlib.compress(real_images.color_profile())),
    _chunk(b"cICP", b"\x01\x0d\x00\x01"),
    _chunk(b"mDCV", bytes(24)),
    _chunk(b"cLLI", bytes(8)),
    _chunk(b"tRNS", bytes(6)),
    _chunk(b"bKGD", bytes(6)),
    _chunk(b"sBIT", b"\x08\x08\x08"),
)


@pytest.mark.parametrize("name", _PRIVATE_CHUNKS)
def test_private_chunks_of_a_png_go_and_what_the_pixels_need_stays(name: str) -> None:
    private = _PRIVATE_CHUNKS[name]
    content = pieces.png(private, *_KEPT_CHUNKS)[:-12] + private + _chunk(b"IEND")
    assert stripped(content, media.PNG) == pieces.png(*_KEPT_CHUNKS)


@pytest.mark.parametrize(
    ("rest", "kept"),
    [
        (_chunk(b"EVIL", SECRET) + _chunk(b"IEND"), _chunk(b"IEND")),
        (_chunk(b"IHDR", bytes(13)) + _chunk(b"IEND"), _chunk(b"IEND")),
        (_chunk(b"IEND", SECRET) + _chunk(b"IEND"), b""),
        (b"\xff\xff\xff\xffIEND" + SECRET, b""),
        (b"\x00\x00\x01\x00tEXt" + SECRET, b""),
        (_PRIVATE_CHUNKS["text"][:-2], b""),
        (b"\x00\x00\x00", b""),
    ],
)
def test_what_no_decoder_knows_behind_the_data_of_a_png_goes(rest: bytes, kept: bytes) -> None:
    assert stripped(_PNG[:-12] + rest, media.PNG) == _PNG[:-12] + kept


# --- GIF ---

_GIF = real_images.animation(media.GIF, loop=0)
_FIRST = _GIF.index(b"\x21\xf9\x04")  # what is put here stands before the first frame
_HEAD = b"GIF89a\x01\x00\x01\x00\x00\x00\x00"
_PIXEL = b"\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x80" + b"\x00\x00\x00\xff\xff\xff" + b"\x02\x02\x44\x01\x00"


def _blocks(*bodies: bytes) -> bytes:
    return b"".join(bytes([len(body)]) + body for body in bodies) + b"\x00"


_PRIVATE_BLOCKS = {
    "comment": b"\x21\xfe" + _blocks(SECRET, SECRET),
    "text": b"\x21\x01" + _blocks(bytes(12), SECRET),
    "xmp as Adobe writes it": b"\x21\xff\x0bXMP DataXMP" + SECRET * 9 + b"\x01" + bytes(range(255, -1, -1)) + b"\x00",
    "unknown application": b"\x21\xff" + _blocks(b"EVILEVIL1.0", SECRET),
    "unknown extension": b"\x21\x99" + _blocks(SECRET),
    "a loop without a number": b"\x21\xff" + _blocks(b"NETSCAPE2.0", SECRET),
    "a control of no use": b"\x21\xf9" + _blocks(SECRET),
    "nothing": b"\x00",
}


def test_private_blocks_of_a_gif_go_and_the_animation_stays() -> None:
    after = {
        name: stripped(_GIF[:_FIRST] + block + _GIF[_FIRST:], media.GIF) for name, block in _PRIVATE_BLOCKS.items()
    }
    assert after == dict.fromkeys(_PRIVATE_BLOCKS, _GIF)


def test_a_color_profile_of_a_gif_stays() -> None:
    profile = real_images.color_profile()
    content = _HEAD + b"\x21\xff" + _blocks(b"ICCRGBG1012", profile[:200], profile[200:400], profile[400:]) + _PIXEL
    assert stripped(content, media.GIF) == content
    assert stripped(content.replace(b"acsp", b"none"), media.GIF) == _HEAD + _PIXEL


def test_large_data_of_a_gif_is_walked_across_the_window_s_border() -> None:
    image = _PIXEL[:-4] + _blocks(*[bytes(255)] * 2000)
    content = _HEAD + image + b"\x21\xfe" + _blocks(*[b"x" * 255] * 2000) + image + b";"
    assert stripped(content, media.GIF) == _HEAD + image + image + b";"


@pytest.mark.parametrize("screen", [bytes(4), b"\x00\x00\x05\x00", b"\x05\x00\x00\x00"])
def test_a_screen_without_pixels_is_as_large_as_the_first_frame(screen: bytes) -> None:
    assert stripped(_HEAD[:6] + screen + _HEAD[10:] + _PIXEL + b";", media.GIF) == _HEAD + _PIXEL + b";"


def test_what_is_no_block_is_the_end_of_the_frames_before_it() -> None:
    for rest in (b"\x01\x02" + _PIXEL + b";", b"GIF89a" + SECRET):
        assert stripped(_HEAD + _PIXEL + rest, media.GIF) == _HEAD + _PIXEL + b";"


@pytest.mark.parametrize(
    ("label", "bodies"),
    [
        (b"\xff", [b"NETSCAPE2.0", b"\x01\x05\x00"]),
        (b"\xff", [b"ANIMEXTS1.0", b"\x01\x05\x00"]),
        (b"\xf9", [b"\x00\x0a\x00\x00"]),
    ],
)
def test_a_loop_and_a_frame_s_control_lose_what_is_tied_to_them(label: bytes, bodies: list[bytes]) -> None:
    block, longer = (b"\x21" + label + _blocks(*bodies, *more) for more in ([], [SECRET]))
    assert stripped(_HEAD + longer + _PIXEL + b";", media.GIF) == _HEAD + block + _PIXEL + b";"


# --- WebP ---

_WEBP = real_images.encoded(media.WEBP, real_images.picture())
_IMAGE = (b"VP8 ", _WEBP[20:])
_EXIF_FLAG, _XMP_FLAG, _ICC_FLAG = 0x08, 0x04, 0x20


def _features(flags: int) -> tuple[bytes, bytes]:
    width, height = ((length - 1).to_bytes(3, "little") for length in real_images.SIZE)
    return b"VP8X", bytes([flags, 0, 0, 0]) + width + height


def _exif(orientation: int) -> bytes:
    return struct.pack("<2sHIHHHIHHI", b"II", 42, 8, 1, 0x0112, 3, 1, orientation, 0, 0)


def test_private_and_unknown_chunks_of_a_webp_go_and_the_flags_with_them() -> None:
    private = [(b"EXIF", _exif(1) + SECRET), (b"XMP ", SECRET + b"!"), (b"META", SECRET), (b"evil", SECRET)]
    profile = (b"ICCP", real_images.color_profile())
    content = pieces.riff(_features(_ICC_FLAG | _EXIF_FLAG | _XMP_FLAG), profile, private[3], _IMAGE, *private)
    after = stripped(content, media.WEBP)
    assert after == pieces.riff(_features(_ICC_FLAG), profile, _IMAGE)
    assert pictures(after) == pictures(content)
    assert stripped(pieces.riff(_IMAGE, (b"EXIF", _exif(6)), (b"zip ", SECRET)), media.WEBP) == pieces.riff(_IMAGE)


def test_an_animated_webp_keeps_its_frames_and_loses_what_hides_in_them() -> None:
    clean = real_images.animation(media.WEBP, loop=3)
    start = clean.index(b"ANMF")
    size = int.from_bytes(clean[start + 4 : start + 8], "little")
    hidden = b"evil" + len(SECRET).to_bytes(4, "little") + SECRET
    frame = b"ANMF" + (size + len(hidden)).to_bytes(4, "little") + clean[start + 8 : start + 8 + size] + hidden
    body = clean[8:start] + frame + clean[start + 8 + size :]
    content = b"RIFF" + len(body).to_bytes(4, "little") + body
    assert len(pictures(content)["frames"]) == 3
    assert stripped(content, media.WEBP) == clean


@pytest.mark.parametrize("second", [(b"VP8 ", SECRET), (b"VP8L", SECRET), (b"VP8X", SECRET[:10]), (b"ANIM", SECRET)])
def test_a_second_chunk_that_may_be_there_once_goes(second: tuple[bytes, bytes]) -> None:
    plain = pieces.riff(_features(0), _IMAGE)
    assert stripped(pieces.riff(_features(0), _IMAGE, second), media.WEBP) == plain


# --- all of them ---


@pytest.mark.parametrize("type_", [media.PNG, media.JPEG, media.WEBP], ids=lambda type_: type_.extension)
@pytest.mark.parametrize(("orientation", "order"), [(2, "<"), (6, "<"), (6, ">"), (8, ">")])
def test_the_orientation_alone_is_kept_of_the_exif(type_: MediaType, orientation: int, order: str) -> None:
    exif = real_images.phone_exif(orientation)
    exif.endian = order
    exif[0x010F], exif[0x8298] = SECRET.decode(), SECRET.decode()
    content = real_images.encoded(type_, real_images.picture(), exif=exif)
    after = stripped(content, type_)
    with Image.open(io.BytesIO(after)) as image:
        assert dict(image.getexif()) == {0x0112: orientation}
        assert image.info["exif"].removeprefix(b"Exif\x00\x00") == _exif(orientation)
    assert SECRET in content
    assert SECRET not in after
    assert pictures(after) == pictures(content)
    assert stripped(after, type_) == after


def _webp_exif(content: bytes) -> bytes:
    return pieces.riff(_features(_EXIF_FLAG), _IMAGE, (b"EXIF", content))


def _jpeg_exif(content: bytes) -> bytes:
    plain = real_images.encoded(media.JPEG, real_images.picture())
    return plain[:20] + pieces.jpeg_segment(0xE1, b"Exif\x00\x00" + content) + plain[20:]


_BIG_ENDIAN = struct.pack(">2sHIHHHIHH", b"MM", 42, 8, 1, 0x0112, 3, 1, 6, 0)


@pytest.mark.parametrize(
    ("type_", "before", "after"),
    [
        (media.PNG, pieces.png(_chunk(b"eXIf", _BIG_ENDIAN)), pieces.png(_chunk(b"eXIf", _exif(6)[:22]))),
        (media.JPEG, _jpeg_exif(_BIG_ENDIAN), _jpeg_exif(_exif(6)[:22])),
        (media.WEBP, _webp_exif(_exif(6)[:22]), _webp_exif(_exif(6)[:22])),
        (media.WEBP, _webp_exif(_exif(6)[:25]), _webp_exif(_exif(6)[:24])),  # an odd length needs another byte
        (media.WEBP, _webp_exif(b"Exif\x00\x00" + _exif(6)), _webp_exif(_exif(6))),
    ],
)
def test_an_exif_of_nothing_but_the_orientation_has_room_for_it(type_: MediaType, before: bytes, after: bytes) -> None:
    assert stripped(before, type_) == after
    assert stripped(after, type_) == after


_DATA = _PNG.index(b"IDAT") - 4


@pytest.mark.parametrize(
    ("type_", "content"),
    [
        (media.PNG, _PNG[: _DATA + 13]),
        (media.GIF, _HEAD + _PIXEL + _PIXEL[:-2]),
        (media.WEBP, _WEBP[:-10]),
    ],
)
def test_a_picture_that_is_cut_off_keeps_what_is_there(type_: MediaType, content: bytes) -> None:
    assert stripped(content, type_) == content


def test_an_extension_of_a_gif_that_is_cut_off_goes() -> None:
    assert stripped(_HEAD + _PIXEL + b"\x21\xfe\x20" + SECRET, media.GIF) == _HEAD + _PIXEL


@pytest.mark.parametrize(
    ("type_", "content"),
    [
        (media.PNG, _PNG[:-12] + b"\xff\xff\xff\xff<script>"),
        (media.GIF, _HEAD + _PIXEL + b"<script>"),
    ],
)
def test_markup_behind_what_decoders_read_is_refused(type_: MediaType, content: bytes) -> None:
    assert refusal(content, type_) is stripping.ForeignBytes


_BROKEN = {
    media.PNG: [
        _PNG[:20],
        _PNG[:33],
        pieces.png_header(4, 4) + _chunk(b"IEND"),
        pieces.PNG_SIGNATURE + _chunk(b"IDAT", bytes(13)) + _chunk(b"IEND"),
        pieces.png(_chunk(b"IHDR", bytes(13))),
        pieces.png(_chunk(b"CgBI", bytes(4))),
        pieces.png(_chunk(b"PLTE", bytes(771))),
        pieces.png(b"\x80\x00\x00\x00tEXt"),
    ],
    media.GIF: [
        b"GIF89a",
        b"GIF90a" + _GIF[6:],
        _HEAD + b";",
        _HEAD + _PRIVATE_BLOCKS["comment"] + b";",
        _HEAD + _PIXEL[:8],
        b"GIF89a/*\x01\x00\x00\x00\x00*/=1;alert(document.domain)//",
        _HEAD + b"\x01" + _PIXEL + b";",
    ],
    media.WEBP: [
        _WEBP[:15],
        b"RIFF\x04\x00\x00\x00WEBP" + _WEBP[12:],
        pieces.riff((b"EXIF", SECRET)),
        pieces.riff(_IMAGE, _features(0)),
        pieces.riff((b"VP8X", bytes(9)), _IMAGE),
        pieces.riff(_features(2), (b"ANMF", bytes(15))),
        pieces.riff(_IMAGE, size=20) + bytes(10),
    ],
}


@pytest.mark.parametrize(("type_", "content"), [(type_, one) for type_, rows in _BROKEN.items() for one in rows])
def test_a_broken_structure_is_refused(type_: MediaType, content: bytes) -> None:
    assert refusal(content, type_) is stripping.Malformed
