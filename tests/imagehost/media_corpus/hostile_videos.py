"""Videos that show nothing, would cost too much, or lie about themselves. All are refused."""

import struct

from tests.imagehost.media_corpus.pieces import box, box_of, ebml, ebml_header, ftyp, without_box
from tests.imagehost.media_corpus.real_videos import MOV, MP4, WEBM, recorded
from tests.imagehost.media_corpus.sample import Content

_SEGMENT, _TRACKS = 0x18538067, 0x1654AE6B
_MP4 = ftyp(b"isom", b"isom", b"mp42")


def _resized(content: bytes, kind: bytes, size: int) -> bytes:
    """The outer box of that kind says another length."""
    start, _ = box_of(content, kind)
    return content[:start] + struct.pack(">I", size) + content[start + 4 :]


def _overwritten(content: bytes, kind: bytes) -> bytes:
    """The body of the outer box of that kind becomes zeros."""
    start, end = box_of(content, kind)
    return content[: start + 8] + bytes(end - start - 8) + content[end:]


def _replaced(content: bytes, old: bytes, new: bytes) -> bytes:
    assert content.count(old) >= 1
    return content.replace(old, new)


def _with_sample_count(content: bytes, count: int) -> bytes:
    """A table of sample sizes that says another number of entries."""
    at = content.index(b"stsz") + 12
    return content[:at] + struct.pack(">I", count) + content[at + 4 :]


def _deep_boxes(depth: int) -> bytes:
    inner = b""
    for _ in range(depth):
        inner = box(b"moov", inner)
    return _MP4 + inner


def _moov_alone() -> bytes:
    content = recorded(MP4)
    start, end = box_of(content, b"moov")
    return _MP4 + content[start:end]


def _webm_of(*segment: bytes, size: bytes | None = None) -> bytes:
    return ebml_header(b"webm") + ebml(_SEGMENT, b"".join(segment), size=size)


def _track(width: int, height: int) -> bytes:
    video = ebml(0xE0, ebml(0xB0, width.to_bytes(4, "big")) + ebml(0xBA, height.to_bytes(4, "big")))
    return ebml(_TRACKS, ebml(0xAE, ebml(0xD7, b"\1") + ebml(0x83, b"\1") + ebml(0x86, b"V_VP8") + video))


def _webm_of_frame_size(width: int, height: int) -> bytes:
    """Key frames that say another size than the track does (RFC 6386 §9.1)."""
    said = b"\x9d\x01\x2a" + struct.pack("<HH", width, height)
    return _replaced(recorded(WEBM), b"\x9d\x01\x2a" + struct.pack("<HH", *WEBM.size), said)


def _webm_cut_before_clusters() -> bytes:
    content = recorded(WEBM)
    return content[: content.index(b"\x1f\x43\xb6\x75")]


REFUSED: dict[str, Content] = {
    # nothing to see
    "mp4-brand-alone": lambda: _MP4,
    "mp4-without-moov": lambda: without_box(recorded(MP4), b"moov"),
    "mp4-without-mdat": _moov_alone,
    "mp4-with-empty-moov": lambda: _MP4 + box(b"moov") + box(b"mdat", bytes(100)),
    "mp4-frames-of-zeros": lambda: _overwritten(recorded(MP4), b"mdat"),
    "mp4-moov-of-zeros": lambda: _overwritten(recorded(MP4), b"moov"),
    "mp4-unknown-codec": lambda: _replaced(recorded(MP4), b"avc1\0", b"zzzz\0"),
    "mov-without-moov": lambda: without_box(recorded(MOV), b"moov"),
    "mov-mdat-alone": lambda: box(b"mdat", bytes(1000)),
    "webm-header-alone": lambda: ebml_header(b"webm"),
    "webm-empty-segment": _webm_of,
    "webm-track-without-frames": lambda: _webm_of(_track(96, 64)),
    "webm-cut-before-clusters": _webm_cut_before_clusters,
    "webm-0x0": lambda: _webm_of_frame_size(0, 0),
    # bombs
    "webm-bomb": lambda: _webm_of_frame_size(16_383, 16_383),
    "webm-bomb-by-track": lambda: _webm_of(_track(2**31 - 1, 2**31 - 1)),
    "mp4-sample-count-bomb": lambda: _with_sample_count(recorded(MP4), 2**32 - 1),
    "mp4-nested-boxes": lambda: _deep_boxes(2000),
    # lies about lengths
    "mp4-box-of-four-bytes": lambda: _resized(recorded(MP4), b"moov", 4),
    "mp4-box-beyond-end": lambda: _resized(recorded(MP4), b"moov", 2**31),
    "mp4-box-of-long-lie": lambda: _MP4 + box(b"moov", struct.pack(">Q", 2**62), bytes(64), size=1),
    # lies about the type
    "webm-doc-type-webmx": lambda: _replaced(recorded(WEBM), b"\x42\x82\x84webm", b"\x42\x82\x84webx"),
}
