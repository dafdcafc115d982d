"""AVIF: Exif and XMP are blanked where they lie, and the file stays one that decoders open."""

from __future__ import annotations

import io
import struct

import pytest
from PIL import Image

from imagehost import media
from imagehost.examining import stripping
from tests.imagehost.media_corpus import pieces, real_images
from tests.imagehost.stripped import SECRET, pictures, refusal, stripped

_box = pieces.box
_EMPTY_EXIF = bytes(4) + b"II*\x00\x08" + bytes(9)
_PLAIN = real_images.encoded(media.AVIF, real_images.picture(), speed=10)


def _private(**options: object) -> bytes:
    exif = real_images.phone_exif()
    exif[0x010F] = SECRET.decode()
    return real_images.encoded(
        media.AVIF, real_images.picture("RGBA"), speed=10, exif=exif, xmp=b"<x:xmpmeta>" + SECRET, **options
    )


def test_exif_and_xmp_are_blanked_in_place() -> None:
    content = _private(icc_profile=real_images.colour_profile())
    after = stripped(content, media.AVIF)
    assert content.count(SECRET) == 2
    assert SECRET not in after
    assert b"Exif" in after
    assert len(after) == len(content)
    assert pictures(after) == pictures(content)
    assert pictures(after)["icc_profile"] == real_images.colour_profile()
    with Image.open(io.BytesIO(after)) as image:
        assert dict(image.getexif()) == {}
        assert image.info["xmp"].strip() == b""
    assert stripped(after, media.AVIF) == after


# A file made by hand: the items lie in mdat or in idat, their places are given by each version of the table.


def _entry(item: int, kind: bytes, name: bytes = b"", *, version: int = 2) -> bytes:
    identity = item.to_bytes(4 if version == 3 else 2, "big")
    return _box(b"infe", bytes([version, 0, 0, 0]), identity, bytes(2), kind, name, b"\x00")


def _locations(version: int, method: int, places: dict[int, list[tuple[int, int]]], base: int) -> bytes:
    """Offsets, lengths and bases of four bytes each."""
    wide = ">I" if version == 2 else ">H"
    items = b"".join(
        struct.pack(wide, item)
        + (struct.pack(">H", method) if version else b"")
        + struct.pack(">HIH", 0, base, len(extents))
        + b"".join(struct.pack(">II", start - base, length) for start, length in extents)
        for item, extents in places.items()
    )
    return _box(b"iloc", bytes([version, 0, 0, 0, 0x44, 0x40]), struct.pack(wide, len(places)), items)


def _by_hand(
    version: int = 0,
    method: int = 0,
    data: bytes = b"",
    kinds: tuple[bytes, ...] = (b"av01", b"Exif", b"mime", b"uri ", b"evil"),
    places: dict[int, list[tuple[int, int]]] | None = None,
    base: int = 0,
    extra: bytes = b"",
) -> bytes:
    """`places` count from the start of the data, which is the mdat's or the idat's."""
    entries = [_entry(number, kind, version=3 if version == 2 else 2) for number, kind in enumerate(kinds, 1)]
    names = _box(b"iinf", bytes(4), struct.pack(">H", len(entries)), *entries)
    handling = _box(b"hdlr", bytes(8), b"pict", bytes(12), b"name" + SECRET)
    places = {1: [(0, 4)]} if places is None else places

    def head(start: int) -> bytes:
        moved = {item: [(start + at, length) for at, length in extents] for item, extents in places.items()}
        inside = _box(b"idat", data) if method == 1 else b""
        parts = [handling, _locations(version, method, moved, base), names, inside, extra]
        return pieces.ftyp(b"avif", b"avif") + _box(b"meta", bytes(4), *parts)

    if method == 1:
        return head(0)
    return head(len(head(1000)) + 8) + _box(b"mdat", data)


