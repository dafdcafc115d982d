"""The rules for visitors, and their hashes. Each row of robots is a user agent of such a program."""

import pytest

from lookup.visits.visitors import Visitor
from tests.lookup.visiting import BROWSER

SALT, OTHER_SALT = "ab" * 32, "cd" * 32

BROWSERS = [
    BROWSER,
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 "
    "Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Linux; Android 14; CUBOT P80) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile Safari/537",
    "Mozilla/5.0 (Linux; U; Android 9; de) AppleWebKit/537.36 Embedded-Browser/1.0 Chrome/90.0",
    "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/124.0 YaBrowser/24.6 Safari/537.36",
    "Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 Mobile/15E148 [Pinterest/iOS]",
    "Mozilla/5.0 (Linux; Android 13) AppleWebKit/537.36 Chrome/125.0 Mobile Safari/537.36 Telegram-Android/11.0",
    "Lynx/2.9.0 libwww-FM/2.14",
    "Links (2.29; Linux x86_64; text)",
]
ROBOTS = [
    "",
    "   ",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "WhatsApp/2.23.20.0 A",
    "Mozilla/5.0 (Windows NT 6.1) SkypeUriPreview Preview/0.5",
    "http.rb/5.1.1 (Mastodon/4.2.9; +https://social.example/)",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Linux; Android 11) Chrome/126 Mobile Safari/537.36 Chrome-Lighthouse",
    "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
    "kube-probe/1.29",
    "curl/8.5.0",
    "python-httpx/0.27.0",
    "Scrapy/2.11.2 (+https://scrapy.org)",
    "W3C_Validator/1.3",
]


def visitor(method: str = "GET", **headers: str) -> Visitor | None:
    return Visitor.of(method, {"User-Agent": BROWSER} | {k.replace("_", "-"): v for k, v in headers.items()}, "::1")


def test_a_browser_is_a_visitor() -> None:
    for agent in BROWSERS:
        assert visitor(User_Agent=agent) == Visitor("::1", agent)


def test_a_robot_is_none() -> None:
    for agent in ROBOTS:
        assert visitor(User_Agent=agent) is None, agent
        assert visitor(User_Agent=agent.upper()) is None, agent


def test_only_a_get_with_a_user_agent_is_a_visit() -> None:
    assert visitor("HEAD") is visitor("POST") is None
    assert Visitor.of("GET", {}, "::1") is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Sec_Purpose", "prefetch"),
        ("Sec_Purpose", "prefetch;prerender"),
        ("Purpose", "prefetch"),
        ("X_Purpose", "preview"),
        ("X_Moz", "prefetch"),
        ("X_Moz", "PREFETCH"),
    ],
)
def test_a_page_that_is_loaded_ahead_of_time_is_no_visit(name: str, value: str) -> None:
    assert visitor(**{name: value}) is None
    assert visitor(**{name: "none of these"}) is not None


@pytest.mark.parametrize(
    ("headers", "counts"),
    [
        ({"Sec_Fetch_Dest": "document", "Sec_Fetch_Mode": "navigate"}, True),
        ({"Sec_Fetch_Dest": "Document "}, True),
        ({"Sec_Fetch_Mode": "navigate"}, True),
        ({"Sec_Fetch_Dest": "image", "Sec_Fetch_Mode": "no-cors"}, False),
        ({"Sec_Fetch_Dest": "empty", "Sec_Fetch_Mode": "cors"}, False),
        ({"Sec_Fetch_Dest": "iframe", "Sec_Fetch_Mode": "navigate"}, False),
        ({"Sec_Fetch_Dest": "document", "Sec_Fetch_Mode": "no-cors"}, False),
        ({"Sec_Fetch_Dest": "image"}, False),
        ({"Sec_Fetch_Mode": "no-cors"}, False),
        ({"Sec_Fetch_Dest": ""}, False),
    ],
)
def test_only_a_navigation_to_the_document_is_a_visit(headers: dict[str, str], counts: bool) -> None:
    assert (visitor(**headers) is not None) is counts


def test_a_hash_tells_one_visitor_of_one_user_under_one_salt_from_every_other() -> None:
    known = [
        Visitor("192.0.2.1", BROWSER).hashed("ada", SALT),
        Visitor("192.0.2.2", BROWSER).hashed("ada", SALT),
        Visitor("192.0.2.1", BROWSER + " ").hashed("ada", SALT),
        Visitor("192.0.2.1", BROWSER).hashed("ben", SALT),
        Visitor("192.0.2.1", BROWSER).hashed("ada", OTHER_SALT),
    ]
    assert len(set(known)) == 5
    assert all(len(one) == 32 for one in known)
    assert Visitor("192.0.2.1", BROWSER).hashed("ada", SALT) == known[0]
    assert "192.0.2.1" not in known[0]


def test_a_user_agent_of_any_length_and_of_any_bytes_is_hashed() -> None:
    huge = visitor(User_Agent="Mozilla/5.0 " + "x" * 100_000)
    assert huge is not None
    assert len(huge.user_agent) == 1000
    assert len(Visitor("::1", "\udcff\x00é").hashed("ada", SALT)) == 32
