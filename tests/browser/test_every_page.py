"""Every page in Chromium: accessibility, layout, print, the admin, and errors beside their fields."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import people
from tests.browser.axe import problems_of
from tests.browser.chromium import scrolls_sideways
from tests.browser.crawl import Crawl
from tests.browser.people import OPERATOR, STRANGER, USER, Site, at_a_browser

pytestmark = pytest.mark.live


# What each of them sees and the one before does not.
@pytest.mark.parametrize(
    ("who", "walk"), [(STRANGER, {"whole": "docs"}), (USER, {}), (OPERATOR, {"only": "dashboard/staff/"})]
)
def test_every_page_is_for_everybody(chrome: Browser, site: Site, who: str, walk: dict[str, str]) -> None:
    problems: dict[str, list[str]] = {}
    with at_a_browser(chrome, site) as page:
        if who != STRANGER:
            people.sign_in(page, site.account(who))
        for path in Crawl(page, site.base_url, **walk):
            if found := problems_of(page):
                problems[path] = found
    assert problems == {}


PAGES = (
    "/admin/",
    "/admin/accounts/",
    "/admin/accounts/user/",
    "/admin/accounts/user/add/",
    "/admin/accounts/apikey/add/",
    "/admin/accounts/auditevent/export/",
    "/admin/imagehost/file/",
    "/admin/imagehost/folder/add/",
    "/admin/presence/lastonline/live/",
)
LISTS = ("/admin/accounts/user/", "/admin/lookup/badge/")  # the form of the first row of each


def test_pages_of_the_admin_have_no_accessibility_errors(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        people.sign_in(page, site.account(OPERATOR))
        paths = [*PAGES, *(_first_row(page, path) for path in LISTS)]
        problems = {path: found for path in paths if (found := _opened(page, path))}
    assert problems == {}


def _first_row(page: Page, path: str) -> str:
    page.goto(path)
    href = page.locator("#result_list tbody th a").first.get_attribute("href")
    assert href is not None
    return href


def _opened(page: Page, path: str) -> list[str]:
    answer = page.goto(path)
    assert answer is not None, path
    assert answer.status == 200, path
    return problems_of(page)


MOST = 0.01  # of the window; a page that is painted before all of its bytes have come is not counted as moving
SHIFTS = """() => new Promise((done) => {
    let sum = 0;
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) sum += entry.value; })
        .observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => setTimeout(() => done(sum), 300));
})"""
SLOW = {"offline": False, "latency": 80, "downloadThroughput": 200_000, "uploadThroughput": 100_000}
PUBLIC = (
    "/",
    "/docs",
    "/docs/sign-in",
    "/docs/sign-in/buttons",
    "/docs/lookup/user",
    "/docs/quickstarts/lookup",
    "/ada",
    "/ada/share",
    "/accounts/login/",
    "/accounts/signup/",
    "/accounts/signup/passkey/",
)
OWN = (
    "/dashboard/",
    "/dashboard/profile/",
    "/dashboard/profile/links/",
    "/dashboard/profile/links/add/",
    "/dashboard/profile/media/",
    "/dashboard/profile/theme/",
    "/dashboard/profile/appearance/",
    "/dashboard/imagehost/",
    "/dashboard/imagehost/rules/",
    "/dashboard/apps/new/",
    "/dashboard/api-keys/",
    "/accounts/2fa/",
)
STAFF = (
    "/dashboard/staff/",
    "/dashboard/staff/reports/",
    "/dashboard/staff/reports/1/",
    "/dashboard/staff/appeals/1/",
    "/dashboard/staff/people/",
    "/dashboard/staff/files/",
)


@pytest.mark.parametrize("is_narrow", [False, True], ids=["wide", "narrow"])
@pytest.mark.parametrize("paths", [PUBLIC, OWN, STAFF], ids=["visitor", "user", "staff"])
def test_nothing_moves_on_a_slow_connection(
    chrome: Browser, site: Site, paths: tuple[str, ...], is_narrow: bool
) -> None:
    moved = {}
    with at_a_browser(chrome, site, is_narrow=is_narrow) as page:
        if paths is not PUBLIC:
            people.sign_in(page, site.account(USER if paths is OWN else OPERATOR))
        tools = page.context.new_cdp_session(page)
        tools.send("Network.enable")
        tools.send("Network.setCacheDisabled", {"cacheDisabled": True})
        tools.send("Network.emulateNetworkConditions", SLOW)
        for path in paths:
            page.goto(path)
            moved[path] = page.evaluate(SHIFTS)
    most = {"/dashboard/imagehost/": 0.001, "/dashboard/imagehost/rules/": 0.001}
    assert {path: sum_ for path, sum_ in moved.items() if sum_ > most.get(path, MOST)} == {}


HEADER = 72  # pixels that the header of a phone is lower than


@pytest.mark.parametrize("width", [320, 390])
@pytest.mark.parametrize("who", [STRANGER, USER])
def test_the_header_of_a_phone_is_one_row(chrome: Browser, site: Site, who: str, width: int) -> None:
    paths = ["/", "/docs", "/ada", "/accounts/login/"]
    with at_a_browser(chrome, site, is_narrow=True) as page:
        if who == USER:
            people.sign_in(page, site.account(who))
            paths = ["/", "/docs", "/ada", "/dashboard/", "/dashboard/profile/"]
        page.set_viewport_size({"width": width, "height": 844})
        for path in paths:
            page.goto(path)
            header = page.locator(".site-header").bounding_box()
            assert header is not None
            assert header["height"] < HEADER, path
            links = page.locator(".site-header").get_by_role("link").all() + page.locator(".site-menu > summary").all()
            boxes = [box for link in links if (box := link.bounding_box())]
            assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes), path
            assert not scrolls_sideways(page), path


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_the_menu_of_a_phone_has_the_dashboard_and_the_account(chrome: Browser, site: Site, scripts: bool) -> None:
    with at_a_browser(chrome, site, is_narrow=True, scripts=scripts) as page:
        people.sign_in(page, site.account(USER))
        before = page.locator("main").bounding_box()
        menu = page.locator(".site-menu > summary")
        menu.press("Enter")
        expect(page.get_by_role("navigation", name="Dashboard menu")).to_be_visible()
        expect(page.get_by_role("navigation", name="Account menu").get_by_role("link", name="ada")).to_be_visible()
        assert page.locator("main").bounding_box() == before, "nothing moves"
        assert problems_of(page, scripts=scripts) == []
        page.get_by_role("navigation", name="Dashboard menu").get_by_role("link", name="API keys").click()
        page.wait_for_url("**/dashboard/api-keys/")
        page.goto("/ada")
        menu.click()
        expect(
            page.get_by_role("navigation", name="Account menu").get_by_role("link", name="Dashboard")
        ).to_be_visible()
        assert problems_of(page, scripts=scripts) == []
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("link", name="Sign in", exact=True)).to_be_visible()


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_no_sample_of_the_landing_page_is_cut(chrome: Browser, site: Site, width: int) -> None:
    cut = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
    with at_a_browser(chrome, site) as page:
        page.set_viewport_size({"width": width, "height": 844})
        page.goto("/")
        assert page.locator("pre").count() == 3
        assert page.eval_on_selector_all("pre", cut) == []
        assert not scrolls_sideways(page)
        assert problems_of(page) == []


# What is left of a page that the printer would show: its visible controls and navigation.
CONTROLS = "nav:visible, form:visible, button:visible, .button:visible, .skip-link:visible, footer:visible"


@pytest.mark.parametrize("path", ["/docs/lookup/user", "/ada"])
def test_a_printed_page_is_light_and_holds_its_text_alone(chrome: Browser, site: Site, path: str) -> None:
    scheme = "(element) => getComputedStyle(element).colorScheme"
    with at_a_browser(chrome, site) as page:
        page.emulate_media(media="print", color_scheme="dark")
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert page.locator(CONTROLS).all_inner_texts() == []
        expect(page.locator("body")).to_have_css("background-image", "none")
        assert set(page.locator("html").evaluate(scheme).split()) == {"only", "light"}


def test_a_printed_link_says_where_it_leads_and_a_page_of_the_documentation_where_it_is(
    chrome: Browser, site: Site
) -> None:
    written = "(element) => getComputedStyle(element, '::after').content"
    with at_a_browser(chrome, site) as page:
        page.emulate_media(media="print")
        page.goto("/ada")
        link = page.locator("a.link-card").first
        assert f'"{link.get_attribute("title")}"' in link.evaluate(written)
        page.goto("/docs/sign-in/client-libraries")
        assert page.locator('.prose a[href^="/"]').first.evaluate(written) == "none"
        expect(page.get_by_text(f"{site.base_url}/docs/sign-in/client-libraries", exact=True)).to_be_visible()


CARD = (".identity-card", ".identity-card .initial", ".identity-card__name > span")


def test_a_profile_in_hebrew_is_laid_out_from_the_right(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        person = people.sign_up(page, site)
        page.goto("/dashboard/profile/")
        page.get_by_label("Display name").fill("\u05d3\u05e0\u05d4 \u05dc\u05d5\u05d9")
        page.get_by_role("button", name="Save", exact=False).first.click()
        page.goto(f"/{person.username}")
        card, *shown = (page.locator(selector).first.bounding_box() for selector in CARD)
        assert card is not None
        ends = [box["x"] + box["width"] for box in shown if box is not None]
        assert [card["x"] + card["width"] - 48 < end for end in ends] == [True, True]
        assert problems_of(page) == []


def test_a_required_field_loses_its_error_when_it_is_filled(chrome: Browser, site: Site) -> None:
    with at_a_browser(chrome, site) as page:
        page.goto("/accounts/signup/")
        page.locator("main form").first.evaluate("form => { form.noValidate = true }")
        page.locator("input[name=username]").fill("a b")
        page.locator("input[name=password1]").fill("long enough 9")
        page.get_by_role("button", name="Sign up", exact=True).click()
        required = page.get_by_text("This field is required.")
        expect(required).to_have_count(1)

        page.locator("input[name=email]").press_sequentially("ada@example.org")
        expect(required).to_have_count(0)
        expect(page.locator("input[name=email]")).not_to_have_attribute("aria-invalid", "true")
        page.locator("input[name=username]").press_sequentially("c")
        expect(page.locator("input[name=username]")).to_have_attribute("aria-invalid", "true")
