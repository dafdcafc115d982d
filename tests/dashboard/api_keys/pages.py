"""Where the pages of API keys are, and what callers with a key read."""

from __future__ import annotations

from allauth.account import app_settings
from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from django.test import Client
from django.utils import timezone

from accounts import authentication
from accounts.errors import ApiError
from accounts.models import ApiKey
from tests.support.browser import Browser

SECRET = "the-secret-of-the-first-key"
FORM_ID = "0123456789abcdef0123456789abcdef"


def path_of(key: ApiKey, act: str = "") -> str:
    return f"/dashboard/api-keys/{key.prefix}/{act}/" if act else f"/dashboard/api-keys/{key.prefix}/"


def verdict(secret: str, permission: str = "imagehost:upload") -> str:
    """What a caller with the key reads; empty: it is let in."""
    try:
        authentication.check(secret, permission=permission, now=timezone.now())
    except ApiError as error:
        return str(error.body()["error"])
    return ""


def send(browser: Browser, path: str) -> Browser:
    """Press the button of the form that posts there."""
    (form,) = [
        form for form in browser.page.forms if (form.get("action") or browser.response.request["PATH_INFO"]) == path
    ]
    browser.response = browser.client.post(path, dict(form.form_values()), follow=True)
    return browser


def signed_in_long_ago(client: Client) -> None:
    """From now on the person is asked for the password before anything of weight."""
    session = client.session
    session[AUTHENTICATION_METHODS_SESSION_KEY][-1]["at"] -= app_settings.REAUTHENTICATION_TIMEOUT
    session.save()
