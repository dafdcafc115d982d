"""A crawl over linked pages: some examples of each route of the service."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

from django.urls import Resolver404, resolve
from playwright.sync_api import Error, Page

STARTS = (
    "/",
    "/search?q=ad",
    "/search?q=a-name-that-no-one-has",
    "/dashboard/",
    "/docs",
    "/accounts/login/",
    "/accounts/signup/",
)
# Files, not pages; the admin, whose pages are Django's; and what ends the walk.
NOT_PAGES = ("/media/", "/static/", "/uploads/", "/api/", "/admin/", "/.well-known/", "/accounts/logout/", "/apps/")
FILES = (".md", ".json", ".yaml", ".txt", ".csv", ".zip", ".png", ".svg", ".sxcu", ".sh", ".webp")
EXAMPLES = 2  # of each route


class Crawl:
    """Iterate to open page after page; yields the path of each page of the service, without files."""

    def __init__(self, page: Page, base_url: str, *, whole: str = "-", only: str = "") -> None:
        """`whole`: routes of which every page is opened. `only`: no other routes."""
        self._page, self._host = page, urlsplit(base_url).netloc
        self._whole, self._only = whole, only
        starts = [f"/{only}"] if only else STARTS
        self._waiting = deque(starts)
        self._known = set(starts)
        self._seen: Counter[str] = Counter()

    def __iter__(self) -> Iterator[str]:
        while self._waiting:
            path = self._waiting.popleft()
            route = _route_of(path)
            if route is None or not route.startswith(self._only):
                continue
            if self._seen[route] >= EXAMPLES and not route.startswith(self._whole):
                continue
            self._seen[route] += 1
            if self._open(path):
                yield path
                self._follow()

    def _open(self, path: str) -> bool:
        """Whether it is a page and not a file."""
        try:
            answer = self._page.goto(path)
        except Error as error:
            if "Download is starting" in error.message:
                return False
            raise
        assert answer is not None, path
        assert answer.status < 400, f"{path}: {answer.status}"
        return answer.headers.get("content-type", "").startswith("text/html")

    def _follow(self) -> None:
        here = self._page.url
        for href in self._page.eval_on_selector_all("a[href]", "links => links.map(link => link.getAttribute('href'))"):
            parts = urlsplit(urljoin(here, href))
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            if parts.netloc == self._host and path not in self._known and _is_page(parts.path):
                self._known.add(path)
                self._waiting.append(path)


def _is_page(path: str) -> bool:
    return not path.startswith(NOT_PAGES) and not path.endswith(FILES)


def _route_of(path: str) -> str | None:
    """Return the pattern of the path, or None if there is none or it leads out of the service."""
    try:
        match = resolve(path.partition("?")[0])
    except Resolver404:
        return None
    return None if match.url_name == "profile_link" else match.route
