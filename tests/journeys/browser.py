"""A browser without JavaScript over real sockets: opens pages, fills in forms, presses buttons."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self
from urllib.parse import urljoin, urlsplit

import lxml.html
import requests
from lxml.html import FormElement, HtmlElement

MAX_HOPS = 10
TIMEOUT = 15


class Browser:
    """Follows redirects inside the service, and stops at the first to another host without fetching it.

    After each step either `left_for` is the app's URL that the browser was sent to, or it is empty and `response` is
    the current page. Obeys `form-action` of the Content-Security-Policy as strict browsers do: for the
    form's target and for every redirect after it.
    """

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.verify = os.environ.get("REQUESTS_CA_BUNDLE") or True
        self.session.headers.update({"Accept": "text/html,application/xhtml+xml", "User-Agent": "Journey/1.0"})
        self.response = requests.Response()
        self.left_for = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.session.close()

    # --- The contents of the page ---

    @property
    def page(self) -> HtmlElement:
        assert not self.left_for, "The browser has left for the app; no page of the service is open"
        assert self.response.headers["Content-Type"].startswith("text/html"), self.response.headers["Content-Type"]
        return lxml.html.fromstring(self.response.content, base_url=self.response.url)

    @property
    def path(self) -> str:
        return urlsplit(self.response.url).path

    @property
    def text(self) -> str:
        """The text of the page, with single spaces."""
        return _text(self.page)

    @property
    def heading(self) -> str:
        (heading,) = self.page.iter("h1")
        return _text(heading)

    def assets(self) -> list[str]:
        """The absolute URLs of the page's scripts, style sheets, icons and images."""
        places = self.page.xpath("//script/@src | //link/@href | //img/@src")
        return [urljoin(self.response.url, str(place)) for place in places if not str(place).startswith("data:")]

    # --- What a person does ---

    def open(self, url: str) -> Self:
        """Open a URL or a path of the service."""
        self._walk("GET", urljoin(self.base_url, url), {}, policy=None)
        return self

    def follow(self, link: str) -> Self:
        """Click the link with this text."""
        found = [anchor for anchor in self.page.iter("a") if _text(anchor) == link]
        assert len(found) == 1, self._lost(f"{len(found)} links {link!r}")
        return self.open(urljoin(self.response.url, found[0].get("href") or ""))

    def press(self, button: str, **values: str) -> Self:
        """Fill in `values` and press the button with this text, of the one form that has it."""
        form, pressed = self._form_with(button)
        for name, value in values.items():
            assert name in form.fields, self._lost(f"no field {name!r} beside {button!r}")
            assert form.inputs[name].get("type") != "hidden", f"{name} is hidden: users cannot type there"
            form.fields[name] = value
        for field in form.xpath(".//input[@required]"):
            assert form.fields[field.name], f"The browser does not send a form whose field {field.name!r} is empty"
        assert form.method == "POST", f"{button!r} sends a {form.method}"
        data = {name: str(value) for name, value in form.form_values()}
        if pressed.get("name"):
            data[str(pressed.get("name"))] = pressed.get("value") or ""
        target = urljoin(self.response.url, form.get("action") or self.response.url)
        self._walk("POST", target, data, policy=self.response.headers.get("Content-Security-Policy", ""))
        return self

    def _form_with(self, button: str) -> tuple[FormElement, HtmlElement]:
        found = [
            (owner, pressed)
            for pressed in self.page.xpath("//button[not(@type='button')] | //input[@type='submit']")
            if button in (_text(pressed), pressed.get("value"))
            and not pressed.xpath("@disabled | ancestor-or-self::*[@hidden]")
            for owner in self._owners_of(pressed)
        ]
        assert len(found) == 1, self._lost(f"{len(found)} buttons {button!r}")
        return found[0]

    def _owners_of(self, pressed: HtmlElement) -> list[FormElement]:
        """Return the form of a button: the one that its attribute `form` names, or the one around it."""
        if pressed.get("form"):
            return [form for form in pressed.getroottree().iter("form") if form.get("id") == pressed.get("form")]
        return list(pressed.iterancestors("form"))

    def _lost(self, problem: str) -> str:
        return f"{problem} at {self.path} ({self.response.status_code}), which says: {self.text[:1500]}"

    # --- The wire ---

    def _walk(self, method: str, url: str, data: dict[str, str], *, policy: str | None) -> None:
        """`policy`: of the page whose form is sent; None for a typed URL."""
        self.left_for = ""
        for _ in range(MAX_HOPS):
            assert policy is None or _allows(policy, url, self.base_url), (
                f"form-action forbids {_origin(url)}: {policy}"
            )
            if _origin(url) != self.base_url:
                self.left_for = url
                return
            origin = {"Origin": self.base_url, "Referer": self.response.url} if method == "POST" else {}
            response = self.session.request(
                method, url, data=data or None, headers=origin, allow_redirects=False, timeout=TIMEOUT
            )
            if not response.is_redirect:
                self.response = response
                return
            url = urljoin(url, response.headers["Location"])
            if response.status_code not in {307, 308}:
                method, data = "GET", {}
        raise AssertionError(f"More than {MAX_HOPS} redirects, the last to {url}")


def _text(element: HtmlElement) -> str:
    return " ".join(str(element.text_content()).split())


def _origin(url: str) -> str:
    """Return scheme, host and port; for a private-use scheme only the scheme."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in {"http", "https"} else f"{parts.scheme}:"


def _allows(policy: str, url: str, base_url: str) -> bool:
    """Whether `form-action` of `policy` lets a form lead to `url` (CSP Level 3 §6.4.1, as far as origins go)."""
    directives = {name: sources for name, *sources in map(str.split, filter(str.strip, policy.split(";")))}
    sources = directives.get("form-action", ["*"])
    wanted = _origin(url)
    return any(base_url == wanted if source == "'self'" else source in {"*", wanted} for source in sources)
