"""Staff at the browser. pytest reads this file before Django is set up, so models are imported inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from accounts.models import User
    from tests.support.browser import Browser

SignIn = Callable[..., "Browser"]


@pytest.fixture
def sign_in(db: None) -> SignIn:
    """A browser of a member of staff with these permissions alone (whole names); `superuser=True`: with every one;
    `is_staff=False`: of somebody who is not staff."""
    from django.contrib.auth.models import Permission

    from tests.factories.accounts import UserFactory
    from tests.support.browser import Browser

    def sign_in(*permissions: str, superuser: bool = False, is_staff: bool = True) -> Browser:
        user = UserFactory(is_staff=is_staff, is_superuser=superuser)
        for name in permissions:
            app_label, codename = name.split(".")
            user.user_permissions.add(Permission.objects.get(content_type__app_label=app_label, codename=codename))
        browser = Browser()
        browser.client.force_login(user)
        return browser

    return sign_in


@pytest.fixture
def staff(sign_in: SignIn) -> Browser:
    """Of a superuser."""
    return sign_in(superuser=True)


@pytest.fixture
def superuser(staff: Browser) -> User:
    """Who sits at `staff`."""
    user = staff.user()
    assert user is not None
    return user
