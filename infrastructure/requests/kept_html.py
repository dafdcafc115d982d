"""HTML that is kept in the memory of a process under the digest of all that it shows.

What was changed has another digest, so nothing is ever deleted here. A digest names neither the release nor its
settings, which another process has: the cache `pages` is never shared. It holds a bounded number of bounded texts.
"""

from __future__ import annotations

import functools
import gzip
import re
from collections.abc import Callable
from hashlib import blake2b

from django.contrib.messages import get_messages
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response, patch_vary_headers

MAX_BYTES = 65_536  # of a text; with MAX_ENTRIES of the cache, the most memory that it takes
LEVEL = 6  # Django's; a page is compressed once

_NAMES_GZIP = re.compile(r"\bgzip\b", re.IGNORECASE)
_REFUSES_GZIP = re.compile(r"\bgzip\s*;\s*q=0(\.0*)?\s*(,|$)", re.IGNORECASE)  # RFC 9110 §12.5.3


def digest(*parts: object) -> str:
    """Return the digest of values whose `repr` says all of them."""
    return blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def find(key: str) -> bytes | None:
    found: bytes | None = caches["pages"].get(key)
    return found


def keep(key: str, text: bytes) -> None:
    """Keep the text, unless it is longer than MAX_BYTES: a long page is rendered for each request."""
    if len(text) <= MAX_BYTES:
        caches["pages"].set(key, text)


def answer(request: HttpRequest, key: str, render: Callable[[], HttpResponse]) -> HttpResponse:
    """Return the page that `render` makes, to a visitor the one that is kept of it, or 304.

    `key`: the digest of all that visitors see on it. A page for one person is not kept: for a signed-in member,
    with a message, or with the token of a form.
    """
    if request.user.is_authenticated or len(get_messages(request)):
        return render()
    body = find(key)
    if body is None:
        page = render()
        if "CSRF_COOKIE_NEEDS_UPDATE" in request.META:
            return page
        body = gzip.compress(page.content, LEVEL, mtime=0)
        keep(key, body)
    etag = f'"{digest(body)}"'
    if accepts_gzip(request.META.get("HTTP_ACCEPT_ENCODING", "")):
        response = HttpResponse(body, headers={"Content-Encoding": "gzip", "ETag": f"W/{etag}"})
    else:
        response = HttpResponse(gzip.decompress(body), headers={"ETag": etag})
    patch_vary_headers(response, ("Accept-Encoding",))
    return get_conditional_response(request, etag=etag, response=response) or response


@functools.lru_cache(maxsize=100)  # clients of one library send the same
def accepts_gzip(accept_encoding: str) -> bool:
    """Return whether a request with this header takes gzip."""
    return bool(_NAMES_GZIP.search(accept_encoding)) and not _REFUSES_GZIP.search(accept_encoding)
