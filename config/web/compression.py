"""JSON compressed by gzip, for responses of Django and answers of `config.web.lane` alike."""

from __future__ import annotations

import functools
import gzip
import re
from collections.abc import Mapping, MutableMapping

SMALLEST_JSON = 4096  # bytes of a body that is worth the work
LEVEL = 1  # a quarter of the time of the usual level, and an eighth more bytes
KEPT_LENGTHS = range(2**16, 2**20)  # of bodies, such as leaderboards, that are likely to be sent again
MOST_KEPT = 6

_NAMES_GZIP = re.compile(r"\bgzip\b", re.IGNORECASE)
_REFUSES_GZIP = re.compile(r"\bgzip\s*;\s*q=0(\.0*)?\s*(,|$)", re.IGNORECASE)  # RFC 9110 §12.5.3


def is_accepted(accept_encoding: str) -> bool:
    """Whether a request with this header takes gzip."""
    return bool(_NAMES_GZIP.search(accept_encoding)) and not _REFUSES_GZIP.search(accept_encoding)


def holds_secret(headers: Mapping[str, str], path: str) -> bool:
    """Whether the compressed length of a response would give a secret away (BREACH).

    `no-store` marks those with a secret, a form's token among them. Under /api/ every answer to a key has it, and none
    that is long enough to be compressed holds a secret; those of the protocol do.
    """
    is_api = path.lower().startswith("/api/") and not path.lower().startswith("/api/auth/")
    return "no-store" in headers.get("Cache-Control", "") and not is_api


def json_body(headers: MutableMapping[str, str], body: bytes, accept_encoding: str) -> bytes:
    """The body to send for a body of JSON, with what `headers` then have to say."""
    if len(body) < SMALLEST_JSON or "Content-Encoding" in headers:
        return body
    vary = headers.get("Vary")
    headers["Vary"] = f"{vary}, Accept-Encoding" if vary else "Accept-Encoding"
    if not is_accepted(accept_encoding):
        return body
    compressed = _kept(body) if len(body) in KEPT_LENGTHS else _compressed(body)
    headers["Content-Encoding"], headers["Content-Length"] = "gzip", str(len(compressed))
    if (etag := headers.get("ETag", "")).startswith('"'):
        headers["ETag"] = f"W/{etag}"
    return compressed


def _compressed(body: bytes) -> bytes:
    return gzip.compress(body, LEVEL, mtime=0)


_kept = functools.lru_cache(maxsize=MOST_KEPT)(_compressed)
