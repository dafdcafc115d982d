"""Fonts: signature and table directory. Runs in the confined child.

Profiles accept fonts, the image host does not. Browsers check the content of tables before they use them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from imagehost.examining.prober.errors import Refused
from imagehost.media import FileFacts

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


def facts(content: bytes) -> FileFacts:
    """Return the facts of a font. Raises Refused, struct.error, zlib.error."""
    signature = content[:4]
    if signature == b"wOFF":
        _check_woff(content)
        return FileFacts("font/woff")
    if signature == b"wOF2":
        _check_woff2(content)
        return FileFacts("font/woff2")
    if signature in _SHAPES:
        _check_head(_sane(_plain_tables(content), 12, len(content)), content)
        return FileFacts("font/otf" if signature == b"OTTO" else "font/ttf")
    raise Refused("no signature of a font")


def _plain_tables(content: bytes) -> Iterator[_Table]:
    for at in _records(struct.unpack_from(">H", content, 4)[0], start=12, length=16):
        tag, _, offset, length = struct.unpack_from(">4sIII", content, at)
        yield _Table(tag, offset, length, length)


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
    _check_head(_sane(iter(tables), 44, len(content)), content)


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


def _sane(tables: Iterator[_Table], start: int, end: int) -> dict[bytes, _Table]:
    found = {table.tag: table for table in tables}
    for tag, table in found.items():
        if not all(0x20 <= byte < 0x7F for byte in tag):
            raise Refused("a table without a name")
        if table.offset < start or table.offset + table.length > end:
            raise Refused("a table outside of the file")
    if not found.keys() >= _NEEDED or sum(table.unpacked for table in found.values()) > MAX_UNPACKED:
        raise Refused("a font without its required tables, or too large")
    return found


def _check_head(tables: dict[bytes, _Table], content: bytes) -> None:
    head = tables[b"head"]
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
