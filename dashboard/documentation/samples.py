"""One request of a page, written down once, as a program for the shell, in Python and in JavaScript.

A page's block `request` says what is sent, line by line:

    POST /api/imagehost/folders 201
    bearer $API_KEY
    json {"folderName": "Screenshots"}

`$NAME` is read from the environment by the program, `{{ reader.name }}` stays for `reader`. After the path stands the
status of a good answer. Further lines: `header NAME: VALUE`, `query NAME=VALUE`, `form NAME=VALUE` (a form's field),
`part NAME=VALUE` and `file NAME=PATH` (of multipart/form-data), `basic ID:SECRET`, and `shows` with `json` (the
default), `status`, `location` or `lines`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import quote

_PIECES = re.compile(r"(\$[A-Z_]+|\{\{ reader\.\w+ \}\})")


@dataclass
class Request:
    """As the block says; `status`: of the good answer."""

    method: str
    path: str
    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    query: list[tuple[str, str]] = field(default_factory=list)
    form: list[tuple[str, str]] = field(default_factory=list)
    parts: list[tuple[str, str]] = field(default_factory=list)
    files: list[tuple[str, str]] = field(default_factory=list)
    basic: tuple[str, str] | None = None
    json: str = ""
    shows: str = "json"

    @property
    def is_multipart(self) -> bool:
        return bool(self.parts or self.files)


def parse(block: str) -> Request:
    """ValueError: a line that is none of the above."""
    first, *lines = block.strip().splitlines()
    method, _, rest = first.partition(" ")
    path, _, status = rest.rpartition(" ")  # a place for the reader's id has spaces
    request = Request(method, path, int(status))
    for line in lines:
        kind, _, rest = line.partition(" ")
        _read(request, kind, rest)
    return request


def _read(request: Request, kind: str, rest: str) -> None:
    pairs = {"query": request.query, "form": request.form, "part": request.parts, "file": request.files}
    if kind in pairs:
        name, _, value = rest.partition("=")
        pairs[kind].append((name, value))
    elif kind == "header":
        name, _, value = rest.partition(": ")
        request.headers.append((name, value))
    elif kind == "bearer":
        request.headers.append(("Authorization", f"Bearer {rest}"))
    elif kind == "basic":
        name, _, value = rest.partition(":")
        request.basic = (name, value)
    elif kind == "json":
        request.json = rest
    elif kind == "shows":
        request.shows = rest
    else:
        raise ValueError(f"Unknown line of a request: {kind} {rest}")


def is_variable(piece: str) -> bool:
    return piece.startswith("$")


def pieces(text: str) -> list[str]:
    """Literal text, `$NAME` and `{{ reader.name }}`, apart from each other."""
    return [piece for piece in _PIECES.split(text) if piece]


def encoded(text: str) -> str:
    """For a URL's query. What is put in later needs no encoding: ids, names and keys hold letters, digits and ._-"""
    return "".join(piece if _PIECES.fullmatch(piece) else quote(piece, safe="") for piece in pieces(text))


def url_of(request: Request, base_url: str, *, with_query: bool) -> str:
    if not (with_query and request.query):
        return f"{base_url}{request.path}"
    return f"{base_url}{request.path}?{'&'.join(f'{name}={encoded(value)}' for name, value in request.query)}"
