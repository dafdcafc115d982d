"""JPEG: what describes the picture goes, what decodes it stays."""

from __future__ import annotations

import io
import struct

import pytest
from PIL import Image

from imagehost import media
from imagehost.examining import stripping
from tests.imagehost.media_corpus import hdr_photos, pieces, real_images
from tests.imagehost.media_corpus.hdr_photos import APPLE_XMP, ISO, ISO_METADATA, MAP_XMP, gain_map, index, photo
from tests.imagehost.media_corpus.sample import PLACE
from tests.imagehost.stripped import SECRET, pictures, refusal, stripped

_PLAIN = real_images.encoded(media.JPEG, real_images.picture())
_CMYK = real_images.encoded(media.JPEG, real_images.picture("CMYK"))
_JFIF = b"JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"


def _with(segment: bytes) -> bytes:
    """Behind JFIF's, before the picture's tables."""
    return _PLAIN[:20] + segment + _PLAIN[20:]


def _of(marker: int, body: bytes) -> bytes:
    return pieces.jpeg_segment(marker, body)


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


def test_a_color_profile_in_several_segments_stays() -> None:
    profile = real_images.color_profile() + bytes(100_000)
    content = real_images.encoded(media.JPEG, real_images.picture(), icc_profile=profile, comment=SECRET)
    after = stripped(content, media.JPEG)
    assert pictures(after)["icc_profile"] == profile
    assert SECRET not in after


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


def test_what_a_phone_puts_behind_the_picture_goes() -> None:
    note = b"\x00\x00\x01\x0a\x0e\x00\x00\x00Image_UTC_Data" + SECRET
    directory = b"SEFH" + struct.pack("<II", 107, 1) + struct.pack("<HHII", 0, 0x0A01, len(note), len(note))
    trailer = note + directory + struct.pack("<I", len(directory)) + b"SEFT"
    for behind in (b"\x00" * 300 + _CMYK, b"\xff" + _PLAIN, trailer):
        assert stripped(_PLAIN + behind, media.JPEG) == _PLAIN


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


# --- HDR photos in JPEG: the gain map behind the picture stays, with clean marks; all else behind it goes. ---

_PHOTOS = {"adobe": hdr_photos.ultra_hdr(), "iso": hdr_photos.iso_hdr(), "apple": hdr_photos.apple_hdr()}
_PLAIN = stripped(photo([]), media.JPEG)
_FILM = pieces.ftyp(b"mp42", b"isom", b"mp42") + pieces.box(b"mdat", SECRET)


def split(content: bytes) -> list[bytes]:
    """The pictures that the index of the file names, by their lengths and starts."""
    at = content.index(b"MPF\0") + 4
    count = struct.unpack_from(">I", content, at + 30)[0]
    entries = [struct.unpack_from(">III", content, at + 50 + 16 * number) for number in range(count)]
    starts = [at + start if number else 0 for number, (_, _, start) in enumerate(entries)]
    return [content[start : start + length] for start, (_, length, _) in zip(starts, entries, strict=True)]


@pytest.mark.parametrize("name", _PHOTOS)
def test_a_gain_map_stays_and_is_as_clean_as_its_photo(name: str) -> None:
    after = stripped(_PHOTOS[name], media.JPEG)
    first, second = split(after)
    assert first + second == after
    assert pictures(after)["frames"][0] == pictures(_PHOTOS[name])["frames"][0]
    with Image.open(io.BytesIO(second)) as image, Image.open(io.BytesIO(gain_map())) as original:
        assert image.tobytes() == original.tobytes()
        assert "exif" not in image.info
    for private in (PLACE.encode(), b"Camera Maker", b"xmptk", b"MotionPhoto"):
        assert private not in after
    assert stripped(after, media.JPEG) == after


def test_the_numbers_of_adobe_s_marks_are_written_again() -> None:
    first, second = split(stripped(_PHOTOS["adobe"], media.JPEG))
    assert f'Item:Semantic="GainMap" Item:Mime="image/jpeg" Item:Length="{len(second)}"'.encode() in first
    start = second.index(b"<rdf:Description")
    assert second[start : second.index(b"</rdf:Description>")] == (
        b'<rdf:Description xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0" '
        b'hdrgm:BaseRenditionIsHDR="False" hdrgm:GainMapMin="-0.5" hdrgm:Gamma="1" hdrgm:OffsetSDR="1e-07" '
        b'hdrgm:OffsetHDR="0.015625" hdrgm:HDRCapacityMin="0" hdrgm:HDRCapacityMax="2.32192809">'
        b"<hdrgm:GainMapMax><rdf:Seq><rdf:li>2</rdf:li><rdf:li>1.5</rdf:li><rdf:li>1</rdf:li></rdf:Seq>"
        b"</hdrgm:GainMapMax>"
    )


def test_the_marks_of_iso_21496_stay() -> None:
    first, second = split(
        stripped(photo([hdr_photos.ISO_VERSION + SECRET], gain_map(ISO_METADATA + SECRET)), media.JPEG)
    )
    assert pieces.jpeg_segment(0xE2, hdr_photos.ISO_VERSION) in first
    assert pieces.jpeg_segment(0xE2, ISO_METADATA) in second
    assert SECRET not in first + second


