"""No cache keeps a page with a form's token."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.factories.accounts import UserFactory
from tests.factories.oidc_provider import PendingRequestFactory

pytestmark = pytest.mark.django_db
OF_VISITORS = ["/accounts/login/", "/accounts/signup/", "/accounts/password/reset/"]
OF_PEOPLE = [
    "/",
    "/accounts/2fa/",
    "/accounts/connected-apps/",
    "/accounts/email/",
    "/accounts/logout/",
    "/accounts/password/change/",
    "/accounts/reauthenticate/",
    "/accounts/sessions/",
    "/api/auth/oauth2/end-session",
    "/consent/pending",
    "/dashboard/",
]


@pytest.mark.parametrize("path", OF_VISITORS)
def test_a_form_for_visitors_is_not_stored(client: Client, path: str) -> None:
    _has_a_token_and_is_not_stored(client, path)


@pytest.mark.parametrize("path", OF_PEOPLE)
def test_a_form_for_people_is_not_stored(client: Client, path: str) -> None:
    client.force_login(UserFactory())
    PendingRequestFactory(id="pending")
    _has_a_token_and_is_not_stored(client, path)


def test_a_page_without_a_form_may_be_stored(client: Client) -> None:
    answer = client.get("/docs/")
    assert b"csrfmiddlewaretoken" not in answer.content
    assert "no-store" not in answer.headers.get("Cache-Control", "")


def _has_a_token_and_is_not_stored(client: Client, path: str) -> None:
    answer = client.get(path)
    assert b"csrfmiddlewaretoken" in answer.content
    assert {"private", "no-store"} <= set(answer["Cache-Control"].split(", "))
