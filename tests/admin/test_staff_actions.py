"""Actions: through the reason page, with the right, and secrets in one answer alone."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.db.models import Model
from django.test import Client

from accounts import api_keys
from accounts.models import ApiKey, AuditEvent, User
from oidc_provider.models import AccessToken, Application, Approval, RefreshToken
from tests.admin.test_pages import access_token, cost_of, refresh_token
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.oidc_provider import (
    CLIENT_SECRET,
    ApplicationFactory,
    ApprovalFactory,
    SuspendedApplicationFactory,
)

pytestmark = pytest.mark.django_db

Make = Callable[[], Model]

# page, action, what it acts on, the right it needs, further fields, the verb in the audit trail
ACTIONS: list[tuple[str, str, Make, str, dict[str, str], str]] = [
    ("accounts/user", "ban", UserFactory, "ban_user", {}, "user:banned"),
    ("accounts/user", "reset_password", UserFactory, "reset_password_user", {}, "user:password_reset"),
    ("accounts/user", "delete", UserFactory, "delete_user", {}, "user:deleted"),
    ("accounts/user", "unlock_scope", UserFactory, "unlock_scopes_user", {"scope": "email"}, "user:scope_unlocked"),
    (
        "accounts/user",
        "relock_scope",
        lambda: UserFactory(unlocked_scopes=["email"]),
        "unlock_scopes_user",
        {"scope": "email"},
        "user:scope_relocked",
    ),
    ("accounts/apikey", "disable", ApiKeyFactory, "change_apikey", {}, "api_key:disabled"),
    ("accounts/apikey", "enable", lambda: ApiKeyFactory(is_enabled=False), "change_apikey", {}, "api_key:enabled"),
    ("accounts/apikey", "revoke", ApiKeyFactory, "delete_apikey", {}, "api_key:revoked"),
    (
        "accounts/apikey",
        "grant_permission",
        ApiKeyFactory,
        "change_apikey",
        {"permission": "lookup:user"},
        "api_key:permission_granted",
    ),
    (
        "accounts/apikey",
        "withdraw_permission",
        ApiKeyFactory,
        "change_apikey",
        {"permission": "account"},
        "api_key:permission_withdrawn",
    ),
    ("oidc_provider/application", "suspend", ApplicationFactory, "suspend_application", {}, "application:suspended"),
    (
        "oidc_provider/application",
        "restore",
        SuspendedApplicationFactory,
        "suspend_application",
        {},
        "application:restored",
    ),
    ("oidc_provider/application", "verify", ApplicationFactory, "verify_application", {}, "application:verified"),
    (
        "oidc_provider/application",
        "unverify",
        lambda: ApplicationFactory(is_verified=True),
        "verify_application",
        {},
        "application:unverified",
    ),
    (
        "oidc_provider/application",
        "reset_secret",
        ApplicationFactory,
        "reset_secret_application",
        {},
        "application:secret_reset",
    ),
    ("oidc_provider/application", "delete", ApplicationFactory, "delete_application", {}, "application:deleted"),
    ("oidc_provider/approval", "disconnect", ApprovalFactory, "delete_approval", {}, "approval:withdrawn"),
    ("oidc_provider/accesstoken", "revoke", access_token, "delete_accesstoken", {}, "access_token:revoked"),
    ("oidc_provider/refreshtoken", "revoke", refresh_token, "delete_refreshtoken", {}, "refresh_token:revoked"),
]
every_action = pytest.mark.parametrize(
    ("page", "action", "make", "right", "fields", "verb"),
    ACTIONS,
    ids=[f"{page.split('/')[1]}-{action}" for page, action, *_ in ACTIONS],
)


@every_action
def test_an_action_is_a_button_asks_for_a_reason_and_is_recorded(
    browser: Client, page: str, action: str, make: Make, right: str, fields: dict[str, str], verb: str
) -> None:
    obj = make()
    url = f"/admin/{page}/act/{action}/"
    assert f"{url}?id={obj.pk}" in browser.get(f"/admin/{page}/{obj.pk}/change/").content.decode()
    assert f'name="_selected_action" value="{obj.pk}"' in browser.get(url, {"id": obj.pk}).content.decode()
    unreasoned = browser.post(url, {"_selected_action": obj.pk, **fields})
    assert unreasoned.context["form"].errors == {"reason": ["This field is required."]}
    assert not AuditEvent.objects.exists()
    answer = browser.post(url, {"_selected_action": obj.pk, "reason": "Because", **fields})
    assert answer.status_code in {200, 302}
    event = AuditEvent.objects.get(verb=verb)
    assert (event.reason, event.actor_kind) == ("Because", "STAFF")


@every_action
def test_an_action_needs_its_right(
    helper_with: Callable[..., Client],
    page: str,
    action: str,
    make: Make,
    right: str,
    fields: dict[str, str],
    verb: str,
) -> None:
    obj = make()
    app_label, model = page.split("/")
    url, post = f"/admin/{page}/act/{action}/", {"_selected_action": obj.pk, "reason": "Because", **fields}
    without = helper_with(f"{app_label}.view_{model}")
    assert without.get(url, {"id": obj.pk}).status_code == 403
    assert without.post(url, post).status_code == 403
    assert url not in without.get(f"/admin/{page}/{obj.pk}/change/").content.decode()
    assert not AuditEvent.objects.exists()
    allowed = helper_with(f"{app_label}.view_{model}", f"{app_label}.{right}")
    assert allowed.post(url, post).status_code in {200, 302}
    assert AuditEvent.objects.filter(verb=verb).exists()


@every_action
def test_an_action_on_a_selection_asks_first_at_the_same_cost_for_one_and_for_twenty(
    browser: Client, page: str, action: str, make: Make, right: str, fields: dict[str, str], verb: str
) -> None:
    objects = [make() for _ in range(20)]
    answer = browser.post(f"/admin/{page}/", {"action": action, "_selected_action": [obj.pk for obj in objects]})
    assert answer.status_code == 200
    assert len(answer.context["objects"]) == 20
    assert not AuditEvent.objects.exists()
    url = f"/admin/{page}/act/{action}/?"
    one = cost_of(browser, f"{url}id={objects[0].pk}")
    assert cost_of(browser, url + "&".join(f"id={obj.pk}" for obj in objects)) == one
    browser.post(url, {"_selected_action": [obj.pk for obj in objects], "reason": "Because", **fields})
    assert AuditEvent.objects.filter(verb=verb).count() == 20


def test_a_lifted_ban(browser: Client) -> None:
    user = UserFactory()
    browser.post("/admin/accounts/user/act/ban/", {"_selected_action": user.pk, "reason": "Spam"})
    browser.post("/admin/accounts/user/act/lift_ban/", {"_selected_action": user.pk, "reason": "Sorry"})
    user.refresh_from_db()
    assert not user.is_banned


def test_what_the_actions_did(browser: Client) -> None:
    approval, access, refresh = ApprovalFactory(), access_token(), refresh_token()
    for page, obj in (("approval", approval), ("accesstoken", access), ("refreshtoken", refresh)):
        name = "disconnect" if page == "approval" else "revoke"
        url = f"/admin/oidc_provider/{page}/act/{name}/"
        assert browser.post(url, {"_selected_action": obj.pk, "reason": "Because"}).status_code == 302
    for model in (Approval, AccessToken, RefreshToken):
        assert not model._default_manager.exists()


def test_a_refusal_is_a_message_and_spares_the_others(browser: Client, staff: User) -> None:
    user = UserFactory()
    answer = browser.post(
        "/admin/accounts/user/act/ban/", {"_selected_action": [staff.pk, user.pk], "reason": "Everybody"}
    )
    texts = {str(message) for message in get_messages(answer.wsgi_request)}
    assert texts == {f"{staff}: You cannot ban yourself.", "Ban: done for 1."}
    user.refresh_from_db()
    assert user.is_banned


@pytest.mark.parametrize("id", ["", "nonsense", "999999"])
def test_an_action_on_nothing_is_not_found(browser: Client, id: str) -> None:
    assert browser.get("/admin/oidc_provider/application/act/suspend/", {"id": id}).status_code == 404
    assert browser.get("/admin/oidc_provider/application/act/nonsense/", {"id": id}).status_code == 404


def shown_once(browser: Client, answer: Any, pattern: str) -> str:
    """The secret of the answer page, which no message, session, cache or later page holds."""
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    found = re.search(f"<code>({pattern})</code>", answer.content.decode())
    assert found is not None
    secret = found[1]
    assert list(get_messages(answer.wsgi_request)) == []
    assert secret not in str(dict(browser.session))
    assert secret not in str(list(AuditEvent.objects.values()))
    for url in ("/admin/", re.search(r'href="([^"]+)">I saved it', answer.content.decode())[1]):  # type: ignore[index]
        assert secret not in browser.get(url).content.decode()
    return secret


@pytest.mark.parametrize("key", ["x", "\x00", "-1\x00", "9" * 40])
@pytest.mark.parametrize("page", ["accounts/apikey", "accounts/user", "oidc_provider/application"])
def test_a_selection_that_no_browser_sends_selects_nothing(browser: Client, page: str, key: str) -> None:
    action = {"accounts/user": "ban", "accounts/apikey": "disable"}.get(page, "suspend")
    response = browser.post(f"/admin/{page}/", {"action": action, "_selected_action": key})
    assert response.status_code == 302
    sent = {"_selected_action": key, "reason": "Because"}
    assert browser.post(f"/admin/{page}/act/{action}/", sent).status_code == 404
    assert not AuditEvent.objects.exists()


def test_a_reset_secret_is_shown_once(browser: Client) -> None:
    app = ApplicationFactory()
    url = "/admin/oidc_provider/application/act/reset_secret/"
    answer = browser.post(url, {"_selected_action": app.pk, "reason": "Leaked"})
    secret = shown_once(browser, answer, r"[\w-]{43}")
    app.refresh_from_db()
    assert app.check_secret(secret)
    assert not app.check_secret(CLIENT_SECRET)


def test_an_app_is_registered_and_its_secret_shown_once(browser: Client) -> None:
    owner = UserFactory()
    values = {"user": owner.pk, "name": "New app", "redirect_uris": "https://a.example/cb"}
    answer = browser.post("/admin/oidc_provider/application/add/", {**values, "registered_scopes": ["openid"]})
    secret = shown_once(browser, answer, r"[\w-]{43}")
    app = Application.objects.get()
    assert app.check_secret(secret)
    assert (app.user, app.registered_scopes) == (owner, ["openid"])
    assert AuditEvent.objects.get().verb == "application:registered"


def test_a_locked_scope_is_a_form_error(browser: Client) -> None:
    values = {"user": UserFactory().pk, "name": "New app", "redirect_uris": "https://a.example/cb"}
    answer = browser.post("/admin/oidc_provider/application/add/", {**values, "registered_scopes": ["email"]})
    assert "email is locked" in answer.content.decode()
    assert not Application.objects.exists()


def test_a_key_is_issued_and_shown_once(browser: Client) -> None:
    owner = UserFactory()
    answer = browser.post("/admin/accounts/apikey/add/", {"owner": owner.pk, "name": "Bot", "allowed": ["lookup:user"]})
    secret = shown_once(browser, answer, r"ik_\w{8}_\w{40}")
    key = ApiKey.objects.get()
    assert api_keys.find(secret) == key
    assert (key.owner, key.permissions) == (owner, ["lookup:user"])


def test_a_bad_key_is_a_form_error(browser: Client) -> None:
    answer = browser.post("/admin/accounts/apikey/add/", {"owner": UserFactory().pk, "refill_amount": "5"})
    assert set(answer.context["adminform"].form.errors) == {"allowed", "refill_amount"}
    assert not ApiKey.objects.exists()
