"""Staff without superuser rights hold nothing of other staff: no names, no keys, no apps, no scopes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.exceptions import PermissionDenied

from accounts import users
from accounts.api_keys import keys
from accounts.models import User
from oidc_provider.applications import applications
from tests.factories.accounts import ApiKeyFactory, StaffFactory, UserFactory
from tests.factories.oidc_provider import ApplicationFactory

pytestmark = pytest.mark.django_db

URLS = ["https://app.example.org/new"]
Act = Callable[[User, User], object]
ACTS: dict[str, Act] = {
    "issue a key": lambda owner, by: keys.issue(owner=owner, permissions=["account"], by=by),
    "enable a key": lambda owner, by: keys.enable(key=ApiKeyFactory(owner=owner, is_enabled=False), by=by),
    "register an app": lambda owner, by: applications.register(
        owner=owner, name="An app", redirect_urls=URLS, scopes=["openid"], by=by
    ),
    "reset a secret": lambda owner, by: applications.reset_secret(application=ApplicationFactory(user=owner), by=by),
    "change redirect URLs": lambda owner, by: applications.change_redirect_urls(
        application=ApplicationFactory(user=owner), redirect_urls=URLS, by=by
    ),
    "change scopes": lambda owner, by: applications.change_scopes(
        application=ApplicationFactory(user=owner), scopes=["openid"], by=by
    ),
    "change details": lambda owner, by: applications.change_details(
        application=ApplicationFactory(user=owner), name="Another", by=by
    ),
    "change a username": lambda owner, by: users.rename(user=owner, username=f"Renamed-{owner.uid}", by=by),
    "change a display name": lambda owner, by: users.set_display_name(user=owner, name="Countess", by=by),
}
STAFF_ACTS: dict[str, Act] = {
    "grant a permission": lambda owner, by: keys.grant_permission(
        key=ApiKeyFactory(owner=owner), permission="lookup:user", by=by
    ),
    "unlock a scope": lambda owner, by: applications.unlock_scope(owner=owner, scope="email", by=by, reason="Asked"),
}
EVERY_ACT = pytest.mark.parametrize("act", [*ACTS.values(), *STAFF_ACTS.values()], ids=[*ACTS, *STAFF_ACTS])


@EVERY_ACT
@pytest.mark.parametrize("is_superuser", [True, False])
def test_staff_may_not_do_it_to_other_staff(act: Act, is_superuser: bool) -> None:
    with pytest.raises(PermissionDenied):
        act(StaffFactory(is_superuser=is_superuser), StaffFactory(is_superuser=False))


@EVERY_ACT
def test_staff_may_do_it_for_users_and_superusers_for_all(act: Act) -> None:
    act(UserFactory(), StaffFactory(is_superuser=False))
    act(StaffFactory(is_superuser=True), StaffFactory(is_superuser=True))


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_everybody_may_do_it_for_themselves(act: Act) -> None:
    for person in (UserFactory(), StaffFactory(is_superuser=False)):
        act(person, person)


@pytest.mark.parametrize("act", STAFF_ACTS.values(), ids=STAFF_ACTS)
def test_staff_may_not_grant_themselves(act: Act) -> None:
    person = StaffFactory(is_superuser=False)
    with pytest.raises(PermissionDenied):
        act(person, person)
