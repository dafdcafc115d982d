"""The headers of a request, put right before Django or a pattern of ours reads them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

LONGEST = 65_536  # characters of one value; nginx passes 8 KiB on as it comes
LONGEST_TYPE = 1000  # of `Content-Type` and `Accept`, whose parameters the standard library parses in quadratic time
_TYPES = {"CONTENT_TYPE", "HTTP_ACCEPT"}
_OF_BODIES = {b"content-type", b"content-length", b"transfer-encoding", b"expect"}


def clean(environ: dict[str, Any]) -> None:
    """Take out of a WSGI environ what nothing may read: headers that are too long, which count as absent, and a charset
    in the content type.

    Bodies and queries are UTF-8, and Django would decode by any codec of Python that a caller names, before any of our
    code runs; so would it parameters in RFC 2231's extended form (`name*=`), which name one, too.
    """
    for name in [name for name, value in environ.items() if value.__class__ is str and len(value) > LONGEST_TYPE]:
        if name in _TYPES or (name.startswith("HTTP_") and len(environ[name]) > LONGEST):
            del environ[name]
    if "CONTENT_TYPE" in environ:
        environ["CONTENT_TYPE"] = _without_charset(environ["CONTENT_TYPE"])


def without_body(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers of an ASGI scope that Django may read: no long ones, none of a body, and none with an
    underscore, since Django reads `X_A` as `X-A`."""
    named = [(name, value, name.lower()) for name, value in headers if b"_" not in name]
    return [
        (name, value)
        for name, value, lower in named
        if lower not in _OF_BODIES and len(value) <= (LONGEST_TYPE if lower == b"accept" else LONGEST)
    ]


def _without_charset(content_type: str) -> str:
    if "charset" not in content_type.lower() and "*" not in content_type:
        return content_type
    return ";".join(
        part for part in content_type.split(";") if "charset" not in part.lower() and "*" not in part.partition("=")[0]
    )
