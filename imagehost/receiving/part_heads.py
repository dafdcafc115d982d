"""Heads of a form's parts in another encoding than UTF-8, with which Django would drop their file."""

from __future__ import annotations

from typing import Any

_END = b"\r\n\r\n"
_MOST = 1024 + len(_END)  # bytes, of a head that Django's parser takes
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"


class Utf8Heads:
    """The body of a form, whose heads are UTF-8: replacement characters take the place of other bytes in them.

    Old programs send file names in Latin-1 or Shift-JIS. The content of the parts stays as it is. `has_bare_lines`: a
    head begins with only a line feed. `is_cut_off`: a part has begun, and the form has not ended so far.
    """

    def __init__(self, body: Any, boundary: bytes) -> None:
        self._body = body
        self._separator = b"--" + boundary
        self._held_back = b""  # the beginning of a separator or of a head
        self.has_bare_lines = self.is_cut_off = False

    def read(self, size: int) -> bytes:
        while data := self._body.read(size):
            if ready := self._ready(self._held_back + data):
                return ready
        rest, self._held_back = self._held_back, b""
        return rest

    def _ready(self, data: bytes) -> bytes:
        """Return what can be passed on; the rest is held back."""
        ready, position = [], 0
        while (found := data.find(self._separator, position)) >= 0:
            start = found + len(self._separator)
            self.has_bare_lines |= data.startswith(b"\n", start)
            self.is_cut_off = not data.startswith(b"--", start)
            end = data.find(_END, start, start + _MOST)
            if end < 0 and len(data) - start < _MOST:
                break
            end = max(end, start)  # a head that is too long is left to the parser
            ready += [data[position:start], _in_utf8(data[start:end])]
            position = end
        else:
            found = max(position, len(data) - len(self._separator) + 1)
        self._held_back = data[found:]
        return b"".join([*ready, data[position:found]])


def _in_utf8(head: bytes) -> bytes:
    """Return the head in UTF-8. The second byte of a character in Shift-JIS may be a backslash, which would end a
    folder's name."""
    try:
        head.decode()
    except UnicodeDecodeError:
        return head.decode(errors="replace").replace(f"{_UNKNOWN}\\", _UNKNOWN).encode()
    return head
