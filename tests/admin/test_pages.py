"""Every list and every object's page: it opens, costs the same for any number of rows, and holds no secret."""

import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.admin import site
from django.contrib.admin.utils import quote
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import audit
from accounts.models import AuditEvent, JobRun, WebhookDelivery, WebhookEndpoint
from oidc_provider.applications import invitations, teams
from oidc_provider.models import AccessToken, Grant, IDToken, Invitation, RefreshToken, Role, SigningKey, Team
from oidc_provider.token import signing
from tests.factories.accounts import (
    AliasFactory,
    ApiKeyFactory,
    LinkedAccountFactory,
    StaffFactory,
    UserFactory,
    WebhookEndpointFactory,
)
from tests.factories.oidc_provider import ApplicationFactory, ApprovalFactory
from tests.factories.presence import LastOnlineFactory
from tests.lookup import admin_forms
from tests.support import patterns

pytestmark = pytest.mark.django_db

CHECKSUM = "cafe" * 14


def access_token() -> AccessToken:
    app = ApplicationFactory()
    token: AccessToken = AccessToken.objects.create(
        user=UserFactory(),
        application=app,
        token="",
        token_checksum=f"{CHECKSUM}{app.pk:08}",
        token_family=uuid.uuid4(),
        expires=timezone.now() + timedelta(hours=1),
        scope="openid",
    )
    return token


def refresh_token() -> RefreshToken:
    app = ApplicationFactory()
    token: RefreshToken = RefreshToken.objects.create(
        user=UserFactory(),
        application=app,
        token="",
        token_checksum=f"{CHECKSUM}{app.pk:08}",
        token_family=uuid.uuid4(),
        expires_at=timezone.now() + timedelta(days=1),
        auth_time=0,
        scope="openid",
    )
    return token


def event() -> AuditEvent:
    return audit.record("user:changed", by=StaffFactory(), on=UserFactory(), reason="Because")


def job() -> JobRun:
    return JobRun.objects.create(name=f"job_{uuid.uuid4().hex}", started_at=timezone.now())


def endpoint() -> WebhookEndpoint:
    """An endpoint of a person; its secrets are in no answer."""
    made: WebhookEndpoint = WebhookEndpointFactory(user=UserFactory())
    return made


def delivery() -> WebhookDelivery:
    return WebhookDelivery.objects.create(endpoint=endpoint(), type="test")


def team() -> Team:
    """A team with a member and an app."""
    owner = UserFactory()
    made = teams.create(name="Harbour", by=owner)
    ApplicationFactory(user=owner, team=made)
    return made


def invitation() -> Invitation:
    made = team()
    owner = made.members.get().user
    sent = invitations.invite(team=made, email="guest@example.org", role=Role.VIEWER, by=owner)
    return sent.invitation


MAKE: dict[str, Callable[[], Model]] = {
    "accounts/user": UserFactory,
    "accounts/linkedaccount": LinkedAccountFactory,
    "accounts/name": AliasFactory,
    "accounts/apikey": ApiKeyFactory,
    "accounts/auditevent": event,
    "oidc_provider/application": ApplicationFactory,
    "oidc_provider/approval": ApprovalFactory,
    "oidc_provider/accesstoken": access_token,
    "oidc_provider/refreshtoken": refresh_token,
    "oidc_provider/signingkey": signing.publish,
    "oidc_provider/team": team,
    "oidc_provider/invitation": invitation,
    "accounts/jobrun": job,
    "accounts/webhookendpoint": endpoint,
    "accounts/webhookdelivery": delivery,
    "presence/lastonline": LastOnlineFactory,
}
EVERYWHERE = MAKE | {f"lookup/{name}": make for name, make in admin_forms.MAKE.items()}


@pytest.fixture(scope="module")
def rows(module_db: None) -> dict[str, Model]:
    """One of each."""
    return {page: make() for page, make in EVERYWHERE.items()}


