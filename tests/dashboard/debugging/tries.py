"""A try as a person goes through it, without JavaScript."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from oidc_provider.models import Application
from tests.support.browser import Browser


def open_try(browser: Browser, app: Application) -> Browser:
    return browser.open(reverse("application_try", args=[app.client_id]))


def send(browser: Browser, path: str, data: dict[str, Any]) -> Browser:
    """Post, and follow where it leads: redirects to apps, which the test client does not follow, lead back here."""
    answer: Any = browser.client.post(path, data)
    while answer.status_code in {302, 303}:
        answer = browser.client.get(answer["Location"])
    browser.response = answer
    return browser


def press(browser: Browser, name: str, value: str) -> Browser:
    """Press the button `name=value`."""
    (button,) = browser.page.xpath("//button[@name=$name][@value=$value]", name=name, value=value)
    (form,) = button.iterancestors("form")
    path = form.get("action") or browser.response.request["PATH_INFO"]
    return send(browser, path, {**dict(form.form_values()), name: value})


def start(browser: Browser, app: Application, **values: str) -> Browser:
    """Fill the form of the page in and send it; every scope is ticked from the beginning."""
    form = open_try(browser, app).form("prompt")
    for name, value in values.items():
        form.fields[name] = value
    data: dict[str, Any] = {}
    for name, value in form.form_values():
        data.setdefault(name, []).append(value)
    return send(browser, str(form.get("action")), data)


def sign_in(browser: Browser, app: Application, **values: str) -> list[dict[str, Any]]:
    """The steps."""
    start(browser, app, **values)
    if "/consent/" in browser.response.request["PATH_INFO"]:
        press(browser, "decision", "allow")
    assert browser.response.request["PATH_INFO"].endswith("/try/result/")
    steps: list[dict[str, Any]] = browser.response.context["steps"]
    return steps


def started(browser: Browser, app: Application) -> str:
    """Sign in as far as the redirect to the callback, whose URL this is."""
    open_try(browser, app)
    form = browser.form("prompt")
    token = form.fields["csrfmiddlewaretoken"]
    data = {"csrfmiddlewaretoken": token, "scopes": ["openid", "offline_access"]}
    answer = browser.client.get(browser.client.post(form.get("action"), data)["Location"])
    if answer["Location"].startswith("/consent/"):
        answer = browser.client.post(answer["Location"], {"decision": "allow", "csrfmiddlewaretoken": token})
    return str(answer["Location"])
