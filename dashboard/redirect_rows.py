"""The rows of the redirect URL editor: for each what is wrong with it, and what is worth knowing. Pure rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from oidc_provider.applications import redirects

_LOCALHOST = (
    "Some systems reach localhost by another address than 127.0.0.1, and its port must match exactly. For an app on "
    "the person's own device register http://127.0.0.1 instead: there any port matches."
)


@dataclass(frozen=True)
class RedirectRow:
    """`problem` refuses the row; `advice` does not. Both are sentences, empty where there is nothing to say."""

    number: int
    url: str
    problem: str = ""
    advice: str = ""

    @property
    def length(self) -> int:
        return len(self.url)


def rows_of(urls: Sequence[str]) -> list[RedirectRow]:
    """One row for each of `urls`, which may be empty: an empty row is no mistake."""
    return [_row(number, urls) for number, _ in enumerate(urls, start=1)]


def blank(rows: Sequence[RedirectRow]) -> list[RedirectRow]:
    """`rows`, and empty ones up to as many as an app may have."""
    numbers = range(len(rows) + 1, redirects.MAX_URLS + 1)
    return [*rows, *(RedirectRow(number, "") for number in numbers)]


def twins(urls: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of `urls` that differ by a slash at the end alone: without it, with it."""
    known = set(urls)
    return [(url, f"{url}/") for url in urls if f"{url}/" in known]


def _row(number: int, urls: Sequence[str]) -> RedirectRow:
    url = urls[number - 1]
    if not url:
        return RedirectRow(number, url)
    problem = redirects.problem_of(url) or _repeated(number, urls)
    return RedirectRow(number, url, problem, "" if problem else _advice(url, urls))


def _repeated(number: int, urls: Sequence[str]) -> str:
    first = urls.index(urls[number - 1]) + 1
    return f"This URL stands in row {first} already; remove one of the two." if first < number else ""


def _advice(url: str, urls: Sequence[str]) -> str:
    twin = url[:-1] if url.endswith("/") else f"{url}/"
    if twin in urls:
        return f"{twin} is in the list too. They are two different URLs; keep the one that your app really sends."
    return _LOCALHOST if urlsplit(url).hostname == "localhost" else ""
