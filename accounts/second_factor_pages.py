"""What we change in allauth's pages of second factors and passkeys: staff keep their last second factor, and passkey
forms answer any input with a validation error."""

from __future__ import annotations

from typing import Any

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added
from allauth.mfa.webauthn import forms as stock
from allauth.mfa.webauthn.views import RemoveWebAuthnView
from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts import second_factor
from accounts.models import User

LAST_ONE = "Staff need a second factor. Add another one before you remove this one."


class MFAAdapter(DefaultMFAAdapter):
    """Staff keep their last second factor."""

    error_messages = {**DefaultMFAAdapter.error_messages, "cannot_delete_authenticator": LAST_ONE}

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        return second_factor.may_remove(authenticator)


class RemoveKeyView(RemoveWebAuthnView):
    """allauth's page asks the adapter for an authenticator app alone, and not for a key."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """`args`, `kwargs`: of the URL."""
        if request.user.is_authenticated and not second_factor.may_remove(self.get_object()):
            messages.error(request, LAST_ONE)
            return redirect("mfa_list_webauthn")
        response: HttpResponse = super().dispatch(request, *args, **kwargs)
        return response


remove_key = RemoveKeyView.as_view()


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


class AuthenticateForm(stock.AuthenticateWebAuthnForm):
    credential = CredentialField()


class LoginForm(stock.LoginWebAuthnForm):
    credential = CredentialField()


class ReauthenticateForm(stock.ReauthenticateWebAuthnForm):
    credential = CredentialField()
