"""The browser and the system that a User-Agent header names."""

from __future__ import annotations

import pytest

from accounts.templatetags import account_pages

pytestmark = pytest.mark.once

WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
NAMES = {
    "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0": "Firefox 130 on Linux",
    f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Safari/537.36": "Chrome 129 on Windows",
    f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Safari/537.36 Edg/129.0.2792.65": "Edge 129 on Windows",
    f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) {WEBKIT} Safari/537.36 OPR/114.0.0.0": "Opera 114 on macOS",
    f"Mozilla/5.0 (Linux; Android 10; K) {WEBKIT} Mobile Safari/537.36": "Chrome 129 on Android",
    f"{IPHONE} Version/17.6 Mobile/15E148 Safari/604.1": "Safari 17 on iOS",
    f"{IPHONE} CriOS/129.0.6668.46 Mobile/15E148 Safari/604.1": "Chrome 129 on iOS",
    f"{IPHONE} FxiOS/130.0 Mobile/15E148 Safari/605.1.15": "Firefox 130 on iOS",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Safari/605.1"
    ".15": "Safari 17 on macOS",
    "curl/8.5.0": "curl/8.5.0",
    "Mozilla/5.0 (Linux; U; Unheard of)": "Unknown browser on Linux",
    "Mozilla/4.0": "Unknown browser",
    "x" * 200: "x" * 40,
    " ": "Unknown browser",
    "": "Unknown browser",
}


@pytest.mark.parametrize(("user_agent", "name"), NAMES.items(), ids=range(len(NAMES)))
def test_a_browser_is_named_in_words(user_agent: str, name: str) -> None:
    assert account_pages.browser_name(user_agent) == name
