"""User data inside of H.264 and HEVC is blanked in place; the pictures stay as they are."""

from __future__ import annotations

import io
import struct
from typing import Any

import av
import pytest

from imagehost import media
from imagehost.examining import stripping
from tests.imagehost.media_corpus import pieces, real_videos
from tests.imagehost.stripped import SECRET, cut_off, film, mutated, refusal, stripped, survives

_box = pieces.box
_NAME = bytes(range(1, 17))  # a UUID
_X264 = b"\xdcE\xe9\xbd\xe6\xd9H\xb7\x96,\xd8 \xd9#\xee\xef"


def _with_text(muxer: str, flags: str = "") -> bytes:
    """A film by x264, whose settings are in it, with a text before each key frame, as cameras write telemetry."""
    recipe = real_videos.Recipe(muxer, "libx264", tune={"preset": "ultrafast"})
    written = io.BytesIO()
    with av.open(written, "w", format=muxer, container_options={"movflags": flags} if flags else {}) as container:
        shown: Any = real_videos.video(container, recipe)
        for frame in [*real_videos.frames(recipe), None]:
            for packet in shown.encode(frame):
                container.mux(_said(packet) if packet.is_keyframe else packet)
    return written.getvalue()


def _said(packet: av.Packet[Any]) -> av.Packet[Any]:
    made: av.Packet[Any] = av.Packet(b"\0\0\0\1\x06" + _message(5, _NAME + SECRET) + b"\x80" + bytes(packet))
    made.stream, made.pts, made.dts, made.time_base = packet.stream, packet.pts, packet.dts, packet.time_base
    made.is_keyframe = True
    return made


@pytest.mark.parametrize("flags", ["", "frag_keyframe+empty_moov", "frag_every_frame+empty_moov"])
@pytest.mark.parametrize(("muxer", "type_"), [("mp4", media.MP4), ("mov", media.MOV)])
def test_texts_and_settings_in_a_film_go_and_its_pictures_stay(muxer: str, type_: media.MediaType, flags: str) -> None:
    content = _with_text(muxer, flags)
    after = stripped(content, type_)
    assert content.count(SECRET) >= 2
    assert content.count(b"options: ") >= 1
    assert SECRET not in after
    assert _NAME not in after
    assert b"options: " not in after
    assert b"libx264" not in after
    assert len(after) == len(content)
    assert film(after) == film(content)
    assert stripped(after, type_) == after


@pytest.mark.parametrize("flags", ["", "frag_keyframe+empty_moov"])
@pytest.mark.parametrize("tag", ["hvc1", "hev1"])
def test_the_settings_of_x265_go_from_the_film_and_its_header(tag: str, flags: str) -> None:
    tune = {"preset": "ultrafast", "x265-params": "log-level=none:pools=none:frame-threads=1"}
    options = {"movflags": flags} if flags else {}
    content = real_videos.recorded(real_videos.Recipe("mp4", "libx265", tag=tag, tune=tune, options=options))
    after = stripped(content, media.MP4)
    assert b"x265 (build" in content
    assert b"x265" not in after
    assert film(after) == film(content)
    assert stripped(after, media.MP4) == after


