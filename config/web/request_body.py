"""The body of a request: how many large ones are read at once, and that nothing is left when the answer goes out.

A thread that reads a large body waits for its client, so large bodies take at most half of a process's threads.

A server that answers while the client still sends closes the connection; the client then sees a broken pipe, or a reset
at its next request, in place of the answer (RFC 9112 §9.6).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings

from accounts.plans import LARGEST_BODY, MEGABYTE
from infrastructure.once import once

CHUNK = 65_536  # bytes
LARGE = 65_536  # bytes; a larger body is an upload
PAGE_BODY = 4 * MEGABYTE
"""Bytes of a form: Django takes 2.5 MiB of text, the logo of an app has 1 MiB. `deploy/nginx.conf` says the same."""
UPLOAD_PAGES = ("/dashboard/imagehost/upload/", "/dashboard/profile/")
"""Where these paths begin, the view checks who sends a form and how large it is, before anything reads it."""
HAS_NO_PLACE = "config.has_no_place"  # set in the environ of a request with a large body where as many are read already


@once
def _places() -> threading.BoundedSemaphore:
    """Return the places of this process for large bodies. Servers import this module before there are settings."""
    return threading.BoundedSemaphore(max(settings.WEB_THREADS // 2, 1))


def is_too_large_for_its_page(environ: Mapping[str, Any]) -> bool:
    """Return whether the announced length is too large for the page. Django reads no body without one."""
    length = environ.get("CONTENT_LENGTH") or ""
    is_larger = length.isascii() and length.isdigit() and int(length[:20]) > PAGE_BODY
    return is_larger and not environ["PATH_INFO"].startswith(UPLOAD_PAGES)


@contextlib.contextmanager
def place(environ: dict[str, Any]) -> Iterator[None]:
    """Hold a place for a large body while its request is served; set `HAS_NO_PLACE` where there is none."""
    if _places().acquire(blocking=False):
        try:
            yield
        finally:
            _places().release()
    else:
        environ[HAS_NO_PLACE] = True
        yield


class RequestBody:
    """Replaces `wsgi.input`, and can read what Django left of it. `environ`: WSGI's.

    A client that announces more than LARGEST_BODY has the connection closed.
    """

    def __init__(self, environ: dict[str, Any]) -> None:
        self._stream = environ["wsgi.input"]
        announced = environ.get("CONTENT_LENGTH", "")
        self._left = int(announced) if announced.isascii() and announced.isdigit() else LARGEST_BODY
        self._is_untouched = True
        self._waits_for_a_word = environ.get("HTTP_EXPECT", "").lower() == "100-continue"

    def read(self, size: int = -1) -> bytes:
        return self._count(self._stream.read(size))

    def readline(self, size: int = -1) -> bytes:
        return self._count(self._stream.readline(size))

    def drain(self) -> None:
        """Read and discard the rest; not where the client waits for 100 Continue (RFC 9110 §10.1.1)."""
        if self._left > LARGEST_BODY or (self._is_untouched and self._waits_for_a_word):
            return
        with contextlib.suppress(OSError):  # the client has gone, and waits for no answer
            while self._left > 0 and self.read(min(CHUNK, self._left)):
                pass

    def _count(self, data: bytes) -> bytes:
        self._is_untouched = False
        self._left -= len(data)
        return data