@pytest.mark.parametrize(
    ("version", "method", "base"), [(0, 0, 0), (0, 0, 2), (1, 0, 2), (2, 0, 2), (1, 1, 0), (2, 1, 0)]
)
def test_private_items_are_found_wherever_they_lie(version: int, method: int, base: int) -> None:
    data = b"...." + b"E" * 30 + b"X" * 20 + b"U" * 5 + b"V" * 5
    places = {1: [(0, 4)], 2: [(4, 10), (14, 20)], 3: [(34, 20)], 4: [(54, 5)], 5: [(59, 5)]}
    after = stripped(_by_hand(version, method, data, places=places, base=base), media.AVIF)
    blank = b"...." + _EMPTY_EXIF + bytes(12) + b" " * 20 + bytes(10)
    assert after == _by_hand(version, method, blank, places=places, base=base).replace(
        SECRET, bytes(len(SECRET))
    ).replace(b"name" + bytes(len(SECRET)), bytes(4 + len(SECRET)))
    assert stripped(after, media.AVIF) == after


def test_an_exif_that_is_too_short_for_a_whole_tiff_is_blanked_all_the_same() -> None:
    after = stripped(_by_hand(data=b"....EEEEEEEEEE", places={1: [(0, 4)], 2: [(4, 10)]}), media.AVIF)
    assert after.endswith(_box(b"mdat", b"....", _EMPTY_EXIF[:10]))


@pytest.mark.parametrize(
    "extra",
    [
        _box(b"free", SECRET),
        _box(b"uuid", SECRET),
        _box(b"xml ", SECRET),
        *(_box(b"iprp", _box(b"ipco", _box(kind, SECRET))) for kind in (b"udes", b"altt", b"crtt", b"mdft", b"uuid")),
    ],
)
def test_boxes_that_describe_the_picture_go(extra: bytes) -> None:
    assert SECRET not in stripped(_by_hand(data=b"....", extra=extra), media.AVIF)


def _size(width: int, height: int) -> bytes:
    return _box(b"iprp", _box(b"ipco", _box(b"ispe", bytes(4), struct.pack(">II", width, height))))


def test_a_picture_of_as_many_pixels_as_are_allowed_stays() -> None:
    content = stripped(_by_hand(data=b"....", extra=_size(10_100, 10_000)), media.AVIF)
    assert _size(10_100, 10_000) in content


def test_a_sequence_without_items_stays() -> None:
    handling = _box(b"hdlr", bytes(8), b"pict", bytes(12), SECRET)
    after = stripped(pieces.ftyp(b"avis") + _box(b"meta", bytes(4), handling), media.AVIF)
    assert after == pieces.ftyp(b"avis") + _box(b"meta", bytes(4), handling).replace(SECRET, bytes(len(SECRET)))


def test_boxes_behind_the_picture_become_empty_space() -> None:
    assert stripped(_PLAIN + _box(b"udta", SECRET), media.AVIF) == _PLAIN + _box(b"free", bytes(len(SECRET)))


@pytest.mark.parametrize(
    "content",
    [
        pieces.ftyp(b"avif", b"avif"),
        _by_hand(3, data=b"...."),
        _by_hand(1, 2, data=b"....", places={2: [(0, 4)]}),
        _by_hand(data=b"....", places={2: [(0, 0)]}),
        _by_hand(data=b"....", places={2: [(0, 5)]}),
        _by_hand(data=b"....", places={2: [(-40, 4)]}),
        _by_hand(data=b"....", extra=_box(b"iinf", bytes(6))),
        _by_hand(data=b"....", extra=_size(10_101, 10_000)),
        _by_hand(data=b"....", extra=_size(10_000, 0)),
        _by_hand(data=b"....").replace(b"\x44\x40\x00\x01", b"\x44\x40\x00\x09"),
    ],
)
def test_a_broken_structure_is_refused(content: bytes) -> None:
    assert refusal(content, media.AVIF) is stripping.Malformed
