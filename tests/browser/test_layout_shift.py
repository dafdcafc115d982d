"""Nothing on a page moves after its first paint, though its scripts and pictures come later."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.browser import people
from tests.browser.people import USER, Site, at_a_browser

pytestmark = pytest.mark.live

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
)
OWN = (
    "/dashboard/",
    "/dashboard/profile/",
    "/dashboard/profile/links/",
    "/dashboard/profile/appearance/",
    "/dashboard/imagehost/",
    "/dashboard/imagehost/rules/",
    "/dashboard/apps/new/",
    "/dashboard/api-keys/",
    "/accounts/2fa/",
)


@pytest.mark.parametrize("is_narrow", [False, True], ids=["wide", "narrow"])
@pytest.mark.parametrize("paths", [PUBLIC, OWN], ids=["visitor", "user"])
def test_nothing_moves_on_a_slow_connection(
    chrome: Browser, site: Site, paths: tuple[str, ...], is_narrow: bool
) -> None:
    moved = {}
    with at_a_browser(chrome, site, is_narrow=is_narrow) as page:
        if paths is OWN:
            people.sign_in(page, site.account(USER))
        tools = page.context.new_cdp_session(page)
        tools.send("Network.enable")
        tools.send("Network.setCacheDisabled", {"cacheDisabled": True})
        tools.send("Network.emulateNetworkConditions", SLOW)
        for path in paths:
            page.goto(path)
            moved[path] = page.evaluate(SHIFTS)
    assert {path: sum_ for path, sum_ in moved.items() if sum_ > MOST} == {}
