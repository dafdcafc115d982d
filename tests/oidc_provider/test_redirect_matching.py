"""Which redirect URL a request may name, and what the person is told of it: one URL in each line."""

import pytest

from oidc_provider import redirects

WEB = "https://app.example.org/callback"
QUERY = "https://app.example.org/cb?from=login&x=1"
PORT = "https://app.example.org:8443/cb"
LOOPBACK = "http://127.0.0.1/cb"
LOOPBACK_PORT = "http://127.0.0.1:8080/cb"
LOOPBACK_BARE = "http://127.0.0.1"
LOOPBACK_QUERY = "http://127.0.0.1/cb?x=1"
LOCALHOST = "http://localhost:3000/cb"
NATIVE = "com.example.app:/callback"
SECURE_LOOPBACK = "https://127.0.0.1:8443/cb"

MATCHING = [
    (WEB, WEB),
    (QUERY, QUERY),
    (LOCALHOST, LOCALHOST),
    (NATIVE, NATIVE),
    (SECURE_LOOPBACK, SECURE_LOOPBACK),
    (LOOPBACK, LOOPBACK),
    (LOOPBACK, "http://127.0.0.1:1/cb"),
    (LOOPBACK, "http://127.0.0.1:65535/cb"),
    (LOOPBACK_PORT, "http://127.0.0.1/cb"),
    (LOOPBACK_PORT, "http://127.0.0.1:9090/cb"),
    (LOOPBACK_BARE, "http://127.0.0.1:9090"),
    (LOOPBACK_QUERY, "http://127.0.0.1:9090/cb?x=1"),
]

NOT_MATCHING = [
    (WEB, ""),
    (WEB, "https://app.example.org/callback/"),
    (WEB, "https://app.example.org/Callback"),
    (WEB, "https://app.example.org/callback/../callback"),
    (WEB, "https://app.example.org/%63allback"),
    (WEB, "https://app.example.org/callback\x00"),
    (WEB, "HTTPS://app.example.org/callback"),
    (WEB, "http://app.example.org/callback"),
    (WEB, "https://app.example.org./callback"),
    (WEB, "https://app.example.org.evil.example/callback"),
    (QUERY, "https://app.example.org/cb?x=1&from=login"),
    (PORT, "https://app.example.org:8444/cb"),
    (LOCALHOST, "http://localhost/cb"),
    (LOCALHOST, "http://localhost:3001/cb"),
    (LOCALHOST, "http://127.0.0.1:3000/cb"),
    (LOOPBACK, "http://localhost/cb"),
    (LOOPBACK, "http://[::1]/cb"),
    (LOOPBACK, "https://127.0.0.1/cb"),
    (LOOPBACK, "HTTP://127.0.0.1/cb"),
    (LOOPBACK, "http://127.0.0.1:0/cb"),
    (LOOPBACK, "http://127.0.0.1:65536/cb"),
    (LOOPBACK, "http://127.0.0.1:/cb"),
    (LOOPBACK, "http://127.0.0.1:\uff18\uff10/cb"),
    (LOOPBACK, "http://127.0.0.1:80:80/cb"),
    (LOOPBACK, "http://127.0.0.1:8080@evil.example/cb"),
    (LOOPBACK, "http://127.0.0.1.evil.example/cb"),
    (LOOPBACK, "http://127.0.0.1:8080/other"),
    (LOOPBACK, "http://127.0.0.1:8080/cb?x=1"),
    (LOOPBACK_BARE, "http://127.0.0.1:9090/"),
    (NATIVE, "com.example.app://callback"),
    (NATIVE, "COM.example.app:/callback"),
]


@pytest.mark.parametrize(("registered", "asked"), MATCHING)
def test_these_urls_match(registered: str, asked: str) -> None:
    assert redirects.is_registered(asked, [registered])
    assert redirects.is_registered(asked, ["https://other.example/", registered])


@pytest.mark.parametrize(("registered", "asked"), NOT_MATCHING, ids=ascii)
def test_these_urls_do_not_match(registered: str, asked: str) -> None:
    assert not redirects.is_registered(asked, [registered])


def test_nothing_matches_an_empty_list() -> None:
    assert not redirects.is_registered(WEB, [])


@pytest.mark.parametrize(
    ("url", "destination", "form_action"),
    [
        (WEB, ("app.example.org", False), "https://app.example.org https:"),
        (PORT, ("app.example.org:8443", False), "https://app.example.org:8443 https:"),
        ("https://[2001:db8::1]:8443/cb", ("[2001:db8::1]:8443", False), "https://[2001:db8::1]:8443 https:"),
        (LOOPBACK_PORT, ("127.0.0.1:8080", True), "http://127.0.0.1:8080 http://127.0.0.1:* http://localhost:* https:"),
        (LOCALHOST, ("localhost:3000", True), "http://localhost:3000 http://127.0.0.1:* http://localhost:* https:"),
        (NATIVE, ("com.example.app:", True), "com.example.app:"),
    ],
)
def test_the_person_and_the_browser_are_told_where_a_url_leads(
    url: str, destination: tuple[str, bool], form_action: str
) -> None:
    assert redirects.destination(url) == destination
    assert redirects.form_action(url) == form_action
