"""Where the pages of API keys are, and what callers with a key read."""

from __future__ import annotations

from django.utils import timezone

from accounts import authentication
from accounts.models import ApiKey, User
from infrastructure.requests.errors import ApiError
from tests.factories.accounts import ApiKeyFactory
from tests.support.browser import Browser

SECRET = "the-secret-of-the-first-key"
FORM_ID = "0123456789abcdef0123456789abcdef"


def path_of(key: ApiKey, act: str = "") -> str:
    return f"/dashboard/api-keys/{key.prefix}/{act}/" if act else f"/dashboard/api-keys/{key.prefix}/"


def live_keys(owner: User, number: int) -> None:
    """More keys that can be used."""
    ApiKey.objects.bulk_create(ApiKeyFactory.build_batch(number, owner=owner))


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
