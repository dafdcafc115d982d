"""Read links from files of other services: a saved page of links (HTML), or a table of addresses and titles (CSV).

Nothing is fetched, and no code of a page runs. A page is read once from its beginning to its end, however deep its
parts are nested, and at most MAX_ENTRIES links of a file are kept.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import deque
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from lookup.shapes.addresses import with_scheme
from lookup.shapes.strict_fields import Problem
from lookup.transfer.reading import LineRefused

MAX_BYTES = 1024 * 1024
MAX_ENTRIES = 1_000  # links of a page, rows of a table
MAX_CELLS = 20  # of a row
MAX_URL = 2_000  # characters of an address that is looked at
MAX_TEXT = 2_000  # characters that are kept of the text of an anchor
MAX_VALUES = 100_000  # of a page's block of data that are looked through
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_DATA_ID = "__NEXT_DATA__"  # the script block in which pages made with Next.js hold what they show
_LISTS = ("links", "socialLinks")  # in that block
_BLOCKS = frozenset({"br", "dd", "div", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "img", "li", "p", "td"})
_DELIMITERS = ("\t", ";", ",")  # the rarest in addresses and titles first
_ADDRESS_HEADS = frozenset({"address", "href", "link", "uri", "url", "web address", "website"})
_TITLE_HEADS = frozenset({"label", "name", "text", "title"})


class Entry(NamedTuple):
    """A link as the file has it. `place`: where, such as "Row 3"."""

    place: str
    url: str
    title: str


Found = tuple[list[Entry], list[Problem]]  # the links, and what was left out, by place; "" for the whole file


def read(content: bytes) -> Found:
    """Return the links of a file. Raises LineRefused: too large, or a page that is not UTF-8."""
    if len(content) > MAX_BYTES:
        raise LineRefused([("", f"Has more than {MAX_BYTES // 1024 // 1024} MB.")])
    is_page = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        if is_page:
            raise LineRefused([("", "Is not UTF-8 text.")]) from None
        text = content.decode("latin-1")
    return _of_page(text) if is_page else _of_table(text)


def written(entries: list[tuple[str, str]]) -> str:
    """Return a table that `read` reads as these addresses and titles."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("address", "title"), *entries])
    return text.getvalue()


class _Page(HTMLParser):
    """Collect the anchors of a page as addresses and titles, its own hosts, and its block of data."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: list[tuple[str, str]] = []
        self.hosts: set[str] = set()
        self.data: list[str] = []
        self._href: str | None = None  # of the open anchor
        self._label = ""  # of the open anchor, where it has no text
        self._texts: list[str] = []
        self._room = 0  # how many more characters of its text are kept
        self._is_data = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "a":
            self.end_anchor()
            self._href, self._label = given.get("href"), given.get("aria-label") or given.get("title", "")
            self._texts, self._room = [], MAX_TEXT
        elif tag in _BLOCKS:
            self._add_text(f" {given.get('alt', '')} ")
        elif tag == "link" and given.get("rel", "").lower() == "canonical":
            self.hosts.add(_host_of(given.get("href", "")))
        elif tag == "meta" and given.get("property") == "og:url":
            self.hosts.add(_host_of(given.get("content", "")))
        self._is_data = tag == "script" and given.get("id") == _DATA_ID

    def handle_endtag(self, tag: str) -> None:
        self._is_data = False
        if tag == "a":
            self.end_anchor()

    def handle_data(self, data: str) -> None:
        if self._is_data:
            self.data.append(data)
        elif self.cdata_elem is None:  # no style sheet or script
            self._add_text(data)

    def end_anchor(self) -> None:
        """Keep the open anchor, if any. One more than MAX_ENTRIES are kept."""
        if self._href is not None and len(self.anchors) <= MAX_ENTRIES:
            self.anchors.append((self._href, " ".join("".join(self._texts).split()) or self._label))
        self._href = None

    def _add_text(self, text: str) -> None:
        if self._href is not None and self._room > 0:
            self._texts.append(text[: self._room])
            self._room -= len(text)


def _of_page(text: str) -> Found:
    """Return the links that the page's block of data lists, or else its anchors that lead to other hosts."""
    page = _Page()
    notes: list[Problem] = []
    try:
        page.feed(text)  # without close(), which would read the rest of a broken page again and again
    except AssertionError:  # the parser's way to refuse a declaration
        notes.append(("", "Is damaged: only the links before the damage were read."))
    page.end_anchor()
    listed = list(islice(_listed("".join(page.data)), MAX_ENTRIES + 1))
    found, own_hosts = (listed, set[str]()) if listed else (page.anchors, page.hosts - {""})
    entries, within = [], 0
    for number, (href, title) in enumerate(found[:MAX_ENTRIES], 1):
        url = href.strip()
        url = f"https:{url}" if url.startswith("//") else url
        if (not _SCHEME.match(url) and not listed) or _host_of(url) in own_hosts:
            within += 1
        else:
            entries.append(Entry(f"Link {number}", url, title))
    if within:
        notes.append(("", f"{within} {'link' if within == 1 else 'links'} within the saved page itself."))
    return entries, [*notes, *_too_many(found)]


