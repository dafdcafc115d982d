"""Operations on user accounts: bans, deletion, operators."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.core.exceptions import PermissionDenied, ValidationError
from django.test import Client
from django.utils import timezone

from accounts import bans, users
from accounts.models import AuditEvent, User
from oidc_provider.models import AccessToken, Approval
from tests.factories.accounts import PASSWORD, StaffFactory, UserFactory
from tests.factories.oidc_provider import ApplicationFactory

pytestmark = pytest.mark.django_db


def sign_in(user: User) -> Client:
    """Through the login page, as everybody does: it notes the session as the user's."""
    browser = Client()
    answer = browser.post("/accounts/login/", {"login": user.username, "password": PASSWORD})
    assert answer.status_code == 302
    return browser


def with_token(user: User) -> None:
    AccessToken.objects.create(
        user=user,
        application=ApplicationFactory(),
        token="",
        token_checksum=uuid.uuid4().hex * 2,
        token_family=uuid.uuid4(),
        expires=timezone.now() + timedelta(hours=1),
    )


def test_a_ban_ends_sessions_and_tokens_and_keeps_others() -> None:
    staff, user, other = StaffFactory(), UserFactory(), UserFactory()
    for person in (user, other):
        with_token(person)
        sign_in(person)
    bans.ban(user=user, by=staff, reason="Spam")
    user.refresh_from_db()
    assert user.is_banned
    assert not user.is_active
    assert list(AccessToken.objects.values_list("user_id", flat=True)) == [other.pk]
    assert list(UserSession.objects.values_list("user_id", flat=True)) == [other.pk]
    assert Session.objects.count() == 1
    event = AuditEvent.objects.get(verb="user:banned")
    assert (event.verb, event.actor, event.reason, event.data) == ("user:banned", staff, "Spam", {"sessions_ended": 1})


def test_a_lifted_ban_brings_no_session_back() -> None:
    staff, user = StaffFactory(), UserFactory()
    sign_in(user)
    bans.ban(user=user, by=staff, reason="Spam")
    bans.ban(user=user, by=staff, reason="Again")
    lifted = bans.lift(user=user, by=staff, reason="Sorry")
    bans.lift(user=user, by=staff, reason="Sorry again")
    assert lifted.is_active
    assert not lifted.is_banned
    assert not Session.objects.exists()
    by_staff = AuditEvent.objects.exclude(verb="user:signed_in").order_by("pk")
    assert list(by_staff.values_list("verb", flat=True)) == ["user:banned", "user:ban_lifted"]


def test_a_ban_of_oneself_is_refused_and_only_a_superuser_bans_staff() -> None:
    superuser, helper, user = StaffFactory(), UserFactory(is_staff=True), UserFactory()
    with pytest.raises(PermissionDenied):
        bans.ban(user=superuser, by=superuser, reason="x")
    with pytest.raises(PermissionDenied):
        bans.ban(user=superuser, by=helper, reason="x")
    assert bans.ban(user=user, by=helper, reason="x").is_banned
    assert bans.ban(user=helper, by=superuser, reason="x").is_banned
    with pytest.raises(PermissionDenied):
        bans.lift(user=helper, by=UserFactory(is_staff=True), reason="x")
    assert not bans.lift(user=helper, by=superuser, reason="x").is_banned


def test_a_ban_that_fails_half_way_leaves_nothing(settings: Any) -> None:
    settings.RECEIVERS = {**settings.RECEIVERS, "user_banned": ["tests.admin.test_users.refuse"]}
    user = UserFactory()
    with pytest.raises(ZeroDivisionError):
        bans.ban(user=user, by=None, reason="x")
    user.refresh_from_db()
    assert not user.is_banned
    assert not AuditEvent.objects.exists()


def refuse(user: User) -> None:
    raise ZeroDivisionError


def test_an_operator_has_a_verified_address() -> None:
    operator = users.create_operator(username="Boss", email="Boss@Example.org", password="a long pass phrase")
    assert operator.is_superuser
    assert operator.is_staff
    assert EmailAddress.objects.values("user", "email", "verified", "primary").get() == {
        "user": operator.pk,
        "email": "boss@example.org",
        "verified": True,
        "primary": True,
    }
    assert operator.check_password("a long pass phrase")
    assert AuditEvent.objects.get().verb == "user:created"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"username": "admin"}, "username"),
        ({"username": "TAKEN"}, "username"),
        ({"username": "a b"}, "username"),
        ({"email": "nonsense"}, "email"),
        ({"email": '"boss"@example.org'}, "email"),
        ({"email": "taken@example.org"}, "email"),
        ({"password": "password"}, "password"),
    ],
)
def test_a_bad_operator_is_refused_by_field(arguments: dict[str, Any], field: str) -> None:
    UserFactory(username="Taken", email="taken@example.org")
    good: dict[str, Any] = {"username": "boss", "email": "boss@example.org", "password": "a long pass phrase"}
    with pytest.raises(ValidationError) as refusal:
        users.create_operator(**{**good, **arguments})
    assert list(refusal.value.message_dict) == [field]
    assert User.objects.count() == 1


def test_deleting_a_user_deletes_what_is_theirs_and_keeps_the_audit_trail() -> None:
    staff, user = StaffFactory(), UserFactory()
    app = ApplicationFactory(user=user)
    now = timezone.now()
    Approval.objects.create(user=staff, application=app, scopes=["openid"], created_at=now, updated_at=now)
    users.delete(user=user, by=staff, reason="Asked for it")
    assert not User.objects.filter(pk=user.pk).exists()
    assert not Approval.objects.exists()
    of_user, of_app = AuditEvent.objects.order_by("pk")
    assert (of_user.verb, of_user.object_name, of_user.data) == ("user:deleted", user.username, {"uid": user.uid})
    assert (of_app.verb, of_app.object_name) == ("application:deleted", app.name)


def test_staff_delete_neither_themselves_nor_their_betters() -> None:
    superuser, helper = StaffFactory(), UserFactory(is_staff=True)
    with pytest.raises(PermissionDenied):
        users.delete(user=superuser, by=superuser)
    with pytest.raises(PermissionDenied):
        users.delete(user=superuser, by=helper)


def test_a_reset_password_replaces_the_old_one_and_ends_sessions() -> None:
    user = UserFactory()
    sign_in(user)
    password = users.reset_password(user=user, by=StaffFactory(), reason="Lost")
    user.refresh_from_db()
    assert user.check_password(password)
    assert not Session.objects.exists()
    assert password not in str(list(AuditEvent.objects.values()))


def test_only_a_superuser_changes_rights() -> None:
    superuser, helper, user = StaffFactory(), UserFactory(is_staff=True), UserFactory()
    with pytest.raises(PermissionDenied):
        users.change(user=user, values={"is_superuser": True}, by=helper)
    with pytest.raises(ValueError, match="password"):
        users.change(user=user, values={"password": "x"}, by=superuser)
    users.change(user=user, values={"plan": "PREMIUM"}, by=helper)
    users.change(user=user, values={"is_staff": True, "username": "Renamed"}, by=superuser)
    user.refresh_from_db()
    assert (user.plan, user.is_staff, user.username) == ("PREMIUM", True, "Renamed")
    assert AuditEvent.objects.order_by("pk").last().data["changed"] == ["is_staff", "username"]  # type: ignore[union-attr]
