"""GIF: frames, their times and the loop stay."""

from __future__ import annotations

import pytest

from imagehost import media
from imagehost.examining import stripping
from tests.imagehost.media_corpus import real_images
from tests.imagehost.stripped import SECRET, refusal, stripped

_ANIMATION = real_images.animation(media.GIF, loop=0)
_FIRST = _ANIMATION.index(b"\x21\xf9\x04")  # what is put here stands before the first frame
_HEAD = b"GIF89a\x01\x00\x01\x00\x00\x00\x00"
_PIXEL = b"\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x80" + b"\x00\x00\x00\xff\xff\xff" + b"\x02\x02\x44\x01\x00"


def _blocks(*bodies: bytes) -> bytes:
    return b"".join(bytes([len(body)]) + body for body in bodies) + b"\x00"


def _with(block: bytes) -> bytes:
    return _ANIMATION[:_FIRST] + block + _ANIMATION[_FIRST:]


_PRIVATE = {
    "comment": b"\x21\xfe" + _blocks(SECRET, SECRET),
    "text": b"\x21\x01" + _blocks(bytes(12), SECRET),
    "xmp as Adobe writes it": b"\x21\xff\x0bXMP DataXMP" + SECRET * 9 + b"\x01" + bytes(range(255, -1, -1)) + b"\x00",
    "unknown application": b"\x21\xff" + _blocks(b"EVILEVIL1.0", SECRET),
    "unknown extension": b"\x21\x99" + _blocks(SECRET),
    "a loop without a number": b"\x21\xff" + _blocks(b"NETSCAPE2.0", SECRET),
    "a control of no use": b"\x21\xf9" + _blocks(SECRET),
    "nothing": b"\x00",
}


def test_private_blocks_go_and_the_animation_stays() -> None:
    after = {name: stripped(_with(block), media.GIF) for name, block in _PRIVATE.items()}
    assert after == dict.fromkeys(_PRIVATE, _ANIMATION)


def test_a_colour_profile_stays() -> None:
    profile = real_images.colour_profile()
    content = _HEAD + b"\x21\xff" + _blocks(b"ICCRGBG1012", profile[:200], profile[200:400], profile[400:]) + _PIXEL
    assert stripped(content, media.GIF) == content
    assert stripped(content.replace(b"acsp", b"none"), media.GIF) == _HEAD + _PIXEL


def test_large_data_is_walked_across_the_window_s_border() -> None:
    image = _PIXEL[:-4] + _blocks(*[bytes(255)] * 2000)
    content = _HEAD + image + b"\x21\xfe" + _blocks(*[b"x" * 255] * 2000) + image + b";"
    assert stripped(content, media.GIF) == _HEAD + image + image + b";"


def test_an_animation_that_is_cut_off_keeps_what_is_there() -> None:
    cut = _HEAD + _PIXEL + _PIXEL[:-2]
    assert stripped(cut, media.GIF) == cut
    assert stripped(_HEAD + _PIXEL + b"\x21\xfe\x20" + SECRET, media.GIF) == _HEAD + _PIXEL


@pytest.mark.parametrize(
    "content",
    [
        b"GIF89a",
        b"GIF90a" + _ANIMATION[6:],
        _HEAD + b";",
        _HEAD + _PRIVATE["comment"] + b";",
        _HEAD + _PIXEL[:8],
        b"GIF89a/*\x01\x00\x00\x00\x00*/=1;alert(document.domain)//",
        _HEAD + b"\x01" + _PIXEL + b";",
    ],
)
def test_a_broken_structure_is_refused(content: bytes) -> None:
    assert refusal(content, media.GIF) is stripping.Malformed


@pytest.mark.parametrize("screen", [bytes(4), b"\x00\x00\x05\x00", b"\x05\x00\x00\x00"])
def test_a_screen_without_pixels_is_as_large_as_the_first_frame(screen: bytes) -> None:
    assert stripped(_HEAD[:6] + screen + _HEAD[10:] + _PIXEL + b";", media.GIF) == _HEAD + _PIXEL + b";"


def test_what_is_no_block_is_the_end_of_the_frames_before_it() -> None:
    assert stripped(_HEAD + _PIXEL + b"\x01\x02" + _PIXEL + b";", media.GIF) == _HEAD + _PIXEL + b";"
    assert stripped(_HEAD + _PIXEL + b"GIF89a" + SECRET, media.GIF) == _HEAD + _PIXEL + b";"
    assert refusal(_HEAD + _PIXEL + b"<script>", media.GIF) is stripping.ForeignBytes


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
