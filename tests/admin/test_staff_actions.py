"""Actions of staff: each kind of actor on rows of each kind of owner, by both doors; the reason page, and secrets."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.admin import autodiscover, site
from django.contrib.auth.models import Group
from django.contrib.messages import get_messages
from django.db.models import Model
from django.test import Client
from django.utils import timezone

from accounts.admin.staff_actions import IssuingAdmin, StaffActionsAdmin
from accounts.api_keys import keys
from accounts.models import ApiKey, AuditEvent, User
from dashboard import roles
from imagehost.models import Album, File, Usage
from imagehost.storing import quarantine
from lookup.models import Decision, Report
from oidc_provider.models import AccessToken, Application, Approval, RefreshToken
from tests.admin.test_pages import access_token, cost_of, refresh_token
from tests.dashboard.staff import pages
from tests.factories.accounts import ApiKeyFactory, StaffFactory, UserFactory, WebhookEndpointFactory
from tests.factories.dashboard import AccessRequestFactory
from tests.factories.imagehost import FileFactory
from tests.factories.lookup import CommentFactory, ReportFactory
from tests.factories.oidc_provider import (
    CLIENT_SECRET,
    ApplicationFactory,
    ApprovalFactory,
    SuspendedApplicationFactory,
)

pytestmark = pytest.mark.django_db

autodiscover()  # else done by the first request
Make = Callable[[User], Model]


class Row(NamedTuple):
    """`make(owner)`: a row on which the action works. `fields`: of its form, besides the reason."""

    make: Make
    fields: dict[str, str] = {}


def _set(**columns: Any) -> Make:
    """Return a `make` that changes the owner: the actor itself stays able to sign in."""

    def change(owner: User) -> User:
        User.objects.filter(pk=owner.pk).update(**columns)
        return User.objects.get(pk=owner.pk)

    return change


def _with_factor(owner: User) -> User:
    Authenticator.objects.create(user=owner, type=Authenticator.Type.TOTP, data={})
    return owner


def _owned(token: Any, owner: User) -> Model:
    token.user = owner
    token.save()
    return token  # type: ignore[no-any-return]  # a row of either model


def _quarantined(owner: User) -> File:
    file: File = FileFactory(owner=owner)
    quarantine.impose(file=file, by=StaffFactory(), reason="x")
    File.objects.filter(pk=file.pk).update(moves_from="")
    AuditEvent.objects.all()._raw_delete("default")
    return file


def _album(owner: User, **columns: Any) -> Album:
    return Album.objects.create(owner=owner, title="x", link=secrets.token_hex(11), **columns)


def _report_of_album(owner: User) -> Report:
    thing = {"kind": "ALBUM", "thing": _album(owner).pk, "title": "x"}
    return Report.objects.create(user=owner, name=owner.username, reason="SPAM", **thing)


def _decision(owner: User, **columns: Any) -> Decision:
    album = _album(owner, quarantined_at=timezone.now())
    return Decision.objects.create(user=owner, kind="ALBUM", thing=album.pk, title="x", reason="SPAM", **columns)


_OF_COMMENT = Row(lambda owner: ReportFactory(comment=CommentFactory(user=owner), comment_text="x", user=owner))
ROWS = {
    "accounts.User warn": Row(_set()),
    "accounts.User hide_profile": Row(_set()),
    "accounts.User show_profile": Row(_set(hidden_at=timezone.now(), public_api_access=False)),
    "accounts.User ban": Row(_set()),
    "accounts.User lift_ban": Row(_set(is_active=False, banned_at="2026-01-01T00:00:00Z")),
    "accounts.User reset_password": Row(_set()),
    "accounts.User delete": Row(_set()),
    "accounts.User reset_second_factor": Row(_with_factor),
    "accounts.User unlock_scope": Row(_set(), {"scope": "email"}),
    "accounts.User relock_scope": Row(_set(unlocked_scopes=["email"]), {"scope": "email"}),
    "accounts.ApiKey enable": Row(lambda owner: ApiKeyFactory(owner=owner, is_enabled=False)),
    "accounts.ApiKey disable": Row(lambda owner: ApiKeyFactory(owner=owner)),
    "accounts.ApiKey revoke": Row(lambda owner: ApiKeyFactory(owner=owner)),
    "accounts.ApiKey grant_permission": Row(lambda owner: ApiKeyFactory(owner=owner), {"permission": "lookup:user"}),
    "accounts.ApiKey withdraw_permission": Row(lambda owner: ApiKeyFactory(owner=owner), {"permission": "account"}),
    "accounts.WebhookEndpoint delete": Row(lambda owner: WebhookEndpointFactory(user=owner)),
    "oidc_provider.Application suspend": Row(lambda owner: ApplicationFactory(user=owner)),
    "oidc_provider.Application restore": Row(lambda owner: SuspendedApplicationFactory(user=owner)),
    "oidc_provider.Application verify": Row(lambda owner: ApplicationFactory(user=owner)),
    "oidc_provider.Application unverify": Row(lambda owner: ApplicationFactory(user=owner, is_verified=True)),
    "oidc_provider.Application reset_secret": Row(lambda owner: ApplicationFactory(user=owner)),
    "oidc_provider.Application delete": Row(lambda owner: ApplicationFactory(user=owner)),
    "oidc_provider.Approval disconnect": Row(lambda owner: ApprovalFactory(user=owner)),
    "oidc_provider.AccessToken revoke": Row(lambda owner: _owned(access_token(), owner)),
    "oidc_provider.RefreshToken revoke": Row(lambda owner: _owned(refresh_token(), owner)),
    "dashboard.AccessRequest grant": Row(lambda owner: AccessRequestFactory(user=owner)),
    "dashboard.AccessRequest deny": Row(lambda owner: AccessRequestFactory(user=owner)),
    "imagehost.File quarantine": Row(lambda owner: FileFactory(owner=owner)),
    "imagehost.File restore": Row(_quarantined),
    "imagehost.File delete": Row(lambda owner: FileFactory(owner=owner)),
    "imagehost.Album quarantine": Row(_album),
    "imagehost.Album restore": Row(lambda owner: _album(owner, quarantined_at=timezone.now())),
    "imagehost.Album delete": Row(_album),
    "imagehost.Usage recount": Row(lambda owner: Usage.objects.get_or_create(owner=owner)[0]),
    "lookup.Report dismiss": _OF_COMMENT,
    "lookup.Report mark_handled": _OF_COMMENT,
    "lookup.Report delete_comment": _OF_COMMENT,
    "lookup.Report take_down": Row(_report_of_album),
    "lookup.Decision grant": Row(lambda owner: _decision(owner, appealed_at=timezone.now())),
    "lookup.Decision refuse": Row(lambda owner: _decision(owner, appealed_at=timezone.now())),
    "lookup.Decision lift": Row(_decision),
}
REGISTERED = {
    f"{model._meta.label} {action.name}": (model, action)
    for model, admin in site._registry.items()
    if isinstance(admin, StaffActionsAdmin)
    for action in admin.staff_actions
}
NOT_ON_ONESELF = tuple(f"accounts.User {name}" for name in ("ban", "lift_ban", "delete", "reset_second_factor"))
OWNERS = ("superuser", "operator", "user", "own")  # the last may end the actor


def test_the_matrix_has_every_action() -> None:
    assert set(ROWS) == set(REGISTERED)


def actor_of(kind: str) -> User:
    """A superuser, a member of staff with the role of that name, or a user without any right."""
    if kind == "superuser":
        return StaffFactory.create()
    if kind == "user":
        return UserFactory.create()
    roles.create(is_exact=False)
    actor: User = UserFactory(is_staff=True)
    actor.groups.add(Group.objects.get(name=kind))
    return actor


def owner_of(kind: str, actor: User) -> User:
    if kind == "own":
        return actor
    if kind == "operator":
        return actor_of("Operator")
    return StaffFactory.create() if kind == "superuser" else UserFactory.create()


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def is_allowed(name: str, permission: str, actor: User, owner: str) -> bool:
    """Return whether the rule allows it: no act on more authority, and only superusers act on what is their own."""
    if not actor.is_staff or not actor.has_perm(permission):
        return False
    if name in NOT_ON_ONESELF and owner == "own":
        return False
    if name == "accounts.User reset_second_factor" and owner == "operator":
        return True  # an operator helps another one who has lost it
    return actor.is_superuser or owner == "user"


def url_of(name: str) -> str:
    opts, action = REGISTERED[name][0]._meta, REGISTERED[name][1]
    return f"/admin/{opts.app_label}/{opts.model_name}/act/{action.name}/"


ACTORS = ("superuser", "Operator", "App reviewer", "user")


@pytest.mark.parametrize("actor_kind", ACTORS)
@pytest.mark.parametrize("name", ROWS)
def test_an_action_needs_authority_over_the_owner(name: str, actor_kind: str) -> None:
    permission, actor = REGISTERED[name][1].permission, actor_of(actor_kind)
    for owner_kind in OWNERS:
        owner = owner_of(owner_kind, actor)
        row = ROWS[name].make(owner)
        sent = {"_selected_action": row.pk, "reason": "Because", **ROWS[name].fields}
        before = set(AuditEvent.objects.values_list("pk", flat=True))
        answer = client_of(actor).post(url_of(name), sent)
        assert answer.status_code in {200, 302, 403, 404}
        acted = AuditEvent.objects.exclude(pk__in=before).exists()
        if name == "imagehost.File delete":  # not audited where the owner does it
            acted = not File.objects.ready().filter(pk=row.pk).exists()
        assert acted == is_allowed(name, permission, actor, owner_kind), owner_kind


@pytest.mark.parametrize("owner_kind", OWNERS)
@pytest.mark.parametrize("actor_kind", ACTORS)
@pytest.mark.parametrize("act", pages.ACTS, ids=pages.named)
def test_an_action_of_the_staff_pages_needs_authority_over_the_owner(
    act: pages.Act, actor_kind: str, owner_kind: str
) -> None:
    actor = actor_of(actor_kind)
    like = {"superuser": StaffFactory.build(), "own": actor, "operator": User(is_staff=True), "user": User()}[
        owner_kind
    ]
    subject = act.make(is_staff=like.is_staff, is_superuser=like.is_superuser)
    if owner_kind == "own":
        act.owner(subject).groups.set(actor.groups.all())
        actor = User.objects.get(pk=act.owner(subject).pk)
    client_of(actor).post(act.path(subject), {"reason": "Because"})
    name = "accounts.User ban" if act.name == "ban" else act.name
    expected = is_allowed(name, act.permission, actor, owner_kind) and actor.is_active
    assert AuditEvent.objects.filter(verb=act.verb).exists() == expected


@pytest.mark.parametrize("actor_kind", ["superuser", "Operator"])
@pytest.mark.parametrize("model", [model for model, admin in site._registry.items() if isinstance(admin, IssuingAdmin)])
def test_what_staff_issue_needs_authority_over_the_owner(model: type[Model], actor_kind: str) -> None:
    actor = actor_of(actor_kind)
    for owner_kind in OWNERS:
        owner = owner_of(owner_kind, actor)
        sent = {"owner": owner.pk, "allowed": ["lookup:user"], "name": "Bot"}
        sent |= {"user": owner.pk, "redirect_uris": "https://app.example.org/cb", "registered_scopes": ["openid"]}
        count = model._default_manager.count()
        client_of(actor).post(f"/admin/{model._meta.app_label}/{model._meta.model_name}/add/", sent)
        issued = model._default_manager.count() - count
        assert issued == (actor.is_superuser or owner_kind == "user"), owner_kind


# What an action records, and the right that it needs.
RECORDED = {
    "accounts.User ban": ("user:banned", "ban_user"),
    "accounts.User reset_password": ("user:password_reset", "reset_password_user"),
    "accounts.User delete": ("user:deleted", "delete_user"),
    "accounts.User unlock_scope": ("user:scope_unlocked", "unlock_scopes_user"),
    "accounts.User relock_scope": ("user:scope_relocked", "unlock_scopes_user"),
    "accounts.ApiKey disable": ("api_key:disabled", "change_apikey"),
    "accounts.ApiKey enable": ("api_key:enabled", "change_apikey"),
    "accounts.ApiKey revoke": ("api_key:revoked", "delete_apikey"),
    "accounts.ApiKey grant_permission": ("api_key:permission_granted", "change_apikey"),
    "accounts.ApiKey withdraw_permission": ("api_key:permission_withdrawn", "change_apikey"),
    "accounts.WebhookEndpoint delete": ("user:webhook_deleted", "delete_webhookendpoint"),
    "oidc_provider.Application suspend": ("application:suspended", "suspend_application"),
    "oidc_provider.Application restore": ("application:restored", "suspend_application"),
    "oidc_provider.Application verify": ("application:verified", "verify_application"),
    "oidc_provider.Application unverify": ("application:unverified", "verify_application"),
    "oidc_provider.Application reset_secret": ("application:secret_reset", "reset_secret_application"),
    "oidc_provider.Application delete": ("application:deleted", "delete_application"),
    "oidc_provider.Approval disconnect": ("approval:withdrawn", "delete_approval"),
    "oidc_provider.AccessToken revoke": ("access_token:revoked", "delete_accesstoken"),
    "oidc_provider.RefreshToken revoke": ("refresh_token:revoked", "delete_refreshtoken"),
}


@pytest.mark.parametrize("name", RECORDED)
def test_an_action_is_a_button_asks_for_a_reason_needs_its_right_and_is_recorded(
    browser: Client, helper_with: Callable[..., Client], name: str
) -> None:
    row, url, (verb, right), opts = ROWS[name], url_of(name), RECORDED[name], REGISTERED[name][0]._meta
    obj, viewing = row.make(UserFactory()), f"{opts.app_label}.view_{opts.model_name}"
    change = f"{url.partition('act/')[0]}{obj.pk}/change/"
    sent = {"_selected_action": obj.pk, "reason": "Because", **row.fields}
    assert f"{url}?id={obj.pk}" in browser.get(change).content.decode()
    assert f'name="_selected_action" value="{obj.pk}"' in browser.get(url, {"id": obj.pk}).content.decode()
    unreasoned = browser.post(url, {**sent, "reason": ""})
    assert unreasoned.context["form"].errors == {"reason": ["This field is required."]}
    without = helper_with(viewing)
    assert without.get(url, {"id": obj.pk}).status_code == without.post(url, sent).status_code == 403
    assert url not in without.get(change).content.decode()
    assert not AuditEvent.objects.exists()
    assert helper_with(viewing, f"{opts.app_label}.{right}").post(url, sent).status_code in {200, 302}
    event = AuditEvent.objects.get(verb=verb)
    assert (event.reason, event.actor_kind) == ("Because", "STAFF")


@pytest.mark.parametrize(
    ("name", "most"),
    [("accounts.User warn", 1000), ("accounts.User hide_profile", 1000), ("accounts.User reset_password", 2000)],
)
def test_a_reason_that_is_too_long_is_refused_by_the_form_which_keeps_it(browser: Client, name: str, most: int) -> None:
    person, url, typed = UserFactory(), url_of(name), "x" * (most + 1)
    refused = browser.post(url, {"_selected_action": person.pk, "reason": typed})
    assert f"at most {most} characters" in refused.context["form"].errors["reason"][0]
    assert refused.context["form"]["reason"].value() == typed
    assert f'maxlength="{most}"' in refused.content.decode()
    assert not AuditEvent.objects.exists()
    assert browser.post(url, {"_selected_action": person.pk, "reason": typed[1:]}).status_code in {200, 302}
    assert AuditEvent.objects.exists()


@pytest.mark.parametrize(
    "name", ["accounts.User ban", "accounts.ApiKey grant_permission", "oidc_provider.RefreshToken revoke"]
)
def test_an_action_on_a_selection_asks_first_at_the_same_cost_for_one_and_for_four(browser: Client, name: str) -> None:
    row, url = ROWS[name], url_of(name)
    pks = [row.make(UserFactory()).pk for _ in range(4)]
    listed, _, act = url.partition("act/")
    answer = browser.post(listed, {"action": act.rstrip("/"), "_selected_action": pks})
    assert answer.status_code == 200
    assert len(answer.context["objects"]) == 4
    assert not AuditEvent.objects.exists()
    one = cost_of(browser, f"{url}?id={pks[0]}")
    assert cost_of(browser, f"{url}?{'&'.join(f'id={pk}' for pk in pks)}") == one
    browser.post(url, {"_selected_action": pks, "reason": "Because", **row.fields})
    assert AuditEvent.objects.filter(verb=RECORDED[name][0]).count() == 4


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