def cost_of(browser: Client, url: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert browser.get(url).status_code == 200
    return len(queries)


@pytest.mark.parametrize("page", EVERYWHERE)
def test_a_list_costs_the_same_for_one_row_and_for_four(browser: Client, rows: dict[str, Model], page: str) -> None:
    url = f"/admin/{page}/"
    browser.get(url)  # fills the cache of content types
    before = cost_of(browser, url)
    for _ in range(3):
        EVERYWHERE[page]()
    assert cost_of(browser, url) == before


@pytest.mark.parametrize("page", MAKE)
def test_every_list_can_be_searched_and_leads_to_the_pages_of_its_rows(
    browser: Client, rows: dict[str, Model], page: str
) -> None:
    for term in ("1", "%'\u00e9", "9" * 30):
        assert browser.get(f"/admin/{page}/", {"q": term}).status_code == 200
    assert browser.get(f"/admin/{page}/{quote(rows[page].pk)}/change/").status_code == 200


def test_a_long_path_is_a_miss_at_once() -> None:
    """Django's redirect to an object's own page has a pattern of two paths, which took the square of the length."""
    with patterns.bounded(1):
        response = Client().get("/admin/r/a" + "/" * 30_000 + "x")
    assert response.status_code == 400  # the address of the login page would be too long


def test_a_users_page_costs_the_same_with_one_approval_and_with_four(browser: Client) -> None:
    user = UserFactory()
    LinkedAccountFactory(user=user)
    ApprovalFactory(user=user)
    url = f"/admin/accounts/user/{user.pk}/change/"
    browser.get(url)
    before = cost_of(browser, url)
    for _ in range(3):
        ApprovalFactory(user=user)
    assert cost_of(browser, url) == before


def test_a_user_is_found_by_uid_id_name_and_address(browser: Client) -> None:
    user = UserFactory(username="Wanted.Person", email="wanted@example.org")
    UserFactory(username="Other")
    for term in (user.uid, user.pk, "wanted.person", "wanted", "Wanted@example.org"):
        answer = browser.get("/admin/accounts/user/", {"q": str(term)})
        assert list(answer.context["cl"].result_list) == [user]


def test_no_page_holds_a_stored_secret(browser: Client) -> None:
    user = UserFactory()
    key = ApiKeyFactory(owner=user)
    app = ApplicationFactory(user=user)
    access, refresh, signing_key = access_token(), refresh_token(), signing.publish()
    secrets = [user.password, key.secret_hash, str(app.client_secret), signing_key.private_key, CHECKSUM]
    rows: list[Model] = [user, key, app, access, refresh, signing_key]
    for row in rows:
        page = f"/admin/{row._meta.app_label}/{row._meta.model_name}/"
        for url in (page, f"{page}{row.pk}/change/"):
            html = browser.get(url).content.decode()
            assert [secret for secret in secrets if secret in html] == []


def test_codes_and_id_tokens_are_hidden_from_everybody(browser: Client) -> None:
    index = browser.get("/admin/").content.decode()
    for model in (Grant, IDToken):
        url = f"/admin/oidc_provider/{model._meta.model_name}/"
        assert browser.get(url).status_code == 403
        assert url not in index


def test_pages_of_libraries_that_show_secrets_are_gone(browser: Client) -> None:
    assert not site.is_registered(Authenticator)
    assert "/admin/mfa/" not in browser.get("/admin/").content.decode()


def test_staff_sign_in_through_the_account_login(client: Client) -> None:
    answer = client.get("/admin/login/?next=/admin/")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/accounts/login/")
    client.force_login(UserFactory())
    assert client.get("/admin/login/").status_code == 403


@pytest.mark.parametrize(
    "page",
    [
        *("accounts/linkedaccount", "accounts/name", "accounts/auditevent", "accounts/jobrun"),
        *("accounts/webhookendpoint", "accounts/webhookdelivery", "oidc_provider/signingkey"),
        *("oidc_provider/team", "oidc_provider/invitation"),
    ],
)
def test_records_are_read_only(browser: Client, rows: dict[str, Model], page: str) -> None:
    obj = rows[page]
    assert browser.get(f"/admin/{page}/add/").status_code == 403
    assert browser.post(f"/admin/{page}/{obj.pk}/change/", {}).status_code == 403
    assert browser.post(f"/admin/{page}/{obj.pk}/delete/", {"post": "yes"}).status_code == 403


def test_the_page_of_a_webhook_shows_no_secret(browser: Client, rows: dict[str, Model]) -> None:
    row = endpoint()
    text = browser.get(f"/admin/accounts/webhookendpoint/{row.pk}/change/").content.decode()
    assert row.url in text
    assert row.secret not in text


@pytest.mark.parametrize("page", ["accounts/user", "accounts/apikey", "oidc_provider/application"])
def test_stock_deletion_is_closed(browser: Client, rows: dict[str, Model], page: str) -> None:
    obj = rows[page]
    assert browser.post(f"/admin/{page}/{obj.pk}/delete/", {"post": "yes"}).status_code == 403
    browser.post(f"/admin/{page}/", {"action": "delete_selected", "_selected_action": obj.pk, "post": "yes"})
    assert type(obj)._default_manager.filter(pk=obj.pk).exists()


def test_the_state_of_each_signing_key_is_named(browser: Client) -> None:
    signing.ensure_signing_key()
    gone = signing.publish()
    SigningKey.objects.filter(pk=gone.pk).update(unpublish_at=timezone.now() - timedelta(hours=1))
    signing.publish()
    html = browser.get("/admin/oidc_provider/signingkey/").content.decode()
    for state in ("signing", "published", "unpublished"):
        assert f'<td class="field-state">{state}</td>' in html
