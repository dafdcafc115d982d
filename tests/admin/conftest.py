"""Staff at the browser. pytest reads this file before Django is set up, so models are imported inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from django.test import Client

if TYPE_CHECKING:
    from accounts.models import User


@pytest.fixture
def staff(db: None) -> User:
    from tests.factories.accounts import StaffFactory

    return StaffFactory()


@pytest.fixture
def browser(client: Client, staff: User) -> Client:
    """Signed in as `staff`, who may do everything."""
    client.force_login(staff)
    return client


@pytest.fixture
def helper_with(db: None) -> Callable[..., Client]:
    """A browser signed in as a member of staff with these rights alone, as `app_label.codename`."""
    from django.contrib.auth.models import Permission

    from tests.factories.accounts import UserFactory

    def sign_in(*rights: str) -> Client:
        helper = UserFactory(is_staff=True)
        for right in rights:
            app_label, codename = right.split(".")
            helper.user_permissions.add(Permission.objects.get(content_type__app_label=app_label, codename=codename))
        client = Client()
        client.force_login(helper)
        return client

    return sign_in
