"""Each page, message and email of allauth that a user can reach is in our words."""

from __future__ import annotations

from pathlib import Path

import allauth
import pytest
from allauth.account.adapter import get_adapter
from django.conf import settings

from tests.dashboard.signing_in import browser_of
from tests.factories.accounts import PASSWORD, UserFactory
from tests.support import second_factors

STOCK, OURS = Path(str(allauth.__file__)).parent / "templates", settings.BASE_DIR / "templates"
# What our settings turn off, and what already says what we would.
NOT_OURS = {
    *("account/base_confirm_code.html", "account/confirm_login_code.html", "account/request_login_code.html"),
    *("account/messages/login_code_sent.txt", "account/email/login_code_message.txt"),
    *("account/email/login_code_subject.txt", "account/confirm_password_reset_code.html"),
    *("account/email/password_reset_code_message.txt", "account/email/password_reset_code_subject.txt"),
    *("account/confirm_phone_verification_code.html", "account/messages/phone_verification_sent.txt"),
    *("account/messages/phone_verified.txt", "account/email_confirm.html", "account/verification_sent.html"),
    *("account/verified_email_required.html", "account/signup_closed.html", "account/signup_by_passkey.html"),
    *("account/email_change.html", "account/phone_change.html"),
    *("mfa/trust.html", "mfa/webauthn/signup_form.html"),
    *("account/messages/logged_out.txt", "usersessions/messages/sessions_logged_out.txt"),
}


def test_each_text_of_the_library_is_ours_or_out_of_reach() -> None:
    paths = [path for app in ("account", "mfa", "usersessions") for path in (STOCK / app).rglob("*.*")]
    words = {str(path.relative_to(STOCK)) for path in paths if "trans" in path.read_text()}
    assert {path for path in words if not (OURS / path).exists()} - NOT_OURS == set()


@pytest.mark.django_db
def test_a_passkey_is_called_one_where_it_is_added_and_asked_for() -> None:
    user = UserFactory(username="Ada")
    second_factors.Passkey(user)
    descriptions = [method["description"] for method in get_adapter().get_reauthentication_methods(user)]
    assert descriptions == ["Use your password", "Use your passkey or security key"]
    browser = browser_of(user, password_age=301)
    assert "Use your passkey or security key" in browser.open("/accounts/2fa/webauthn/reauthenticate/").text
    page = browser.open("/accounts/2fa/webauthn/add/").submit(password=PASSWORD).text
    assert "Make it a passkey You sign in with it instead of your password." in page
    assert "passwordless operation" not in page
