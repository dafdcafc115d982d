"""Forms for a new password, which offer to end the access that apps and API keys have."""

from __future__ import annotations

from typing import Any

from allauth.account import forms as stock
from django import forms
from django.db import transaction

from accounts import credentials


class _EndingAccess(forms.Form):
    """A part of a form with `user`, the owner of the password."""

    user: Any
    ends_access = forms.BooleanField(
        label="Also end the access of apps and API keys",
        required=False,
        help_text="Apps have to ask you to sign in again, and your API keys stop working permanently. "
        "Choose this if another person may know your password.",
    )

    @transaction.atomic
    def save(self) -> None:
        super().save()  # type: ignore[misc]  # of the form that this is a part of
        if self.cleaned_data["ends_access"]:
            credentials.end_access(user=self.user, by=self.user)


class ChangePasswordForm(_EndingAccess, stock.ChangePasswordForm):
    pass


class SetPasswordForm(_EndingAccess, stock.SetPasswordForm):
    pass


class ResetPasswordKeyForm(_EndingAccess, stock.ResetPasswordKeyForm):
    pass
