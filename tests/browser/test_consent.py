"""A sign-in from an app of another site in a real browser."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from html import escape
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.browser import people
from tests.browser.axe import THEMES, violations
from tests.browser.chromium import WIDE, scrolls_sideways
from tests.browser.people import USER, Site

pytestmark = pytest.mark.live
APP = "https://app.example"  # a redirect URL of the demo app is here; Playwright answers for it


@contextlib.contextmanager
def _signed_in(chrome: Browser, site: Site) -> Iterator[BrowserContext]:
    """A browser with the signed-in demo user, and a page APP with a form that posts to authorize."""
    context = chrome.new_context(base_url=site.base_url)
    context.set_default_timeout(20_000)
    context.route(f"{APP}/**", lambda route: _answer(route, site))
    try:
        people.sign_in(context.new_page(), site.account(USER))
        yield context
    finally:
        context.close()


def _fields(site: Site, prompt: str) -> dict[str, str]:
    return {
        "client_id": site.demo["app"]["client_id"],
        "redirect_uri": f"{APP}/callback",
        "response_type": "code",
        "scope": "openid",
        "state": "a state",
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        "code_challenge_method": "S256",
        "prompt": prompt,
    }


def _answer(route: Route, site: Site) -> None:
    fields = _fields(site, urlsplit(route.request.url).query)
    inputs = "".join(f'<input name="{name}" value="{escape(value)}">' for name, value in fields.items())
    form = f'<form method="post" action="{site.base_url}/api/auth/oauth2/authorize">{inputs}<button>Go</button></form>'
    route.fulfill(content_type="text/html", body=form)


def _asks(context: BrowserContext, prompt: str) -> Page:
    """Open a page of the app whose button posts the request."""
    page = context.new_page()
    page.goto(f"{APP}/start?{prompt}")
    return page


@contextlib.contextmanager
def _leads_back(page: Page) -> Iterator[None]:
    """Expect a redirect to the app with a code inside; the app's URL does not answer."""
    with page.expect_request(f"{APP}/callback?*") as request:
        yield
    assert parse_qs(urlsplit(request.value.url).query).keys() == {"code", "state", "iss"}


def test_a_person_is_recognized_although_the_app_posts_and_stays_signed_in(chrome: Browser, site: Site) -> None:
    with _signed_in(chrome, site) as context:
        page = _asks(context, "consent")
        page.get_by_role("button", name="Go").click()
        allow = page.get_by_role("button", name="Allow")
        expect(allow).not_to_have_attribute("aria-disabled", "true")  # it is for half a second after the focus
        with _leads_back(page):
            allow.click()

        page = _asks(context, "none")
        with _leads_back(page):
            page.get_by_role("button", name="Go").click()

        page = _asks(context, "select_account")
        page.get_by_role("button", name="Go").click()
        go_on = page.get_by_role("button", name=f"Continue as {site.account(USER)['username']}")
        expect(go_on).to_be_visible()
        path = page.url
        with _leads_back(page):
            go_on.click()

        page = context.new_page()
        page.goto(path)
        expect(page.get_by_role("heading", name="Already answered")).to_be_visible()


def _ask_for_all(page: Page, site: Site) -> None:
    """The question with every scope, of an app that staff have not verified."""
    scope = "openid identify email connections offline_access"
    fields = {**_fields(site, "consent"), "scope": scope}
    page.goto(f"/api/auth/oauth2/authorize?{urlencode(fields)}")
    expect(page.locator(".permissions > li")).to_have_count(5)


def test_the_whole_question_fits_into_a_window(chrome: Browser, site: Site) -> None:
    with _signed_in(chrome, site) as context:
        page = context.new_page()
        page.set_viewport_size(WIDE)
        _ask_for_all(page, site)
        expect(page.get_by_text("This app is not verified,")).to_be_visible()
        expect(page.get_by_role("button", name="Allow")).to_be_in_viewport(ratio=1)
        expect(page.locator(".permissions dl").first).to_be_visible()


def _top_of_answer(page: Page) -> float:
    box = page.locator(".consent__answer").bounding_box()
    assert box
    return box["y"]


def test_on_a_phone_the_answers_and_every_scope_are_in_view(chrome: Browser, site: Site) -> None:
    with _signed_in(chrome, site) as context:
        page = context.new_page()
        page.set_viewport_size({"width": 390, "height": 844})
        _ask_for_all(page, site)
        for name in ("Cancel", "Allow"):
            expect(page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
        for label in page.locator(".permissions__label").all():
            box = label.bounding_box()
            assert box
            assert box["y"] + box["height"] < _top_of_answer(page)
        expect(page.locator(".permissions dl").first).to_be_hidden()
        page.get_by_text("that it gets: Email address").locator("..").click()
        expect(page.get_by_text("ada@demo.example")).to_be_visible()
        for scheme in THEMES:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            assert violations(page) == []


def test_the_answers_hide_nothing_that_has_the_focus(chrome: Browser, site: Site) -> None:
    with _signed_in(chrome, site) as context:
        for width, height in ((640, 450), (320, 640), (320, 256)):  # 200 %, narrow, 400 %
            page = context.new_page()
            page.set_viewport_size({"width": width, "height": height})
            _ask_for_all(page, site)
            _walk_by_keyboard(page)


def _walk_by_keyboard(page: Page) -> None:
    seen = []
    for _ in range(20):
        page.keyboard.press("Tab")
        focus = page.evaluate(
            """() => {
                const one = document.activeElement, bar = document.querySelector(".consent__answer");
                if (one === document.body) return ["", true]; // behind the last one
                const box = one.getBoundingClientRect(), place = bar.getBoundingClientRect();
                const isFree = bar.contains(one) || box.bottom <= place.top || box.top >= place.bottom;
                return [one.textContent.trim(), isFree && box.bottom <= innerHeight + 1];
            }"""
        )
        seen.append(focus)
    assert [text for text, is_seen in seen if not is_seen] == []
    assert "Allow" in [text for text, _ in seen]
    assert not scrolls_sideways(page)
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    last = page.locator(".limits li").last.bounding_box()
    assert last
    assert last["y"] + last["height"] <= _top_of_answer(page) + 1
