"""An owner that no browser sends is a form error, and never a server error: PostgreSQL refuses to look for a NUL."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts.models import ApiKey
from oidc_provider.models import Application
from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db

HOSTILE = ["\x00", "a\x00b", "x", "9" * 40, "\U0001f331"]


@pytest.mark.parametrize("owner", HOSTILE)
def test_the_owner_of_a_new_key_is_a_user(browser: Client, owner: str) -> None:
    values = {"name": "Bot", "allowed": ["lookup:user"]}
    answer = browser.post("/admin/accounts/apikey/add/", {**values, "owner": owner})
    assert (answer.status_code, list(answer.context["adminform"].form.errors)) == (200, ["owner"])
    assert not ApiKey.objects.exists()
    browser.post("/admin/accounts/apikey/add/", {**values, "owner": UserFactory().pk})
    assert ApiKey.objects.exists()


@pytest.mark.parametrize("owner", HOSTILE)
def test_the_owner_of_a_new_app_is_a_user(browser: Client, owner: str) -> None:
    values = {"name": "App", "redirect_uris": "https://a.example/cb", "registered_scopes": ["openid"]}
    answer = browser.post("/admin/oidc_provider/application/add/", {**values, "user": owner})
    assert (answer.status_code, list(answer.context["adminform"].form.errors)) == (200, ["user"])
    assert not Application.objects.exists()
    browser.post("/admin/oidc_provider/application/add/", {**values, "user": UserFactory().pk})
    assert Application.objects.exists()
