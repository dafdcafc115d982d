"""The parts that files are made of, written by hand where no encoder writes what is wanted."""

import struct
import zlib
from collections.abc import Iterator

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def patched(content: bytes, mark: bytes, at: int, new: bytes) -> bytes:
    """`new` in place of the bytes that are `at` bytes behind the start of the first `mark`."""
    start = content.index(mark) + at
    return content[:start] + new + content[start + len(new) :]


def png_chunk(kind: bytes, body: bytes = b"") -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_header(width: int, height: int, *, depth: int = 8, color: int = 2) -> bytes:
    return PNG_SIGNATURE + png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0))


def png(*chunks: bytes, width: int = 4, height: int = 4) -> bytes:
    """A whole black PNG, with `chunks` before its image data."""
    pixels = png_chunk(b"IDAT", zlib.compress((b"\0" + bytes(3 * width)) * height))
    return png_header(width, height) + b"".join(chunks) + pixels + png_chunk(b"IEND")


def box(kind: bytes, *bodies: bytes, size: int | None = None) -> bytes:
    """A box of ISO/IEC 14496-12; `size` where it lies about its own."""
    body = b"".join(bodies)
    return struct.pack(">I", 8 + len(body) if size is None else size) + kind + body


def ftyp(major: bytes, *compatible: bytes) -> bytes:
    return box(b"ftyp", major, struct.pack(">I", 512), *compatible)


def boxes(content: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Where each outer box starts, its kind, and its length."""
    at = 0
    while at + 8 <= len(content):
        size, kind = struct.unpack_from(">I4s", content, at)
        if size == 1:
            size = struct.unpack_from(">Q", content, at + 8)[0]
        size = size or len(content) - at
        yield at, kind, size
        at += size


def box_of(content: bytes, wanted: bytes) -> tuple[int, int]:
    """Start and end of the outer box of that kind."""
    return next((at, at + size) for at, kind, size in boxes(content) if kind == wanted)


def ebml(identity: int, body: bytes = b"", *, size: bytes | None = None) -> bytes:
    """An EBML element (RFC 8794), its length in eight bytes; `size` where it lies about that."""
    name = identity.to_bytes((identity.bit_length() + 7) // 8, "big")
    return name + (size if size is not None else (1 << 56 | len(body)).to_bytes(8, "big")) + body


def ebml_header(doc_type: bytes) -> bytes:
    numbers = ((0x4286, 1), (0x42F7, 1), (0x42F2, 4), (0x42F3, 8), (0x4287, 4), (0x4285, 2))
    fields = [ebml(identity, bytes([number])) for identity, number in numbers]
    return ebml(0x1A45DFA3, b"".join([*fields[:4], ebml(0x4282, doc_type), *fields[4:]]))


def riff(*chunks: tuple[bytes, bytes], size: int | None = None) -> bytes:
    """A WebP container; `size` where it lies about its own."""
    body = b"WEBP" + b"".join(
        kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2) for kind, data in chunks
    )
    return b"RIFF" + struct.pack("<I", len(body) if size is None else size) + body


def jpeg_segment(marker: int, body: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body
