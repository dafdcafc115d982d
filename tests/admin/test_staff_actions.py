"""Actions: through the reason page, with the right, and secrets in one answer alone."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from django.contrib.messages import get_messages
from django.db.models import Model
from django.test import Client
from django.utils import timezone

from accounts.api_keys import keys
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


class Action(NamedTuple):
    """`make`: what it acts on. `right`: a permission of the app. `fields`: besides the reason. `verb`: recorded."""

    page: str
    name: str
    make: Make
    right: str
    fields: dict[str, str]
    verb: str

    @property
    def url(self) -> str:
        return f"/admin/{self.page}/act/{self.name}/"


USERS, KEYS, APPS = "accounts/user", "accounts/apikey", "oidc_provider/application"
ACTIONS = [
    Action(USERS, "ban", UserFactory, "ban_user", {}, "user:banned"),
    Action(USERS, "reset_password", UserFactory, "reset_password_user", {}, "user:password_reset"),
    Action(USERS, "delete", UserFactory, "delete_user", {}, "user:deleted"),
    Action(USERS, "unlock_scope", UserFactory, "unlock_scopes_user", {"scope": "email"}, "user:scope_unlocked"),
    Action(
        USERS,
        "relock_scope",
        lambda: UserFactory(unlocked_scopes=["email"]),
        "unlock_scopes_user",
        {"scope": "email"},
        "user:scope_relocked",
    ),
    Action(KEYS, "disable", ApiKeyFactory, "change_apikey", {}, "api_key:disabled"),
    Action(KEYS, "enable", lambda: ApiKeyFactory(is_enabled=False), "change_apikey", {}, "api_key:enabled"),
    Action(KEYS, "revoke", ApiKeyFactory, "delete_apikey", {}, "api_key:revoked"),
    Action(
        KEYS,
        "grant_permission",
        ApiKeyFactory,
        "change_apikey",
        {"permission": "lookup:user"},
        "api_key:permission_granted",
    ),
    Action(
        KEYS,
        "withdraw_permission",
        ApiKeyFactory,
        "change_apikey",
        {"permission": "account"},
        "api_key:permission_withdrawn",
    ),
    Action(APPS, "suspend", ApplicationFactory, "suspend_application", {}, "application:suspended"),
    Action(APPS, "restore", SuspendedApplicationFactory, "suspend_application", {}, "application:restored"),
    Action(APPS, "verify", ApplicationFactory, "verify_application", {}, "application:verified"),
    Action(
        APPS,
        "unverify",
        lambda: ApplicationFactory(is_verified=True),
        "verify_application",
        {},
        "application:unverified",
    ),
    Action(APPS, "reset_secret", ApplicationFactory, "reset_secret_application", {}, "application:secret_reset"),
    Action(APPS, "delete", ApplicationFactory, "delete_application", {}, "application:deleted"),
    Action("oidc_provider/approval", "disconnect", ApprovalFactory, "delete_approval", {}, "approval:withdrawn"),
    Action("oidc_provider/accesstoken", "revoke", access_token, "delete_accesstoken", {}, "access_token:revoked"),
    Action("oidc_provider/refreshtoken", "revoke", refresh_token, "delete_refreshtoken", {}, "refresh_token:revoked"),
]


@pytest.mark.parametrize("action", ACTIONS, ids=[f"{one.page.split('/')[1]}-{one.name}" for one in ACTIONS])
def test_an_action_is_a_button_asks_for_a_reason_needs_its_right_and_is_recorded(
    browser: Client, helper_with: Callable[..., Client], action: Action
) -> None:
    obj, (app_label, model) = action.make(), action.page.split("/")
    url, change = action.url, f"/admin/{action.page}/{obj.pk}/change/"
    sent = {"_selected_action": obj.pk, "reason": "Because", **action.fields}
    assert f"{url}?id={obj.pk}" in browser.get(change).content.decode()
    assert f'name="_selected_action" value="{obj.pk}"' in browser.get(url, {"id": obj.pk}).content.decode()
    unreasoned = browser.post(url, {**sent, "reason": ""})
    assert unreasoned.context["form"].errors == {"reason": ["This field is required."]}
    without = helper_with(f"{app_label}.view_{model}")
    assert without.get(url, {"id": obj.pk}).status_code == without.post(url, sent).status_code == 403
    assert url not in without.get(change).content.decode()
    assert not AuditEvent.objects.exists()
    allowed = helper_with(f"{app_label}.view_{model}", f"{app_label}.{action.right}")
    assert allowed.post(url, sent).status_code in {200, 302}
    event = AuditEvent.objects.get(verb=action.verb)
    assert (event.reason, event.actor_kind) == ("Because", "STAFF")


@pytest.mark.parametrize("action", [ACTIONS[0], ACTIONS[8], ACTIONS[-1]], ids=["user", "apikey", "refreshtoken"])
def test_an_action_on_a_selection_asks_first_at_the_same_cost_for_one_and_for_four(
    browser: Client, action: Action
) -> None:
    pks = [action.make().pk for _ in range(4)]
    answer = browser.post(f"/admin/{action.page}/", {"action": action.name, "_selected_action": pks})
    assert answer.status_code == 200
    assert len(answer.context["objects"]) == 4
    assert not AuditEvent.objects.exists()
    one = cost_of(browser, f"{action.url}?id={pks[0]}")
    assert cost_of(browser, f"{action.url}?{'&'.join(f'id={pk}' for pk in pks)}") == one
    browser.post(action.url, {"_selected_action": pks, "reason": "Because", **action.fields})
    assert AuditEvent.objects.filter(verb=action.verb).count() == 4


def test_more_rows_than_allowed_are_refused_whole(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.admin.staff_actions.MAX_AT_ONCE", 2)
    keys = [ApiKeyFactory() for _ in range(3)]
    for count, status in ((2, 200), (3, 302)):
        sent = {"action": "disable", "_selected_action": [key.pk for key in keys[:count]]}
        assert browser.post("/admin/accounts/apikey/", sent).status_code == status


def test_a_revoked_key_has_no_button_that_brings_it_back(browser: Client) -> None:
    """It may have been disabled before."""
    key = ApiKeyFactory(is_enabled=False, revoked_at=timezone.now())
    html = browser.get(f"/admin/accounts/apikey/{key.pk}/change/").content.decode()
    for action in ("enable", "disable", "revoke"):
        assert f"/admin/accounts/apikey/act/{action}/" not in html
    assert "/admin/accounts/apikey/act/grant_permission/" in html


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


@pytest.mark.parametrize("key", ["x", "-1\x00", "9" * 40])
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
    assert keys.find(secret) == key
    assert (key.owner, key.permissions) == (owner, ["lookup:user"])


def test_a_bad_key_is_a_form_error(browser: Client) -> None:
    answer = browser.post("/admin/accounts/apikey/add/", {"owner": UserFactory().pk, "refill_amount": "5"})
    assert set(answer.context["adminform"].form.errors) == {"allowed", "refill_amount"}
    assert not ApiKey.objects.exists()
