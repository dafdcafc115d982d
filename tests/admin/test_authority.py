"""Staff without superuser rights change no names and no apps of other staff, by whichever door they come."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.exceptions import PermissionDenied

from accounts import users
from accounts.models import User
from oidc_provider.applications import applications
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.oidc_provider import ApplicationFactory

pytestmark = pytest.mark.django_db

URLS = ["https://app.example.org/new"]
Act = Callable[[User, User], object]
ACTS: dict[str, Act] = {
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
EVERY_ACT = pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)


@EVERY_ACT
@pytest.mark.parametrize("is_superuser", [True, False])
def test_staff_may_not_do_it_to_other_staff(act: Act, is_superuser: bool) -> None:
    with pytest.raises(PermissionDenied):
        act(StaffFactory(is_superuser=is_superuser), StaffFactory(is_superuser=False))


@EVERY_ACT
def test_staff_may_do_it_for_users_and_superusers_for_all(act: Act) -> None:
    act(UserFactory(), StaffFactory(is_superuser=False))
    act(StaffFactory(is_superuser=True), StaffFactory(is_superuser=True))


@EVERY_ACT
def test_everybody_may_do_it_for_themselves(act: Act) -> None:
    for person in (UserFactory(), StaffFactory(is_superuser=False)):
        act(person, person)
