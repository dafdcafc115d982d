"""What allauth asks of us at sign-up and login."""

import functools
import time
from typing import Any

from allauth.account import app_settings
from allauth.account import forms as stock_forms
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.views import SignupView as StockSignupView
from allauth.core import context
from allauth.core.internal import ratelimit
from django import forms
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from prometheus_client import Counter

from accounts import browser_sessions, hooks, mail, notifications
from accounts.credentials import (
    EMAIL_CLAIMS,
    authenticated_at,
    end_access,
    find_user,
    note_failure,
    remove_lost_passkeys,
)
from accounts.models.names import NAME_RULE, validate_available
from accounts.models.users import username_validator
from accounts.sign_up import address_change, known_devices, new_browsers, passwords, waiting_apps
from infrastructure.requests import request_context

username_validators = [username_validator]

VISITORS_MAILS = {  # which a visitor can cause for any address
    "account/email/account_already_exists",
    "account/email/email_confirmation",
    "account/email/email_confirmation_signup",
    "account/email/password_reset_key",
    "account/email/unknown_account",
}
LINKS_AND_CODES = {"activate_url", "code", "password_reset_url", "signup_url"}  # what allauth's emails have of ours
WAYS = {
    "mfa_reauthenticate": "Use your authenticator app or a recovery code",
    "mfa_reauthenticate:webauthn": "Use your passkey or security key",
}
SIGN_INS = Counter("hearth_sign_ins", "Signed in, signed up, and passwords refused.", ("outcome",))


class AccountAdapter(DefaultAccountAdapter):
    """One namespace for names, our own view of the client's address, and errors in our words."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "cannot_remove_primary_email": "Make another address primary before you remove this one.",
        "duplicate_email": "Your account has this email address already.",
        "email_password_mismatch": "The email address or the password is wrong.",
        "email_taken": "Another account has this email address.",
        "enter_current_password": "This is not your current password.",
        "incorrect_code": "This code is wrong.",
        "incorrect_password": "This password is wrong.",
        "invalid_or_expired_key": "This link has expired or was used before.",
        "invalid_password_reset": "This link has expired or was used before.",
        "max_email_addresses": "An account can have at most %d email addresses.",
        "rate_limited": "Too many requests. Try again later.",
        "too_many_login_attempts": "Too many failed sign-ins. Try again later.",
        "unknown_email": "No account has this email address.",
        "unverified_primary_email": "Confirm this email address before you make it primary.",
        "username_password_mismatch": "The username or the password is wrong.",
    }

    def clean_username(self, username: str, shallow: bool = False) -> str:  # noqa: FBT001, FBT002 - allauth calls it so
        """Check the name. `shallow`: only its characters; else also usernames, aliases and reserved words."""
        for validator in username_validators:
            validator(username)
        if not shallow:
            validate_available(username)
        return username

    def clean_email(self, email: str) -> str:
        """Check the spelling, on each form alike: the answer tells nothing about accounts."""
        mail.check_spelling(email)
        return email

    @transaction.atomic
    def confirm_email(self, request: HttpRequest, email_address: Any) -> bool:
        """Confirm the address. Where it is the one of the account now, call the receivers of `claims_changed`."""
        before = email_address.user.email
        is_confirmed: bool = super().confirm_email(request, email_address)
        if is_confirmed and email_address.user.email == email_address.email:
            changed = {"email_verified"} if before == email_address.email else EMAIL_CLAIMS
            hooks.claims_changed({email_address.user.pk: changed})
        return is_confirmed

    def send_notification_mail(self, template_prefix: str, user: Any, *args: Any, **kwargs: Any) -> None:
        """Send allauth's notice after the commit: no lock waits for the mail server. The change of which it tells
        stands, so a notice that cannot be sent is logged."""
        send = functools.partial(super().send_notification_mail, template_prefix, user, *args, **kwargs)
        transaction.on_commit(functools.partial(notifications.log_failure, send))

    def clean_password(self, password: str, user: Any = None) -> str:
        """Check the password, and return it as it was typed: forms compare it with its repetition."""
        passwords.check(password, user)
        return password

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send an email through `accounts.mail`. Everything but VISITORS_MAILS is a notice."""
        marked = {name: mail.ours(context[name]) for name in LINKS_AND_CODES & context.keys()}
        names = {"request": self.request, "email": email, "base_url": mail.ours(settings.BASE_URL)}
        message = self.render_mail(template_prefix, email, {**names, **context, **marked})
        mail.send(message, is_notice=template_prefix not in VISITORS_MAILS)

    def is_safe_url(self, url: str | None) -> bool:
        """Return allauth's answer; False for an address that cannot be read, where allauth's would raise."""
        try:
            return bool(super().is_safe_url(url))
        except ValueError:
            return False

    def post_login(self, request: HttpRequest, user: Any, *, signup: bool, **kwargs: Any) -> HttpResponse:
        """Remember the browser; the first time there, tell the user. `kwargs`: allauth's, here and below."""
        SIGN_INS.labels("signed_up" if signup else "signed_in").inc()
        response: HttpResponse = super().post_login(request, user, signup=signup, **kwargs)
        if not signup:
            new_browsers.tell(request, user)
        known_devices.remember(request, response, user)
        return response

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count wrong passwords by name and network and, where the device is not known, by name; allauth takes both
        back after the right one."""
        super().pre_authenticate(request, **credentials)
        login = _login_of(credentials)
        if known_devices.key_for(request, login):
            return
        by_name = ratelimit.consume(request, app="allauth.account", action="login_failed_anywhere", key=login.lower())
        if not by_name:
            self._rollback_login_failed_rl_usage()
            raise self.validation_error("too_many_login_attempts")
        self._login_failed_rl_usage.usage += by_name.usage

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Return the name, with the known device or else the network that it is typed in."""
        login = _login_of(credentials)
        address = self.get_client_ip(request)
        place = known_devices.key_for(request, login) or request_context.network_of(address) or address
        return f"{login.lower()} {place}"

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        SIGN_INS.labels("refused").inc()
        note_failure(find_user(credentials), method="password")

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Return False just after a login or a sign-up, which prove the password."""
        if not super().is_reauthentication_required(app=app, **kwargs):
            return False
        proved_at = authenticated_at(self.request, self.request.user)
        return bool(time.time() - proved_at >= app_settings.REAUTHENTICATION_TIMEOUT)

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Return allauth's list of ways to prove that it is still the user, in our words."""
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        return [{**method, "description": WAYS.get(method["id"], method["description"])} for method in methods]

    def reauthenticate(self, user: Any, password: str) -> bool:
        """Check the password once, by username: allauth would check it by email address again."""
        proved = self.authenticate(self.request, username=user.username, password=password)
        return proved is not None and proved.pk == user.pk

    def logout(self, request: HttpRequest) -> None:
        browser_sessions.sign_out(request)

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address; of IPv6 the first one of its /64, since sessions are written with an address."""
        return (request_context.address_of(request.META) or "").partition("/")[0]


def _login_of(credentials: dict[str, Any]) -> str:
    """Return the name or the address of a login."""
    return str(credentials.get("email") or credentials.get("username") or "")


class LoginForm(stock_forms.LoginForm):
    """The login form, filled with the `login_hint` of the app that sent the person here."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        hint = waiting_apps.of(self.request).login_hint if self.request else ""
        if hint:
            self.initial.setdefault("login", hint)
        self.fields["login"].widget.attrs["autocomplete"] = "username webauthn"
        # SQLite cannot compare longer ones; no name and no address is that long.
        self.fields["login"].validators.append(MaxLengthValidator(254))

    def user_credentials(self) -> dict[str, str]:
        """Return only the email for an address: no username has an "@", and each credential costs a password hash."""
        credentials: dict[str, str] = super().user_credentials()
        if "email" in credentials:
            del credentials["username"]
        return credentials


