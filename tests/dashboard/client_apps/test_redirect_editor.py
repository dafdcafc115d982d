"""The rows of redirect URLs: what is said to each, on the page and while it is typed."""

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
