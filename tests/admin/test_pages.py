"""Every list and every object's page: it opens, costs the same for one row and for twenty, and holds no secret."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.admin import site
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import audit
from accounts.models import AuditEvent, JobRun, User
from oidc_provider import signing
from oidc_provider.models import AccessToken, Application, Grant, IDToken, RefreshToken, SigningKey
from tests.factories.accounts import AliasFactory, ApiKeyFactory, LinkedAccountFactory, StaffFactory, UserFactory
from tests.factories.oidc_provider import ApplicationFactory, ApprovalFactory
from tests.factories.presence import LastOnlineFactory
from tests.lookup import admin_rows

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
    "accounts/jobrun": job,
    "presence/lastonline": LastOnlineFactory,
    **{f"lookup/{name}": make for name, make in admin_rows.MAKE.items()},
}
every_page = pytest.mark.parametrize("page", MAKE)
every_object = pytest.mark.parametrize("page", sorted(MAKE.keys() - {"lookup/visit"}))  # which has no page of its own


def cost_of(browser: Client, url: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        answer = browser.get(url)
    assert answer.status_code == 200
    return len(queries)


@every_page
def test_a_list_costs_the_same_for_one_row_and_for_twenty(browser: Client, page: str) -> None:
    MAKE[page]()
    url = f"/admin/{page}/"
    browser.get(url)  # fills the cache of content types
    before = cost_of(browser, url)
    for _ in range(19):
        MAKE[page]()
    assert cost_of(browser, url) == before


@every_object
def test_every_object_has_a_page(browser: Client, page: str) -> None:
    obj = MAKE[page]()
    assert browser.get(f"/admin/{page}/{obj.pk}/change/").status_code == 200


@every_page
def test_every_list_can_be_searched(browser: Client, page: str) -> None:
    MAKE[page]()
    for term in ("x", "1", "%", "'", "\u00e9", "9" * 30):
        assert browser.get(f"/admin/{page}/", {"q": term}).status_code == 200


def test_a_users_page_costs_the_same_with_one_approval_and_with_twenty(browser: Client) -> None:
    user = UserFactory()
    LinkedAccountFactory(user=user)
    ApprovalFactory(user=user)
    url = f"/admin/accounts/user/{user.pk}/change/"
    browser.get(url)
    before = cost_of(browser, url)
    for _ in range(19):
        ApprovalFactory(user=user)
    assert cost_of(browser, url) == before


@pytest.mark.parametrize("term", ["uid", "id", "username", "beginning", "email"])
def test_a_user_is_found_by(browser: Client, term: str) -> None:
    user = UserFactory(username="Wanted.Person", email="wanted@example.org")
    UserFactory(username="Other")
    value = {
        "uid": str(user.uid),
        "id": user.pk,
        "username": "wanted.person",
        "beginning": "wanted",
        "email": "Wanted@example.org",
    }[term]
    answer = browser.get("/admin/accounts/user/", {"q": value})
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
    ["accounts/linkedaccount", "accounts/name", "accounts/auditevent", "accounts/jobrun", "oidc_provider/signingkey"],
)
def test_records_are_read_only(browser: Client, page: str) -> None:
    obj = MAKE[page]()
    assert browser.get(f"/admin/{page}/add/").status_code == 403
    assert browser.post(f"/admin/{page}/{obj.pk}/change/", {}).status_code == 403
    assert browser.post(f"/admin/{page}/{obj.pk}/delete/", {"post": "yes"}).status_code == 403


@pytest.mark.parametrize("page", ["accounts/user", "accounts/apikey", "oidc_provider/application"])
def test_stock_deletion_is_closed(browser: Client, page: str) -> None:
    obj = MAKE[page]()
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


def form_of(answer: Any) -> dict[str, Any]:
    """The values of the page's form and of its inlines' management forms, as a browser would send them."""
    form = answer.context["adminform"].form
    values = {name: form[name].value() for name in form.fields}
    for inline in answer.context["inline_admin_formsets"]:
        values |= {f"{inline.formset.prefix}-TOTAL_FORMS": 0, f"{inline.formset.prefix}-INITIAL_FORMS": 0}
    return {name: value for name, value in values.items() if value is not None and value is not False}


def test_a_user_is_added_with_a_uid(browser: Client, staff: User) -> None:
    values = {"username": "Newcomer", "email": "New@example.org", "password1": "a long pass phrase"}
    answer = browser.post("/admin/accounts/user/add/", {**values, "password2": "a long pass phrase"})
    assert answer.status_code == 302, answer.context["errors"]
    user = User.objects.by_username("newcomer").get()
    assert user.uid == staff.uid + 1
    assert user.check_password("a long pass phrase")
    assert AuditEvent.objects.get().verb == "user:created"


def test_a_taken_name_is_a_form_error(browser: Client) -> None:
    AliasFactory(name="Taken", key="TAKEN")
    values = {"username": "taken", "email": "n@example.org", "password1": "a long pass phrase"}
    answer = browser.post("/admin/accounts/user/add/", {**values, "password2": "a long pass phrase"})
    assert answer.status_code == 200
    assert "already taken" in answer.content.decode()


def test_a_user_is_changed_through_the_operation(browser: Client) -> None:
    user = UserFactory()
    url = f"/admin/accounts/user/{user.pk}/change/"
    values = form_of(browser.get(url))
    answer = browser.post(url, {**values, "plan": "PREMIUM", "username": "Renamed"})
    assert answer.status_code == 302, answer.context["errors"]
    user.refresh_from_db()
    assert (user.plan, user.username) == ("PREMIUM", "Renamed")
    changed = AuditEvent.objects.get()
    assert (changed.verb, changed.data["changed"]) == ("user:changed", ["plan", "username"])


def test_a_helper_cannot_make_anybody_staff(helper_with: Callable[..., Client]) -> None:
    user, superuser = UserFactory(), StaffFactory()
    browser = helper_with("accounts.change_user")
    url = f"/admin/accounts/user/{user.pk}/change/"
    values = form_of(browser.get(url))
    browser.post(url, {**values, "plan": "PREMIUM", "is_staff": "on", "is_superuser": "on"})
    user.refresh_from_db()
    assert (user.plan, user.is_staff, user.is_superuser) == ("PREMIUM", False, False)
    assert browser.post(f"/admin/accounts/user/{superuser.pk}/change/", values).status_code == 403


def test_an_app_is_changed_through_the_operations(browser: Client) -> None:
    app = ApplicationFactory(registered_scopes=["openid"])
    url = f"/admin/oidc_provider/application/{app.pk}/change/"
    values = form_of(browser.get(url))
    lines = "https://a.example/cb\nhttps://b.example/cb"
    answer = browser.post(url, {**values, "name": "Renamed", "redirect_uris": lines})
    assert answer.status_code == 302, answer.context["errors"]
    app = Application.objects.get()
    assert (app.name, app.redirect_urls) == ("Renamed", ["https://a.example/cb", "https://b.example/cb"])
    verbs = AuditEvent.objects.order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["application:redirect_urls_changed", "application:details_changed"]


def test_a_bad_change_of_an_app_is_a_form_error(browser: Client) -> None:
    app = ApplicationFactory(registered_scopes=["openid"])
    url = f"/admin/oidc_provider/application/{app.pk}/change/"
    values = {**form_of(browser.get(url)), "redirect_uris": "http://evil.example/", "registered_scopes": ["email"]}
    answer = browser.post(url, values)
    assert set(answer.context["adminform"].form.errors) == {"redirect_uris", "registered_scopes"}
    assert not AuditEvent.objects.exists()