def _message(kind: int, content: bytes) -> bytes:
    lengths = (b"\xff" * (number // 255) + bytes([number % 255]) for number in (kind, len(content)))
    return b"".join(lengths) + content


def _escaped(content: bytes) -> bytes:
    made, zeros = bytearray(), 0
    for byte in content:
        if zeros == 2 and byte <= 3:
            made.append(3)
            zeros = 0
        made.append(byte)
        zeros = zeros + 1 if byte == 0 else 0
    return bytes(made)


def _unit(head: bytes, *messages: bytes, width: int = 4) -> bytes:
    content = head + _escaped(b"".join(messages) + b"\x80")
    return len(content).to_bytes(width, "big") + content


def _film(sample: bytes, *, settings: bytes | None = None, kind: bytes = b"avc1", entry: int = 1) -> bytes:
    """One sample, which no decoder has to understand."""
    if settings is None:
        settings = _box(b"avcC", b"\x01\x64\x00\x0a\xff\xe0\x00")
    entries = [_box(b"mp4v", bytes(78)) for _ in range(entry - 1)] + [_box(kind, bytes(78), settings)]

    def whole(start: int) -> bytes:
        tables = [
            _box(b"stsd", struct.pack(">II", 0, entry), *entries),
            _box(b"stsz", struct.pack(">IIII", 0, 0, 1, len(sample))),
            _box(b"stsc", struct.pack(">2I3I", 0, 1, 1, 1, entry)),
            _box(b"stco", struct.pack(">3I", 0, 1, start)),
        ]
        shown = _box(b"hdlr", bytes(8), b"vide", bytes(12))
        track = _box(b"trak", _box(b"mdia", shown, _box(b"minf", _box(b"stbl", *tables))))
        return pieces.ftyp(b"isom") + _box(b"moov", track) + _box(b"mdat", sample)

    return whole(len(whole(0)) - len(sample))


_PICTURE = b"\x00\x00\x00\x09\x65picture!"
_SEI = b"\x06"
_PRIVATE = _message(5, _NAME + SECRET)
_BLANKED = _message(5, b" " * len(_NAME + SECRET))
_CAPTION = _message(4, b"\xb5\x00\x31GA94 caption")

_MESSAGES: dict[str, tuple[list[bytes], list[bytes]]] = {
    "one": ([_PRIVATE], [_BLANKED]),
    "between others": ([_CAPTION, _PRIVATE, _message(6, b"\x01")], [_CAPTION, _BLANKED, _message(6, b"\x01")]),
    "two": ([_PRIVATE, _PRIVATE], [_BLANKED, _BLANKED]),
    "a long one": ([_message(5, _NAME + SECRET * 60)], [_message(5, b" " * (16 + 60 * len(SECRET)))]),
    "of exactly 255 bytes": ([_message(5, b"x" * 255), _CAPTION], [_message(5, b" " * 255), _CAPTION]),
    "a type above 255": ([_message(5 + 255, SECRET), _PRIVATE], [_message(5 + 255, SECRET), _BLANKED]),
    "shorter than a UUID": ([_message(5, b"abc")], [_message(5, b"   ")]),
    "empty": ([_message(5, b""), _CAPTION], [_message(5, b""), _CAPTION]),
    "captions alone": ([_CAPTION], [_CAPTION]),
    "settings of x264": (
        [_message(5, _X264 + b"x264 - core 148 r1 " + SECRET)],
        [_message(5, _X264 + b"x264 - core 148    " + b" " * len(SECRET))],
    ),
    "settings that x264 did not write": (
        [_message(5, _NAME + b"x264 - core 148")], [_message(5, b" " * 31)],
    ),
    "a number that is no version": (
        [_message(5, _X264 + b"x264 - core 48858322944")], [_message(5, b" " * (16 + 23))],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _MESSAGES)
def test_the_content_of_unregistered_messages_becomes_blanks(name: str) -> None:
    before, after = (_film(_unit(_SEI, *messages) + _PICTURE) for messages in _MESSAGES[name])
    assert stripped(before, media.MP4) == after
    assert stripped(after, media.MP4) == after


@pytest.mark.parametrize(
    "content",
    [
        b"\0\0\1" + SECRET + b"\0\0\0",
        bytes(300),
        bytes(40) + SECRET,
        b"\0\0\0\0\0\3" * 9,
        SECRET + b"\0\0",
        SECRET + b"\0",
        b"\0\0" + SECRET,
        b"\0" * 255,
    ],
)
def test_escapes_keep_what_is_behind_a_message_in_its_place(content: bytes) -> None:
    """The bytes that say that a zero is none stay, with those zeros."""
    for behind in (_CAPTION, _message(6, b"\0\0\1\2\3"), b""):
        before = _film(_unit(_SEI, _message(5, content), behind) + _PICTURE)
        after = stripped(before, media.MP4)
        assert SECRET not in after
        assert len(after) == len(before)
        unit = after[after.index(b"mdat") + 8 : after.index(b"\x00\x00\x00\x09\x65picture!")]
        left = unit[1:].replace(b"\0\0\3", b"\0\0")
        assert left.endswith(behind + b"\x80")
        assert len(left) == len(_message(5, content) + behind) + 1
        assert set(left[: len(left) - len(behind) - 1].lstrip(b"\x05\xff")[1:]) <= {0, ord(" ")}
        assert stripped(after, media.MP4) == after


@pytest.mark.parametrize(
    ("sample", "kept"),
    [
        (_unit(_SEI, _PRIVATE)[:-20], None),
        (b"\x00\x00\x40\x00" + _SEI + _PRIVATE, None),
        (bytes(8) + _unit(_SEI, _PRIVATE) + _PICTURE, _PICTURE),
        (_PICTURE + _unit(_SEI, _PRIVATE), _PICTURE),
        (b"\x00\x00\x00\x01\x06" + _unit(_SEI, _PRIVATE), None),
    ],
)
def test_units_that_are_cut_off_or_in_disorder_lose_their_text_too(sample: bytes, kept: bytes | None) -> None:
    after = stripped(_film(sample), media.MP4)
    assert SECRET[:8] not in after
    assert kept is None or kept in after


def _hevc_settings(*units: bytes, width: int = 4) -> bytes:
    arrays = b"".join(b"\x27\x00\x01" + struct.pack(">H", len(unit)) + unit for unit in units)
    return _box(b"hvcC", bytes(21), bytes([0xFC | width - 1, len(units)]), arrays)


@pytest.mark.parametrize("head", [b"\x4e\x01", b"\x50\x01"], ids=["before the picture", "behind it"])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_messages_of_hevc_are_blanked_in_the_film_and_in_its_header(head: bytes, width: int) -> None:
    def made(message: bytes) -> bytes:
        settings = _hevc_settings(head + message + b"\x80", b"\x40\x01settings", width=width)
        return _film(_unit(head, message, width=width), settings=settings, kind=b"hvc1", entry=2)

    assert stripped(made(_PRIVATE), media.MP4) == made(_BLANKED)


def test_messages_in_the_header_of_h264_are_blanked() -> None:
    def made(message: bytes) -> bytes:
        unit = _SEI + message + b"\x80"
        settings = _box(b"avcC", b"\x01\x64\x00\x0a\xff\xe1", struct.pack(">H", len(unit)), unit, b"\x00")
        return _film(_PICTURE, settings=settings)

    assert stripped(made(_PRIVATE), media.MP4) == made(_BLANKED)


@pytest.mark.parametrize(
    "codec_settings",
    [
        _box(b"avcC", b"\x01"),
        _box(b"avcC", b"\x01\x64\x00\x0a\xff\xe1\x00\x09"),
        _box(b"hvcC", bytes(22), b"\x01\x27\x00\x01\x00\x09"),
    ],
)
def test_settings_that_are_cut_off_are_refused(codec_settings: bytes) -> None:
    assert refusal(_film(_PICTURE, settings=codec_settings), media.MP4) is stripping.Malformed


def test_more_units_than_any_film_has_are_refused() -> None:
    assert refusal(_film(b"\x00" * 4 * 4_000_001), media.MP4) is stripping.TooManyParts


def test_a_film_that_is_cut_off_or_changed_anywhere_is_taken_or_refused() -> None:
    content = _film(_unit(_SEI, _CAPTION, _PRIVATE) + _PICTURE, settings=_hevc_settings(b"\x4e\x01" + _PRIVATE))
    assert {survives(changed, media.MP4) for changed in mutated(content, rounds=300)} == {True, False}
    assert False in {survives(changed, media.MP4) for changed in cut_off(content)}