def test_apple_s_headroom_stays_of_the_maker_note() -> None:
    first, second = split(stripped(_PHOTOS["apple"], media.JPEG))
    with Image.open(io.BytesIO(first)) as image:
        exif = image.getexif()
        assert dict(exif) == {0x0112: 6, 0x8769: 38}
        note = exif.get_ifd(0x8769)
    assert set(note) == {0x927C}
    assert struct.pack(">4i", 3, 2, 1, 100) in first
    assert b'HDRGainMap:HDRGainMapVersion="65536"' in second
    assert b'apdi:NativeFormat="1278226488"' in second


@pytest.mark.parametrize("order", [">", "<"])
def test_films_and_other_pictures_around_the_gain_map_go(order: str) -> None:
    alone = photo([hdr_photos.primary_xmp()], gain_map(MAP_XMP))
    content = hdr_photos.ultra_hdr(order=order, tail=_FILM)
    assert stripped(content, media.JPEG) == stripped(alone, media.JPEG)
    assert refusal(content + b"<script>", media.JPEG) is stripping.ForeignBytes


def _changed(mark: bytes, old: bytes, new: bytes) -> bytes:
    assert old in mark
    return mark.replace(old, new)


def _iso(flags: int, *numbers: int) -> bytes:
    return ISO + bytes(4) + bytes([flags]) + struct.pack(f">{len(numbers)}i", *numbers)


@pytest.mark.parametrize(
    "mark",
    [
        hdr_photos.xmp(""),
        _changed(MAP_XMP, b'hdrgm:Version="1.0"', b""),
        _changed(MAP_XMP, b'"-0.5"', b'"nan"'),
        _changed(MAP_XMP, b'"-0.5"', b'"1e300"'),
        _changed(MAP_XMP, b'"-0.5"', b'"0.' + b"0" * 40 + b'"'),
        _changed(MAP_XMP, b"<rdf:li>1</rdf:li>", b""),
        _changed(MAP_XMP, b"GainMapMax", b"GainMapMix"),
        _changed(MAP_XMP, b"</rdf:RDF>", b""),
        _changed(MAP_XMP, b"<x:xmpmeta", b'<!DOCTYPE x [<!ENTITY e "SECRET">]><x:xmpmeta'),
        _changed(MAP_XMP, b"<x:xmpmeta", b'<?xml version="1.0" encoding="none"?><x:xmpmeta'),
        _changed(APPLE_XMP, b"hdrgainmap", b"portraitmatte"),
        ISO_METADATA[:-1],
        _changed(ISO_METADATA, ISO + bytes(2), ISO + b"\0\1"),
        _iso(0x10, *[1] * 14),
        _iso(0, *[1] * 13, 0),
        _iso(8, 0, *[1] * 7),
    ],
)
def test_a_second_picture_without_a_sound_mark_goes(mark: bytes) -> None:
    assert stripped(photo([], gain_map(mark)), media.JPEG) == _PLAIN


@pytest.mark.parametrize("flags", [0x08, 0x88])
def test_iso_metadata_with_one_denominator_is_known(flags: int) -> None:
    mark = _iso(flags, *[2] * (3 + 5 * (3 if flags & 0x80 else 1)))
    _, second = split(stripped(photo([], gain_map(mark)), media.JPEG))
    assert pieces.jpeg_segment(0xE2, mark) in second


def test_a_gain_map_that_is_cut_off_or_too_large_goes() -> None:
    whole = gain_map(MAP_XMP)
    frame = whole.index(b"\xff\xc0") + 5
    huge = whole[:frame] + b"\xff\xff\xff\xff" + whole[frame + 4 :]
    for second in (whole[:-2], huge, whole[: len(whole) // 2]):
        assert stripped(photo([hdr_photos.primary_xmp()], second), media.JPEG) == _PLAIN


def test_an_index_that_leads_elsewhere_is_removed() -> None:
    plain = real_images.encoded(media.JPEG, real_images.picture())
    second = gain_map(MAP_XMP)
    inside = pieces.jpeg_segment(0xFE, second)  # in a comment of the photo

    def with_index(body: bytes, *more: bytes) -> bytes:
        return plain[:20] + pieces.jpeg_segment(0xE2, body) + b"".join(more) + plain[20:] + second

    sound = index([0, 0], [0, 96])
    for body in (
        sound[:-1], sound[:4] + bytes(4) + sound[8:], sound[:8] + b"\xff" * 4 + sound[12:], index([0, 0], [0, 7]),
        sound[:12] + b"\xff\xff" + sound[14:], index([0, 0], [0, 1 << 31]),
    ):  # fmt: skip
        assert stripped(with_index(body), media.JPEG) == _PLAIN
    assert stripped(with_index(index([0, 0], [0, 90]), inside), media.JPEG) == _PLAIN


def test_a_photo_without_an_end_keeps_no_gain_map() -> None:
    """Its index leads to the next picture, where the photo itself ends then."""
    plain = real_images.encoded(media.JPEG, real_images.picture())
    cut = len(plain) - 2
    head = pieces.jpeg_segment(0xE2, index([0, 0], [0, cut + 90 - 28]))
    content = plain[:20] + head + plain[20:cut] + gain_map(MAP_XMP)
    assert content[28 + cut + 90 - 28 :].startswith(b"\xff\xd8")
    assert stripped(content, media.JPEG) == _PLAIN
