"""The rows of redirect URLs while they are typed, and why a URL did not match."""

from __future__ import annotations

import pytest

from dashboard.client_apps import redirect_editor
from tests.dashboard.client_apps.test_registration import fill, send
from tests.support.browser import Browser

URL = "https://app.example/callback"
CHECK = "/dashboard/apps/check-redirects/"


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("https://*.app.example/", "Wildcards (*) are not allowed"),
        ("http://app.example/", "Use https; plain http is allowed for the hosts 127.0.0.1 and localhost only."),
        ("app.example/callback", "Write the whole URL, beginning with https://."),
        (URL, "This URL is in row 1 already; remove one of the two."),
    ],
)
def test_a_row_says_which_rule_and_how_to_mend_it(url: str, problem: str) -> None:
    first, second = redirect_editor.rows_of([URL, url])
    assert first.problem == ""
    assert problem in second.problem


@pytest.mark.parametrize(
    ("urls", "advice"),
    [
        ([URL, f"{URL}/"], [f"{URL}/ is in the list too.", f"{URL} is in the list too."]),
        (["http://localhost:3000/cb"], ["register http://127.0.0.1 instead"]),
        (["http://127.0.0.1/cb"], [""]),
        ([URL, "https://app.example/other"], ["", ""]),
        (["", URL], ["", ""]),
    ],
)
def test_advice_refuses_nothing(urls: list[str], advice: list[str]) -> None:
    rows = redirect_editor.rows_of(urls)
    assert [row.problem for row in rows] == [""] * len(urls)
    for row, expected in zip(rows, advice, strict=True):
        assert expected in row.advice
        assert bool(row.advice) == bool(expected)


@pytest.mark.django_db
def test_the_page_puts_the_message_at_its_row_and_so_does_the_check(browser: Browser) -> None:
    send(browser, fill(browser, redirect_urls=[URL, "", "http://app.example/"]))
    row = browser.page.get_element_by_id("redirect-2")
    assert (row.get("value"), row.get("aria-invalid")) == ("http://app.example/", "true")
    described = [browser.page.get_element_by_id(name).text_content() for name in row.get("aria-describedby").split()]
    assert described[0] == "19 of 250 characters"
    assert described[1].startswith("Use https")
    assert browser.page.get_element_by_id("redirect-1").get("aria-invalid") is None
    assert "2 of 10 in use" in browser.text
    token = browser.form("ticket").fields["csrfmiddlewaretoken"]
    urls = [URL, "", "http://app.example/", " "]
    answer = browser.client.post(CHECK, {"csrfmiddlewaretoken": token, "redirect_urls": urls})
    rows = redirect_editor.rows_of([url.strip() for url in urls])
    assert answer.json() == {"rows": [{"problem": row.problem, "advice": row.advice} for row in rows]}


CALLBACK = "https://app.example/callback"


@pytest.mark.parametrize(
    ("sent", "registered", "position", "reason"),
    [
        ("https://app.example/callback/", CALLBACK, 28, "The sent URL ends with a slash"),
        ("https://app.example/callback", f"{CALLBACK}/", 28, "The registered URL ends with a slash"),
        ("https://app.example/Callback", CALLBACK, 20, "They differ in upper and lower case"),
        ("https://APP.example/callback", CALLBACK, 8, "They differ in upper and lower case"),
        ("http://app.example/callback", CALLBACK, 4, "The scheme differs: http was sent, https is registered."),
        ("https://app.example:443/callback", CALLBACK, 19, "443 is the default port, but a port that is spelt out"),
        (
            "https://app.example:8443/callback",
            CALLBACK,
            19,
            "The port differs: port 8443 was sent, no port is registered.",
        ),
        (
            "https://app.example/callback?next=1",
            CALLBACK,
            28,
            "A query (?next=1) was sent; the registered URL has none.",
        ),
        (f"{CALLBACK}?tenant=2", f"{CALLBACK}?tenant=1", 36, "The query differs: ?tenant=2 was sent, ?tenant=1"),
        (f"{CALLBACK}#top", CALLBACK, 28, "A fragment (everything from # on) was sent"),
        ("https%3A%2F%2Fapp.example%2Fcallback", CALLBACK, 5, "percent-encoded once too often"),
        ("https://app.example/a%2fb", "https://app.example/a%2Fb", 23, "percent-encoded in different ways"),
        ("https://www.app.example/callback", CALLBACK, 8, "The host differs: www.app.example was sent, app.example"),
        ("http://localhost/cb", "http://127.0.0.1/cb", 7, "localhost was sent, 127.0.0.1 is registered."),
        ("http://127.0.0.1:9/cb", "http://localhost:9/cb", 7, "127.0.0.1 was sent, localhost is registered."),
        ("http://localhost:3001/cb", "http://localhost:3000/cb", 20, "For localhost the port must match"),
        (
            "https://me@app.example/callback",
            CALLBACK,
            8,
            "The URL that was sent has a user name or password before the host",
        ),
        ("com.example.app:/done", "com.example.app:/callback", 17, "The path differs: /done was sent, /callback is"),
        ("https://[oops/callback", CALLBACK, 8, "They are two different URLs."),
        ("http://127.0.0.1:99999/cb", "http://127.0.0.1/cb", 16, "The port must be between 1 and 65535."),
    ],
)
def test_the_first_reason_names_what_differs(sent: str, registered: str, position: int, reason: str) -> None:
    difference = redirect_editor.explain(sent, [registered])
    assert difference is not None
    assert (difference.position, difference.same) == (position, sent[:position])
    assert any(reason in sentence for sentence in difference.reasons), difference.reasons


def test_no_port_is_blamed_where_any_port_matches() -> None:
    difference = redirect_editor.explain("http://127.0.0.1:9000/other", ["http://127.0.0.1:1/cb"])
    assert difference is not None
    assert difference.registered == "http://127.0.0.1:9000/cb"
    assert not any("port" in sentence for sentence in difference.reasons)


def test_the_nearest_registered_url_is_the_one_compared() -> None:
    far, near = "com.example.app:/callback", "https://app.example/callback"
    difference = redirect_editor.explain("https://app.example/calback", [far, near])
    assert difference is not None
    assert difference.registered == near
    assert (difference.sent_from_there, difference.registered_from_there) == (("b", "ack"), ("l", "back"))


@pytest.mark.parametrize(
    ("sent", "registered"), [(CALLBACK, CALLBACK), ("http://127.0.0.1:51004/cb", "http://127.0.0.1/cb")]
)
def test_what_matches_has_no_difference(sent: str, registered: str) -> None:
    assert redirect_editor.explain(sent, [registered]) is None


def test_what_could_never_be_registered_says_so_too() -> None:
    difference = redirect_editor.explain("http://app.example/callback", [CALLBACK])
    assert difference is not None
    assert difference.reasons[-1].startswith("This URL could not be registered as it is. Use https")


@pytest.mark.parametrize(
    ("pasted", "sent"),
    [
        (f"  {CALLBACK}\n", CALLBACK),
        (
            "https://id.example/api/auth/oauth2/authorize?client_id=1&redirect_uri=https%3A%2F%2Fapp.example%2Fcb&state=2",
            "https://app.example/cb",
        ),
        ("https://id.example/api/auth/oauth2/authorize?client_id=1", None),
        ("https://[oops", "https://[oops"),
        (f"{CALLBACK}?redirect_uri=https://other.example/", None),
    ],
)
def test_the_url_is_taken_from_a_pasted_request(pasted: str, sent: str | None) -> None:
    assert redirect_editor.sent_url(pasted) == (pasted if sent is None else sent)
