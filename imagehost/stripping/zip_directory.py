"""ZIP archives that hide at the end of a file, in a part that the format allows there.

Readers of ZIP look for the directory from the end of a file on, so that anything may stand before an archive.
"""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

from imagehost.stripping.errors import ForeignBytes

_END = struct.Struct("<4s4H2LH")  # APPNOTE §4.3.16: end of central directory record
_SIGNATURE = b"PK\x05\x06"
_MAX_COMMENT = 0xFFFF
_LOCATOR, _LOCATOR_SIGNATURE = 20, b"PK\x06\x07"  # of the record of a Zip64 archive (§4.3.15), right before the other


def refuse(file: BinaryIO) -> None:
    """ForeignBytes where a record stands at the end that a ZIP reader would follow. Reads 64 KiB."""
    size = file.seek(0, os.SEEK_END)
    start = max(size - _END.size - _MAX_COMMENT, 0)
    file.seek(start)
    tail = file.read(size - start)
    at = tail.rfind(_SIGNATURE)
    while at >= 0:
        if _leads_to_a_directory(tail, at, start):
            raise ForeignBytes(f"the end of a ZIP archive at byte {start + at}")
        at = tail.rfind(_SIGNATURE, 0, at)


def _leads_to_a_directory(tail: bytes, at: int, start: int) -> bool:
    """Whether the directory that the record names would fit before it. Pixels that look like a record hardly ever do.

    `start`: of the tail, in the file.
    """
    if len(tail) < at + _END.size:
        return False
    _, _, _, _, entries, length, offset, _ = _END.unpack_from(tail, at)
    if tail[max(at - _LOCATOR, 0) : at].startswith(_LOCATOR_SIGNATURE):
        return True
    return bool(entries) and offset + length <= start + at
