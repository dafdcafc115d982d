"""Color profiles: what decides and names colors stays, the monitor's owner stays unknown, in every form of file."""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Callable

import pytest
from PIL import ImageCms

from imagehost import media
from imagehost.examining import stripping
from imagehost.examining.stripping import icc
from imagehost.media import MediaType
from tests.imagehost.media_corpus import color_profiles, pieces, real_images, real_videos
from tests.imagehost.media_corpus.color_profiles import tags, with_tags
from tests.imagehost.stripped import SECRET, film, pictures, refusal, stripped

_MONITOR = color_profiles.of_monitor(SECRET)
_CLEAN = icc.cleaned(_MONITOR) or b""
_STILLS = (media.PNG, media.JPEG, media.WEBP, media.AVIF)


def _image(type_: MediaType, profile: bytes) -> bytes:
    options = {"speed": 10} if type_ is media.AVIF else {}
    return real_images.encoded(type_, real_images.picture(), icc_profile=profile, **options)


def seen(profile: bytes) -> bytes:
    """The picture's pixels on a screen of sRGB."""
    source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    image = ImageCms.profileToProfile(real_images.picture(), source, ImageCms.createProfile("sRGB"))
    assert image is not None
    return image.tobytes()


def test_private_tags_of_a_monitor_go_and_its_colors_stay() -> None:
    assert seen(_CLEAN) == seen(_MONITOR) != seen(real_images.color_profile())
    assert len(_CLEAN) == len(_MONITOR)
    assert SECRET[:6] not in _CLEAN
    kept = tags(_CLEAN)
    assert not {b"mmod", b"vcgt", b"dscm"} & set(kept)
    assert {tag for tag, content in kept.items() if content != tags(_MONITOR)[tag]} == {b"desc"}
    assert ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(io.BytesIO(_CLEAN))).strip() == ""
    assert icc.cleaned(_CLEAN) == _CLEAN


def test_a_general_profile_stays_as_it_is() -> None:
    plain = with_tags({b"dmnd": b"text" + bytes(4) + b"IEC", b"dmdd": b"text" + bytes(4) + b"sRGB"})
    assert icc.cleaned(plain) == plain
    printer = with_tags({b"targ": b"text" + SECRET})
    printer = printer[:12] + b"prtr" + printer[16:]
    after = icc.cleaned(printer) or b""
    assert SECRET not in after
    assert tags(after)[b"desc"] == tags(printer)[b"desc"]


def test_bytes_between_the_tags_go() -> None:
    plain = with_tags({})
    hidden = struct.pack(">I", len(plain) + len(SECRET)) + plain[4:] + SECRET
    assert icc.cleaned(hidden) == hidden[: len(plain)] + bytes(len(SECRET))


@pytest.mark.parametrize("type_", _STILLS, ids=lambda type_: type_.extension)
def test_every_form_of_picture_keeps_a_profile_without_its_private_tags(type_: MediaType) -> None:
    content = _image(type_, _MONITOR)
    after = stripped(content, type_)
    assert pictures(after) == pictures(content) | {"icc_profile": _CLEAN}
    assert SECRET[:6] not in after
    assert stripped(after, type_) == after


def test_a_profile_in_several_segments_and_blocks_is_cleaned_as_one() -> None:
    profile = with_tags({b"mmod": SECRET * 6000}, swapped=True)
    after = stripped(_image(media.JPEG, profile), media.JPEG)
    assert pictures(after)["icc_profile"] == icc.cleaned(profile)
    name = b"\x21\xff\x0bICCRGBG1012"
    blocks = [_MONITOR[at : at + 255] for at in range(0, len(_MONITOR), 255)]
    plain = real_images.encoded(media.GIF, real_images.picture("P"))
    at = plain.index(b",", 13 + 3 * 2 ** ((plain[10] & 7) + 1))
    gif = [plain[:at] + name + b"".join(bytes([len(one)]) + one for one in parts) + b"\0" + plain[at:]
           for parts in (blocks, [_CLEAN[at : at + 255] for at in range(0, len(_CLEAN), 255)])]  # fmt: skip
    assert stripped(gif[0], media.GIF) == gif[1]


def test_the_profile_of_a_film_is_cleaned_in_place() -> None:
    """In the sample entry, behind the description of its codec."""
    plain = stripped(real_videos.recorded(real_videos.MP4), media.MP4)
    color = pieces.box(b"colr", b"prof", _MONITOR)
    at = plain.index(b"avcC") - 4
    at += int.from_bytes(plain[at : at + 4], "big")
    content = bytearray(plain[:at] + color + plain[at:])
    for kind in (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"avc1"):
        start = content.index(kind, content.index(b"moov")) - 4
        size = int.from_bytes(content[start : start + 4], "big")
        content[start : start + 4] = (size + len(color)).to_bytes(4, "big")
    after = stripped(bytes(content), media.MP4)
    assert after == bytes(content).replace(_MONITOR, _CLEAN)
    assert film(after) == film(plain)


