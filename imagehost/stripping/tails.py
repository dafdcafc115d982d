"""What lies behind the end of a picture or film: it is cut off, and the file taken, unless it is a file in disguise.

Cameras, phones and editors leave previews, notes and remains of longer files there. Readers of ZIP look from the end of
a file on, readers of PDF and HTML for a mark within it: `zip_directory` and this module refuse what they would open.
"""

from imagehost.stripping.errors import ForeignBytes
from imagehost.stripping.reading import LARGEST_READ, Source

_SIGNATURES = (
    b"#!/", b"#! /", b"mz\x90\x00", b"pk\x03\x04", b"rar!\x1a\x07", b"7z\xbc\xaf\x27\x1c", b"\x1f\x8b\x08",
    b"\xfd7zxz\x00", b"\x28\xb5\x2f\xfd", b"mscf\x00\x00\x00\x00", b"!<arch>\n", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf", b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe",
    b"asm\x01\x00\x00\x00", b"dex\n", b"{\\rtf", b"<?xml", b"<%@", b"<%=", b"<!--", b"<a ", b"<b>", b"<p>", b"<h1",
    b"<br", b"<div", b"<font", b"<table",
)  # fmt: skip
"""At the first byte that is no padding (of WebAssembly the second), in lower case: scripts, programs, archives,
documents, and the shorter tags by which browsers know HTML (WHATWG MIME Sniffing §7.1)."""
_MARKS = (
    b"<!doctype html", b"<html", b"<head>", b"<body", b"<script", b"<style", b"<title", b"<iframe", b"<img ", b"<svg ",
    b"<svg>", b"<?php", b"%pdf-1.", b"%pdf-2.", b"pe\x00\x00\x4c\x01", b"pe\x00\x00\x64\x86", b"pk\x03\x04\x0a\x00",
    b"pk\x03\x04\x14\x00", b"\x7felf\x01\x01\x01", b"\x7felf\x02\x01\x01", b"1ay&sy", b"ustar\x0000", b"ustar  \x00",
)  # fmt: skip
"""Anywhere, in lower case: longer than what noise is likely to hold."""
_OVERLAP = max(map(len, _MARKS)) - 1


def check(source: Source, end: int) -> None:
    """ForeignBytes where the bytes from `end` on are markup, a script, an archive or a program."""
    start = source.after_padding(end)
    if source.read(start, 16).lower().startswith(_SIGNATURES):
        raise ForeignBytes(f"another file behind the end, at byte {start}")
    for position in range(start, source.size, LARGEST_READ - _OVERLAP):
        chunk = source.read(position, LARGEST_READ).lower()
        for mark in _MARKS:
            if mark in chunk:
                raise ForeignBytes(f"{mark!r} behind the end, at byte {position + chunk.index(mark)}")