def _host_of(url: str) -> str:
    """Return the host without www, in lower case; empty where there is none."""
    try:
        return (urlsplit(url[:MAX_URL]).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _listed(data: str) -> Iterator[tuple[str, str]]:
    """Yield addresses and titles of the lists in a block of data, of each name the outermost list.

    Titles without an address head a group of links; they are yielded with an empty address.
    """
    try:
        waiting = deque([json.loads(data)])
    except (ValueError, RecursionError):
        return
    missing = list(_LISTS)
    seen = 0
    while waiting and missing and (seen := seen + 1) < MAX_VALUES:
        value = waiting.popleft()
        if not isinstance(value, dict):
            waiting.extend(value if isinstance(value, list) else ())
            continue
        for name in [name for name in missing if _is_list_of_links(value.get(name))]:
            missing.remove(name)
            yield from (
                (_text(one.get("url")), _text(one.get("title"))) for one in value[name] if isinstance(one, dict)
            )
        waiting.extend(value.values())


def _is_list_of_links(value: Any) -> bool:  # any JSON
    return isinstance(value, list) and any(isinstance(one, dict) and _text(one.get("url")) for one in value)


def _text(value: Any) -> str:  # any JSON
    """Return a text without halves of surrogate pairs, which JSON can escape and no database stores."""
    return value.encode(errors="ignore").decode() if isinstance(value, str) else ""


def _of_table(text: str) -> Found:
    """Return the rows of a table, whose columns are found by their names or by what they hold."""
    tables = [_rows(text, delimiter) for delimiter in _DELIMITERS]
    rows, notes = max(tables, key=lambda table: _fit(table[0]))
    address, title = _columns(rows)
    first = 1 if _heads(rows) else 0
    entries = [
        Entry(f"Row {number}", _cell(row, address), _cell(row, title))
        for number, row in enumerate(rows[:MAX_ENTRIES], 1)
        if number > first and any(cell.strip() for cell in row)
    ]
    return entries, notes + _too_many(rows)


def _too_many(found: list[Any]) -> list[Problem]:  # of any entries
    return [("", f"Only the first {MAX_ENTRIES:,} are read.")] if len(found) > MAX_ENTRIES else []


def _rows(text: str, delimiter: str) -> tuple[list[list[str]], list[Problem]]:
    """Return the first cells of the rows, at most one more than MAX_ENTRIES, and a row that cannot be read."""
    rows: list[list[str]] = []
    table = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        rows.extend(row[:MAX_CELLS] for row in islice(table, MAX_ENTRIES + 1))
    except csv.Error:  # a cell that is longer than any address or title
        return rows, [(f"Row {len(rows) + 1}", "Is too long. It was not read, nor were those below it.")]
    return rows, []


def _heads(rows: list[list[str]]) -> dict[str, int]:
    """Return the columns that the first row names. A row with an address names none."""
    found: dict[str, int] = {}
    if not rows or any(map(_is_address, rows[0])):
        return found
    for column, cell in enumerate(rows[0]):
        word = cell.strip().lower()
        for name, words in (("address", _ADDRESS_HEADS), ("title", _TITLE_HEADS)):
            if word in words:
                found.setdefault(name, column)
    return found


def _fit(rows: list[list[str]]) -> tuple[int, int, int]:
    """Return how much like a table of links rows are: named columns, rows with an address, rows of several cells."""
    return (
        len(_heads(rows)),
        sum(any(map(_is_address, row)) for row in rows),
        sum(len(row) > 1 for row in rows),
    )


def _columns(rows: list[list[str]]) -> tuple[int, int]:
    """Return the columns of addresses and of titles. The latter need not exist."""
    heads = _heads(rows)
    counts = [sum(_is_address(_cell(row, column)) for row in rows) for column in range(MAX_CELLS)]
    address = heads.get("address", counts.index(max(counts)))
    return address, heads.get("title", 1 if address == 0 else 0)


def _cell(row: list[str], column: int) -> str:
    return row[column].strip() if column < len(row) else ""


def _is_address(text: str) -> bool:
    text = text.strip()
    return len(text) <= MAX_URL and bool(re.match(r"(?:https?://|mailto:)\S", text, re.I) or with_scheme(text) != text)
