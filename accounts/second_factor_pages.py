"""What we change in allauth's pages of second factors and passkeys: people keep the last one that they need, passkey
forms answer any input with a validation error, and a visitor who may sign in with a passkey stores no session."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.stages import LoginStageController
from allauth.account.views import PasswordSetView
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added
from allauth.mfa.totp.views import DeactivateTOTPView
from allauth.mfa.webauthn import forms as stock
from allauth.mfa.webauthn.internal import auth
from allauth.mfa.webauthn.stages import PasskeySignupStage
from allauth.mfa.webauthn.views import LoginWebAuthnView, RemoveWebAuthnView, SignupWebAuthnView
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.core.exceptions import ValidationError
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from accounts import rate_limits, second_factor, users
from accounts.models import User
from infrastructure import limits
from infrastructure.hashing import digest


class MFAAdapter(DefaultMFAAdapter):
    """Staff keep their last second factor."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "add_email_blocked": "Remove your second factor before you add an email address.",
        "cannot_delete_authenticator": second_factor.LAST_FACTOR,
        "cannot_generate_recovery_codes": "Add a passkey or an authenticator app before you make recovery codes.",
        "incorrect_code": "This code is wrong.",
        "unverified_email": "Confirm your email address before you add a second factor.",
    }

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        return not second_factor.reason_to_keep(authenticator)

    def generate_authenticator_name(self, user: User, type: Authenticator.Type) -> str:
        """Return the name that the form for a new key begins with."""
        return f"Key {Authenticator.objects.filter(user_id=user.pk, type=type).count() + 1}"


def one_at_a_time(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Return the view with its forms in a transaction that locks the user first: of two removals at the same time, the
    later one sees what the earlier one has left."""

    @wraps(view)
    def locked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method != "POST" or not request.user.is_authenticated:
            return view(request, *args, **kwargs)
        with transaction.atomic():
            users.lock(request.user.pk)
            return view(request, *args, **kwargs)

    return locked


class RemoveKeyView(RemoveWebAuthnView):
    """allauth's page asks the adapter only for an authenticator app, and not for a key."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """`args`, `kwargs`: of the URL."""
        if request.user.is_authenticated and (reason := second_factor.reason_to_keep(self.get_object())):
            messages.error(request, reason)
            return redirect("mfa_list_webauthn")
        response: HttpResponse = super().dispatch(request, *args, **kwargs)
        return response


remove_key = one_at_a_time(RemoveKeyView.as_view())
remove_app = one_at_a_time(DeactivateTOTPView.as_view())


@method_decorator(never_cache, name="dispatch")
class PasskeyLoginView(LoginWebAuthnView):
    """allauth keeps the challenge in the session, so that each visit would store one: a signed cookie keeps it here.
    A challenge is good for one attempt."""

    COOKIE = f"{settings.NARROW_COOKIE_PREFIX}passkey_challenge"
    LIFETIME = rate_limits.PASSKEY_CHALLENGES.window

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """`args`, `kwargs`: of the URL, here and below."""
        was_modified = request.session.modified
        response: HttpResponse = super().get(request, *args, **kwargs)
        state = request.session.pop(auth.STATE_SESSION_KEY, None)
        request.session.modified = was_modified
        if state is not None:
            response.set_cookie(
                self.COOKIE,
                signing.dumps(state, salt=self.COOKIE),
                max_age=self.LIFETIME,
                path=request.path,
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=True,
                samesite="Strict",
            )
        return response

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        state = self._unused_state(request)
        if state is not None:
            request.session[auth.STATE_SESSION_KEY] = state
        response: HttpResponse = super().post(request, *args, **kwargs)
        request.session.pop(auth.STATE_SESSION_KEY, None)  # allauth leaves it there after a wrong answer
        response.delete_cookie(self.COOKIE, path=request.path, samesite="Strict")
        return response

    def _unused_state(self, request: HttpRequest) -> dict[str, Any] | None:
        """Return the challenge of the cookie and use it up; None where it is missing, too old, changed or used."""
        try:
            state: dict[str, Any] = signing.loads(
                request.COOKIES.get(self.COOKIE, ""), salt=self.COOKIE, max_age=self.LIFETIME
            )
        except signing.BadSignature:
            return None
        return None if limits.take(rate_limits.PASSKEY_CHALLENGES.of(digest(state["challenge"]))) else state


login_with_passkey = PasskeyLoginView.as_view()


@method_decorator(never_cache, name="dispatch")
class PasskeySignupView(SignupWebAuthnView):
    """The last step of a sign-up by passkey, behind the code for the address. Its page names the waiting app.

    It ends once the account has another way in or is gone: whoever left the step and chose a password by a mailed link
    must not find a passkey of the browser that was left.
    """

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """`args`, `kwargs`: of the URL."""
        stage = LoginStageController.enter(request, PasskeySignupStage.key)
        if stage is not None and not _is_unfinished(stage.login.user):
            ended: HttpResponse = stage.abort()
            return ended
        response: HttpResponse = super().dispatch(request, *args, **kwargs)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), "next_path": self._login_stage.login.redirect_url}


def _is_unfinished(user: User | None) -> bool:
    """Return whether nobody can sign in to the account yet."""
    return user is not None and user.is_active and user.last_login is None and not user.has_usable_password()


sign_up_with_passkey = PasskeySignupView.as_view()
# allauth's asks for no reauthentication, as there is no old password: a passkey can be asked for.
set_password = login_required(reauthentication_required(PasswordSetView.as_view()))


@receiver(authenticator_added, dispatch_uid="accounts.second_factor_pages.note_set_up")
def note_set_up(request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    """`kwargs`: what allauth sends besides."""
    if authenticator.type in second_factor.FACTORS:
        second_factor.note_set_up(request, user)


class CredentialField(forms.JSONField):
    """JSON that is nested without end is refused like every other broken one."""

    widget = forms.HiddenInput

    def to_python(self, value: Any) -> Any:
        """`value`: what the form received; JSON has no type."""
        try:
            return super().to_python(value)
        except RecursionError:
            raise ValidationError(self.error_messages["invalid"], code="invalid", params={"value": "..."}) from None


class AddForm(stock.AddWebAuthnForm):
    credential = CredentialField()
    passwordless = forms.BooleanField(
        label="Make it a passkey",
        required=False,
        help_text="You sign in with it instead of your password. Your device then asks for your fingerprint, your face "
        "or a PIN.",
    )


class AuthenticateForm(stock.AuthenticateWebAuthnForm):
    credential = CredentialField()


class LoginForm(stock.LoginWebAuthnForm):
    credential = CredentialField()


class SignupForm(stock.SignupWebAuthnForm):
    credential = CredentialField()


class ReauthenticateForm(stock.ReauthenticateWebAuthnForm):
    credential = CredentialField()
