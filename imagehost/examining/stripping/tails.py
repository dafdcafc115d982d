"""Bytes after the end of a picture or video: they are cut off, or the file is refused if they are another file.

Cameras, phones and editors leave previews, notes and remains of longer files there. ZIP readers search from the end of
a file, readers of PDF and HTML for a mark within it: this module refuses files that these would open.
"""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

from imagehost.examining.stripping.rewriting import LARGEST_READ, ForeignBytes, Source

_SIGNATURES = (
    b"#!/", b"#! /", b"mz\x90\x00", b"pk\x03\x04", b"rar!\x1a\x07", b"7z\xbc\xaf\x27\x1c", b"\x1f\x8b\x08",
    b"\xfd7zxz\x00", b"\x28\xb5\x2f\xfd", b"mscf\x00\x00\x00\x00", b"!<arch>\n", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf", b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe",
    b"asm\x01\x00\x00\x00", b"dex\n", b"{\\rtf", b"<?xml", b"<%@", b"<%=", b"<!--", b"<a ", b"<b>", b"<p>", b"<h1",
    b"<br", b"<div", b"<font", b"<table",
)  # fmt: skip
"""At the first byte after padding (of WebAssembly the second), in lower case: scripts, programs, archives,
documents, and the shorter tags by which browsers recognize HTML (WHATWG MIME Sniffing §7.1)."""
_MARKS = (
    b"<!doctype html", b"<html", b"<head>", b"<body", b"<script", b"<style", b"<title", b"<iframe", b"<img ", b"<svg ",
    b"<svg>", b"<?php", b"%pdf-1.", b"%pdf-2.", b"pe\x00\x00\x4c\x01", b"pe\x00\x00\x64\x86", b"pk\x03\x04\x0a\x00",
    b"pk\x03\x04\x14\x00", b"\x7felf\x01\x01\x01", b"\x7felf\x02\x01\x01", b"1ay&sy", b"ustar\x0000", b"ustar  \x00",
)  # fmt: skip
"""Anywhere, in lower case: too long to occur by chance."""
_OVERLAP = max(map(len, _MARKS)) - 1

_END = struct.Struct("<4s4H2LH")  # APPNOTE §4.3.16: end of central directory record
_END_SIGNATURE = b"PK\x05\x06"
_MAX_COMMENT = 0xFFFF
_LOCATOR, _LOCATOR_SIGNATURE = 20, b"PK\x06\x07"  # of a Zip64 archive's record (§4.3.15), directly before the other


def check(source: Source, start: int, end: int | None = None, *, slack: int = 0) -> None:
    """Raise ForeignBytes if the bytes from `start` to `end` are markup, a script, an archive or a program.

    `slack`: they may begin that many bytes earlier.
    """
    for possible in range(start - slack, start + 1):
        position = source.after_padding(possible)
        if source.read(position, 16).lower().startswith(_SIGNATURES):
            raise ForeignBytes(f"another file after the end, at byte {position}")
    check_marks(source, source.after_padding(start - slack), source.size if end is None else end)


def check_marks(source: Source, start: int, end: int) -> None:
    """Raise ForeignBytes if a mark of another file is between `start` and `end`."""
    for position in range(start, end, LARGEST_READ - _OVERLAP):
        chunk = source.read(position, min(LARGEST_READ, end - position)).lower()
        for mark in _MARKS:
            if mark in chunk:
                raise ForeignBytes(f"{mark!r} after the end, at byte {position + chunk.index(mark)}")


def refuse_archive(file: BinaryIO) -> None:
    """Raise ForeignBytes if a ZIP reader would accept a record at the end. Reads 64 KiB."""
    size = file.seek(0, os.SEEK_END)
    start = max(size - _END.size - _MAX_COMMENT, 0)
    file.seek(start)
    tail = file.read(size - start)
    at = tail.rfind(_END_SIGNATURE)
    while at >= 0:
        if len(tail) >= at + _END.size:
            _, _, _, _, entries, length, offset, _ = _END.unpack_from(tail, at)
            # The record's directory fits before it, which random bytes hardly ever do.
            is_record = bool(entries) and offset + length <= start + at
            if is_record or tail[max(at - _LOCATOR, 0) : at].startswith(_LOCATOR_SIGNATURE):
                raise ForeignBytes(f"the end of a ZIP archive at byte {start + at}")
        at = tail.rfind(_END_SIGNATURE, 0, at)