def _broken(profile: bytes) -> list[bytes]:
    entry = struct.pack(">4sII", b"rXYZ", len(profile), 20)
    return [
        profile[:100], profile[:36] + b"none" + profile[40:], struct.pack(">I", len(profile) + 1) + profile[4:],
        profile[:128] + b"\0\0\xff\xff" + profile[132:], profile[:132] + entry + profile[144:],
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(5))
def test_a_profile_that_decoders_refuse_goes(number: int) -> None:
    profile = _broken(with_tags({}))[number]
    assert icc.cleaned(profile) is None
    plain = real_images.encoded(media.JPEG, real_images.picture())
    segment = pieces.jpeg_segment(0xE2, b"ICC_PROFILE\0\1\1" + profile)
    assert stripped(plain[:20] + segment + plain[20:], media.JPEG) == plain
    chunk = pieces.png_chunk(b"iCCP", b"icc\0\0" + zlib.compress(profile))
    assert stripped(pieces.png(chunk), media.PNG) == pieces.png()


@pytest.mark.parametrize("numbers", [[(1, 2)], [(1, 2), (1, 2)], [(1, 2), (3, 2)], [(1, 1), (2, 2)], [(0, 1)]])
def test_segments_that_are_no_whole_profile_go(numbers: list[tuple[int, int]]) -> None:
    profile = with_tags({})
    plain = real_images.encoded(media.JPEG, real_images.picture())
    segments = b"".join(pieces.jpeg_segment(0xE2, b"ICC_PROFILE\0" + bytes(pair) + profile) for pair in numbers)
    assert stripped(plain[:20] + segments + plain[20:], media.JPEG) == plain


def _png(profile: bytes, name: bytes = b"icc", pack: Callable[[bytes], bytes] = zlib.compress) -> bytes:
    return pieces.png(pieces.png_chunk(b"iCCP", name + b"\0\0" + pack(profile)))


def test_a_png_keeps_a_profile_of_four_megabytes_and_is_refused_with_a_longer_one() -> None:
    large = with_tags({b"A2B0": b"mft2" + os.urandom((4 << 20) - 60_000)})
    assert stripped(_png(large), media.PNG) == _png(large)
    larger = with_tags({b"A2B0": b"mft2" + os.urandom(4 << 20)})
    assert refusal(_png(larger), media.PNG) is stripping.Malformed
    unpacked = with_tags({b"A2B0": bytes(icc.LARGEST)})
    assert refusal(_png(unpacked), media.PNG) is stripping.Malformed


def test_the_name_of_a_profile_in_a_png_and_bytes_behind_it_go() -> None:
    profile = with_tags({})
    assert stripped(_png(profile, name=SECRET), media.PNG) == _png(profile)
    assert stripped(_png(profile, pack=lambda one: zlib.compress(one) + SECRET), media.PNG) == _png(profile)
    assert stripped(_png(profile, name=b"x"), media.PNG) == _png(profile, name=b"i")
    assert stripped(_png(profile, name=b""), media.PNG) == pieces.png()
    assert stripped(_png(profile, pack=lambda one: zlib.compress(one)[:-9]), media.PNG) == pieces.png()


def _gapped(legal: bytes) -> bytes:
    """A text, a table of noise, and pieces of a second copy with gaps between them: blank gaps are harder to pack."""
    noise = os.urandom(3000)
    pieces_of_copy = [(b"B2A0", 3000 + at, 20) for at in range(0, 2980, 23)]
    entries = [(b"A2B0", 0, 3000), *pieces_of_copy, (b"cprt", 6000, len(legal))]
    start = 132 + 12 * len(entries)
    table = b"".join(struct.pack(">4sII", tag, start + at, length) for tag, at, length in entries)
    rest = real_images.color_profile()[4:128] + struct.pack(">I", len(entries)) + table + noise * 2 + legal
    return struct.pack(">I", 4 + len(rest)) + rest


def test_a_profile_that_would_become_longer_loses_its_texts_or_is_refused() -> None:
    """A chunk may not grow, as the file is written in place."""
    with_text, without = _gapped(b"text" + os.urandom(2000)), _gapped(b"")
    assert len(_png(icc.cleaned(without) or b"")) > len(_png(without))
    after = stripped(_png(with_text), media.PNG)
    profile = pictures(after)["icc_profile"]
    assert profile == icc.cleaned(with_text, only_colors=True)
    assert stripped(after, media.PNG) == after
    assert refusal(_png(without), media.PNG) is stripping.Malformed
