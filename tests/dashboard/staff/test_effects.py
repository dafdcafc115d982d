"""What a page says before the act is what the act then does."""

from __future__ import annotations

import pytest

from accounts.models import User
from oidc_provider.models import Application
from tests.admin.test_pages import access_token
from tests.dashboard.signing_in import browser_of
from tests.dashboard.staff.pages import app_page, person_page
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.oidc_provider import ApplicationFactory, ApprovalFactory
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db


def test_a_relock_names_the_apps_that_lose_the_scope(staff: Browser) -> None:
    owner = UserFactory(unlocked_scopes=["email", "connections"])
    ApplicationFactory(user=owner, name="Zebra & <Co>", registered_scopes=["openid", "email"])
    ApplicationFactory(user=owner, name="Apple", registered_scopes=["openid", "email"])
    kept = ApplicationFactory(user=owner, name="Kept", registered_scopes=["openid", "connections"])
    path = f"{person_page(owner)}scopes/email/relock/"
    text = staff.open(path).text
    assert "These apps lose it at once, and a sign-in that asks for it fails as a whole: Apple, Zebra & <Co>." in text
    staff.submit(reason="It sold the addresses")
    assert {app.name: app.registered_scopes for app in Application.objects.all()} == {
        "Zebra & <Co>": ["openid"],
        "Apple": ["openid"],
        "Kept": kept.registered_scopes,
    }


def test_a_suspension_counts_what_ends_and_what_stays(staff: Browser) -> None:
    token = access_token()
    app = token.application
    for _ in range(2):
        ApprovalFactory(application=app)
    text = staff.open(f"{app_page(app)}suspend/").text
    assert "1 active access token among them" in text
    assert "What 2 users allowed is kept" in text
    assert "It broke the rules" in staff.submit(reason="It broke the rules").text
    app.refresh_from_db()
    assert app.suspension_reason == "It broke the rules"
    assert (app.accesstoken_set.count(), app.approvals.count()) == (0, 2)


def test_a_ban_ends_the_sessions_of_the_person(staff: Browser) -> None:
    person = UserFactory()
    browser = browser_of(person)
    assert browser.user() == person
    staff.open(f"{person_page(person)}ban/").submit(reason="Spam")
    assert browser.user() is None
    assert User.objects.get(pk=person.pk).is_banned


@pytest.mark.parametrize("state", ["revoked_at", "expires_at"])
def test_a_key_that_is_over_is_offered_nothing_new(staff: Browser, state: str) -> None:
    key = ApiKeyFactory(**{state: "2026-01-01T00:00:00Z"})
    staff.open(person_page(key.owner))
    assert f"keys/{key.prefix}/lookup:user/grant/" not in staff.response.content.decode()
    assert f"keys/{key.prefix}/account/withdraw/" in staff.response.content.decode()
    path = f"{person_page(key.owner)}keys/{key.prefix}/lookup:user/grant/"
    assert "This key is revoked or has expired" in staff.open(path).text
