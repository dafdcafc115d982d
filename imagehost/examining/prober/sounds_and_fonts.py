"""Sounds, by PyAV: signature and a test decode. Fonts: signature and table directory. Runs in the confined child.

Profiles accept these, the image host does not. Browsers check the content of a font's tables before they use them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

import av
from av.container import InputContainer
from av.stream import Disposition

from imagehost.examining.prober.errors import Refused, believable
from imagehost.media import FileFacts

_PACKETS = 50  # to look for sound in
_ENOUGH = 3  # packets with sound: random bytes seldom hold so many
_MP3, _OGG, _WAV, _M4A = ("audio/mpeg", "mp3"), ("audio/ogg", "ogg"), ("audio/wav", "wav"), ("audio/mp4", "mov")
"""MIME type, and FFmpeg's name of the container."""
_M4A_BRANDS = frozenset({b"M4A ", b"M4B ", b"mp41", b"mp42", b"isom", b"iso2", b"iso5", b"iso6", b"dash"})

MAX_TABLES = 100
MAX_UNPACKED = 16 * 1024 * 1024  # bytes of all tables together
_SHAPES = (b"\x00\x01\x00\x00", b"OTTO", b"true")
_NEEDED = {b"head", b"maxp", b"cmap"}  # of OpenType's "Required tables"
_HEAD_MAGIC = b"\x5f\x0f\x3c\xf5"  # at byte 12 of `head`
_KNOWN_TAGS = (
    "cmap head hhea hmtx maxp name OS/2 post cvt fpgm glyf loca prep CFF VORG EBDT EBLC gasp hdmx kern LTSH PCLT VDMX "
    "vhea vmtx BASE GDEF GPOS GSUB EBSC JSTF MATH CBDT CBLC COLR CPAL SVG sbix acnt avar bdat bloc bsln cvar fdsc feat "
    "fmtx fvar gvar hsty just lcar mort morx opbd prop trak Zapf Silf Glat Gloc Feat Sill"
).split()  # in the order of WOFF 2.0 §4.1
_TRANSFORMED = {b"glyf", b"loca"}


@dataclass(frozen=True)
class _Table:
    tag: bytes
    offset: int
    length: int
    unpacked: int


def sound(file: BinaryIO, head: bytes) -> FileFacts:
    """Return the facts of a sound, of which some must decode. Raises Refused or one of `errors.BROKEN`."""
    type_ = _of_signature(head)
    if type_ is None:
        raise Refused("no signature of a sound")
    mime, format_ = type_
    file.seek(0)
    with av.open(file, mode="r", format=format_) as container:
        if any(not stream.disposition & Disposition.attached_pic for stream in container.streams.video):
            raise Refused(f"{mime}: a video, not a sound")
        _check_sound(container)
        microseconds: int | None = container.duration
        return FileFacts(mime, duration_ms=believable(microseconds / 1000) if microseconds else None)


def _of_signature(head: bytes) -> tuple[str, str] | None:
    """Return the type by signature. MPEG audio starts with a tag or a frame of layer III (ISO/IEC 11172-3 §2.4.1.3)."""
    if head.startswith(b"OggS\0"):
        return _OGG
    if head.startswith(b"RIFF") and head[8:12] == b"WAVE":
        return _WAV
    if head[4:8] == b"ftyp":
        return _M4A if head[8:12] in _M4A_BRANDS else None
    if head.startswith(b"ID3"):
        return _MP3
    is_frame = len(head) > 2 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2 and head[2] & 0xF0 not in (0, 0xF0)
    return _MP3 if is_frame else None


def _check_sound(container: InputContainer) -> None:
    """Refuse a file unless most of its first packets of sound decode; a short sound may have one."""
    if not container.streams.audio:
        raise Refused("no sound in it")
    stream = container.streams.audio[0]
    stream.codec_context.thread_count = 1  # a child may not start threads
    sounding = broken = 0
    for number, packet in enumerate(container.demux(stream)):
        if sounding >= _ENOUGH or number >= _PACKETS:
            break
        try:
            sounding += any(frame.samples for frame in packet.decode())
        except av.InvalidDataError:
            broken += 1
    if not sounding or broken > sounding:
        raise Refused(f"{sounding} packets of sound can be decoded, {broken} cannot")


