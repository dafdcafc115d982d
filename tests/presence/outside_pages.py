"""A person at the pages of the simulated platforms, over real sockets."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import requests
from django.test import Client
from lxml import html

TIMEOUT = 10


def decide(url: str, decision: str, **values: str) -> requests.Response:
    """Open the page at `url`, fill in its form, press a button of it; what comes of that, not followed."""
    opened = requests.get(url, timeout=TIMEOUT)
    assert opened.status_code == 200, opened.text
    page: Any = html.document_fromstring(opened.content)  # lxml's types know no forms
    (form,) = page.forms
    assert (form.method, form.get("action")) == ("POST", None)
    assert [button.get("value") for button in form.xpath(".//button")] == ["allow", "refuse"]
    assert set(values) <= set(form.fields)
    data = {**dict(form.form_values()), **values, "decision": decision}
    return requests.post(url, data=data, allow_redirects=False, timeout=TIMEOUT)


def sent_back(response: requests.Response) -> dict[str, str]:
    """The query of the address that the person is sent to."""
    assert response.status_code == 303, response.text
    return dict(parse_qsl(urlsplit(response.headers["Location"]).query))


def link(browser: Client, path: str, decision: str = "allow", **values: str) -> Any:
    """Press Link here, decide there, come back: the test client's response, which has no public type."""
    there = browser.post(path)["Location"]
    back = urlsplit(decide(there, decision, **values).headers["Location"])
    assert f"{back.scheme}://{back.netloc}" == "http://127.0.0.1:8000"
    return browser.get(f"{back.path}?{back.query}")


def authorize_url(where: str, **changes: str | None) -> str:
    """A good authorization request, changed as said; None leaves a parameter out."""
    good = {
        "client_id": "268473310000000001",
        "redirect_uri": "https://app.example/back",
        "response_type": "code",
        "scope": "identify",
        "state": "the-state",
    }
    given = {name: value for name, value in {**good, **changes}.items() if value is not None}
    return f"{where}/oauth2/authorize?{urlencode(given)}"
