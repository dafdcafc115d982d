"""Sounds by real encoders, and fonts put together by hand."""

from __future__ import annotations

import functools
import io
import struct
import zlib
from typing import cast

import av
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream

RATE = 48_000
SAMPLES = 1024
SOUNDS = {  # by name: container, codec, and what comes of it
    "mp3": ("mp3", "libmp3lame", "audio/mpeg", "mp3"),
    "ogg": ("ogg", "libopus", "audio/ogg", "ogg"),
    "wav": ("wav", "pcm_s16le", "audio/wav", "wav"),
    "m4a": ("ipod", "aac", "audio/mp4", "m4a"),
    "sound in mp4": ("mp4", "aac", "audio/mp4", "m4a"),
}
HEAD = bytes(12) + b"\x5f\x0f\x3c\xf5" + bytes(38)
TABLES = {b"cmap": bytes(16), b"head": HEAD, b"maxp": bytes(6)}


@functools.cache
def sound(name: str) -> bytes:
    """A second of silence."""
    container, codec, _, _ = SOUNDS[name]
    content = io.BytesIO()
    with av.open(content, "w", format=container) as output:
        stream = cast("AudioStream", output.add_stream(codec, rate=RATE))
        stream.layout = "mono"
        resampler = av.AudioResampler(format=stream.codec_context.format, layout="mono", rate=RATE)
        for number in range(RATE // SAMPLES):
            for frame in resampler.resample(_silence(number)):
                output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return content.getvalue()


def _silence(number: int) -> AudioFrame:
    frame = AudioFrame(format="s16", layout="mono", samples=SAMPLES)
    frame.rate, frame.pts = RATE, number * SAMPLES
    frame.planes[0].update(bytes(frame.planes[0].buffer_size))
    return frame


def plain_font(tables: dict[bytes, bytes] = TABLES, *, flavor: bytes = b"\0\1\0\0") -> bytes:
    """TrueType, or with another flavor OpenType."""
    offset = 12 + 16 * len(tables)
    directory = body = b""
    for tag, content in tables.items():
        directory += struct.pack(">4sIII", tag, 0, offset + len(body), len(content))
        body += content.ljust(-(-len(content) // 4) * 4, b"\0")
    return flavor + struct.pack(">HHHH", len(tables), 0, 0, 0) + directory + body


def woff(tables: dict[bytes, bytes] = TABLES, *, length: int | None = None) -> bytes:
    """WOFF 1.0, each table packed where that makes it shorter."""
    offset = 44 + 20 * len(tables)
    directory = body = b""
    for tag, content in tables.items():
        packed = min(zlib.compress(content), content, key=len)
        directory += struct.pack(">4sIIII", tag, offset + len(body), len(packed), len(content), 0)
        body += packed
    whole = 44 + len(directory) + len(body)
    head = struct.pack(
        ">4s4sIHHIHHIIIII", b"wOFF", b"\0\1\0\0", length or whole, len(tables), 0, 1000, 1, 0, 0, 0, 0, 0, 0
    )
    return head + directory + body


def woff2(*, unpacked: int = 1000, packed: int = 8) -> bytes:
    """WOFF 2.0: cmap, head and maxp, as known tags without transformation."""
    directory = b"".join(bytes([tag, len(content)]) for tag, content in enumerate((bytes(16), HEAD)))
    directory += bytes([4, 6])
    body = b"\x8b" * 8
    length = 48 + len(directory) + len(body)
    head = struct.pack(">4s4sIHHIIHHIIIII", b"wOF2", b"\0\1\0\0", length, 3, 0, unpacked, packed, 1, 0, 0, 0, 0, 0, 0)
    return head + directory + body
