"""allauth's passkey forms, for input that no passkey ever sends."""

from typing import Any

from allauth.mfa.webauthn import forms as stock
from django import forms
from django.core.exceptions import ValidationError


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
