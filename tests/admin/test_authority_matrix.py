"""Each action of staff, by each kind of actor, on rows of each kind of owner, through both doors."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.admin import autodiscover, site
from django.contrib.auth.models import Group
from django.db.models import Model
from django.test import Client

from accounts.admin.staff_actions import IssuingAdmin, StaffActionsAdmin
from accounts.models import AuditEvent, User
from dashboard import roles
from imagehost.models import Album, File, Usage
from imagehost.storing import quarantine
from tests.admin.test_pages import access_token, refresh_token
from tests.dashboard.staff import pages
from tests.factories.accounts import ApiKeyFactory, StaffFactory, UserFactory
from tests.factories.dashboard import AccessRequestFactory
from tests.factories.imagehost import FileFactory
from tests.factories.lookup import CommentFactory, ReportFactory
from tests.factories.oidc_provider import ApplicationFactory, ApprovalFactory, SuspendedApplicationFactory

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


_OF_COMMENT = Row(lambda owner: ReportFactory(comment=CommentFactory(user=owner), comment_text="x", user=owner))
ROWS = {
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
    "imagehost.Album delete": Row(
        lambda owner: Album.objects.create(owner=owner, title="x", link=secrets.token_hex(11))
    ),
    "imagehost.Usage recount": Row(lambda owner: Usage.objects.get_or_create(owner=owner)[0]),
    "lookup.Report dismiss": _OF_COMMENT,
    "lookup.Report mark_handled": _OF_COMMENT,
    "lookup.Report delete_comment": _OF_COMMENT,
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


ACTORS = ("superuser", "Operator", "App reviewer", "user")


@pytest.mark.parametrize("actor_kind", ACTORS)
@pytest.mark.parametrize("name", ROWS)
def test_an_action_needs_authority_over_the_owner(name: str, actor_kind: str) -> None:
    model, action = REGISTERED[name]
    actor = actor_of(actor_kind)
    for owner_kind in OWNERS:
        owner = owner_of(owner_kind, actor)
        row = ROWS[name].make(owner)
        sent = {"_selected_action": row.pk, "reason": "Because", **ROWS[name].fields}
        url = f"/admin/{model._meta.app_label}/{model._meta.model_name}/act/{action.name}/"
        before = set(AuditEvent.objects.values_list("pk", flat=True))
        answer = client_of(actor).post(url, sent)
        assert answer.status_code in {200, 302, 403, 404}
        acted = AuditEvent.objects.exclude(pk__in=before).exists()
        if name == "imagehost.File delete":  # not audited where the owner does it
            acted = not File.objects.ready().filter(pk=row.pk).exists()
        assert acted == is_allowed(name, action.permission, actor, owner_kind), owner_kind


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