def font(content: bytes) -> FileFacts:
    """Return the facts of a font. Raises Refused, struct.error, zlib.error."""
    signature = content[:4]
    if signature == b"wOFF":
        _check_woff(content)
        return FileFacts("font/woff")
    if signature == b"wOF2":
        _check_woff2(content)
        return FileFacts("font/woff2")
    if signature in _SHAPES:
        records = _records(struct.unpack_from(">H", content, 4)[0], start=12, length=16)
        entries = (struct.unpack_from(">4sIII", content, at) for at in records)
        _check_tables((_Table(tag, offset, length, length) for tag, _, offset, length in entries), 12, content)
        return FileFacts("font/otf" if signature == b"OTTO" else "font/ttf")
    raise Refused("no signature of a font")


def _check_woff(content: bytes) -> None:
    """Check a WOFF file (WOFF 1.0 §3 to §5). Raises Refused."""
    flavor, length, count, _, unpacked = struct.unpack_from(">4sIHHI", content, 4)
    if flavor not in _SHAPES or length != len(content) or unpacked > MAX_UNPACKED:
        raise Refused("an inconsistent WOFF header")
    tables = []
    for at in _records(count, start=44, length=20):
        tag, offset, packed, original, _ = struct.unpack_from(">4sIIII", content, at)
        if packed > original:
            raise Refused("a WOFF table that is larger when packed")
        tables.append(_Table(tag, offset, packed, original))
    _check_tables(tables, 44, content)


def _check_woff2(content: bytes) -> None:
    """Check a WOFF2 file (WOFF 2.0 §4 to §5), whose tables are one Brotli stream that stays packed. Raises Refused."""
    flavor, length, count, _, unpacked, packed = struct.unpack_from(">4sIHHII", content, 4)
    if flavor not in _SHAPES or length != len(content) or not 0 < unpacked <= MAX_UNPACKED:
        raise Refused("an inconsistent WOFF2 header")
    if not 0 < count <= MAX_TABLES:
        raise Refused(f"a font with {count} tables")
    at, total, tags = 48, 0, set()
    for _ in range(count):
        flags, at = content[at], at + 1
        tag = _KNOWN_TAGS[flags & 63].encode().ljust(4) if flags & 63 != 63 else content[at : at + 4]
        at += 4 if flags & 63 == 63 else 0
        original, at = _base128(content, at)
        version = flags >> 6
        if version != (3 if tag in _TRANSFORMED else 0):
            original, at = _base128(content, at)
        tags.add(tag)
        total += original
    if not tags >= _NEEDED or total > MAX_UNPACKED or packed == 0 or at + packed > len(content):
        raise Refused("an inconsistent WOFF2 directory")


def _records(count: int, *, start: int, length: int) -> range:
    """Return the positions of a directory's entries."""
    if not 0 < count <= MAX_TABLES:
        raise Refused(f"a font with {count} tables")
    return range(start, start + count * length, length)


def _check_tables(tables: Iterable[_Table], start: int, content: bytes) -> None:
    """Check the tables, whose data is from `start` on, and the mark in `head`."""
    found = {table.tag: table for table in tables}
    for tag, table in found.items():
        if not all(0x20 <= byte < 0x7F for byte in tag):
            raise Refused("a table without a name")
        if table.offset < start or table.offset + table.length > len(content):
            raise Refused("a table outside of the file")
    if not found.keys() >= _NEEDED or sum(table.unpacked for table in found.values()) > MAX_UNPACKED:
        raise Refused("a font without its required tables, or too large")
    head = found[b"head"]
    data = content[head.offset : head.offset + head.length]
    if head.length < head.unpacked:
        data = zlib.decompressobj().decompress(data, 64)
    if data[12:16] != _HEAD_MAGIC:
        raise Refused("an invalid head table")


def _base128(content: bytes, at: int) -> tuple[int, int]:
    """Return a UIntBase128 (WOFF 2.0 §4.1), and the position after it."""
    value = 0
    for place in range(5):
        byte = content[at + place]
        if place == 0 and byte == 0x80:
            break
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            return value, at + place + 1
    raise Refused("an invalid length")