class SignupView(StockSignupView):
    """Sign-up, where two people may ask for one name concurrently. `by_passkey`: it asks for no password, and a passkey
    is made once the address is confirmed."""

    by_passkey = False

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "by_passkey": self.by_passkey}

    def get_form(self, form_class: Any = None) -> Any:
        """Return the form, which says what a username may hold before one is refused."""
        form = super().get_form(form_class)
        form.fields["username"].help_text = f"{NAME_RULE}. It is the address of your page."
        return form

    def form_valid(self, form: Any) -> HttpResponse:
        cleaned, is_known = form.cleaned_data, form.account_already_exists
        # A known address is answered like a fresh one, so it must take as long. Of None: what no password opens.
        password_hash = make_password(cleaned.get("password1")) if is_known else ""
        try:
            with transaction.atomic():
                response: HttpResponse = super().form_valid(form)
                if is_known:
                    address_change.remember(self.request, cleaned["username"], password_hash)
                return response
        except IntegrityError:
            try:
                validate_available(form.cleaned_data["username"])
            except ValidationError as taken:
                form.add_error("username", taken)
                refused: HttpResponse = self.form_invalid(form)
                return refused
            raise


class _EndingAccess(forms.Form):
    """A part of a form for a new password with `user`, its owner: it offers to end the access of apps and API keys.

    A new password ends every session but the one of the form, where `keeps_session`.
    """

    keeps_session = True
    user: Any
    password1 = stock_forms.SetPasswordField(label="New password")
    password2 = stock_forms.PasswordField(label="New password (again)", autocomplete="new-password")
    ends_access = forms.BooleanField(
        label="Also end the access of apps and API keys",
        required=False,
        help_text="Apps have to ask you to sign in again, and your API keys stop working permanently. "
        "Choose this if another person may know your password.",
    )

    @transaction.atomic
    def save(self) -> None:
        super().save()  # type: ignore[misc]  # of the form that this is a part of
        request = context.request if self.keeps_session else None
        browser_sessions.all_ended(self.user, kept=browser_sessions.name_of(request.session) if request else "")
        if self.cleaned_data["ends_access"]:
            end_access(user=self.user, by=self.user)


class ChangePasswordForm(_EndingAccess, stock_forms.ChangePasswordForm):
    oldpassword = stock_forms.PasswordField(
        show_reset_help=True, label="Current password", autocomplete="current-password"
    )


class SetPasswordForm(_EndingAccess, stock_forms.SetPasswordForm):
    pass


class ResetPasswordKeyForm(_EndingAccess, stock_forms.ResetPasswordKeyForm):
    keeps_session = False

    @transaction.atomic
    def save(self) -> None:
        is_first = not self.user.has_usable_password()
        super().save()
        if is_first:
            remove_lost_passkeys(self.user)
