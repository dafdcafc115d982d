"""The menu and the tabs. Each feature declares its entries in its `__init__`; `templatetags` makes links of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from django.urls import reverse

from accounts.models import User


@dataclass(frozen=True)
class Entry:
    """`name`: of the URL. `below`: which pages below it belong to it, by how their paths go on; None: none of them.

    `permissions`: the entry is shown to staff with any of them; empty: to everyone. `count(reader)`: how many rows wait
    there.
    """

    name: str
    text: str
    below: str | None = ""
    permissions: tuple[str, ...] = ()
    count: Callable[[User], int] | None = None


@dataclass(frozen=True)
class Link:
    """`current`: for `aria-current`: "page" on the page itself, "true" on one that belongs to it, else empty."""

    url: str
    text: str
    current: str
    waiting: int = 0


def link(entry: Entry, path: str, reader: User | None = None, /, **kwargs: str) -> Link:
    """Return the link as the page at `path` shows it, to `reader` with what waits; `kwargs`: the arguments of the
    URL."""
    url = reverse(entry.name, kwargs=kwargs) if kwargs else _url(entry.name)
    belongs = entry.below is not None and path.startswith(f"{url}{entry.below}")
    current = "page" if path == url else "true" if belongs else ""
    return Link(url, entry.text, current, entry.count(reader) if entry.count and reader else 0)


@functools.cache
def _url(name: str) -> str:
    """Return a URL without arguments: reversing the twenty of the menu for each page takes longer than writing it."""
    return reverse(name)
