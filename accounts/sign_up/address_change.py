"""Another address for a sign-up whose code does not come.

It looks alike whether the first address, or the next one, has an account: allauth makes no account for a sign-up
with a known address, so such a sign-up keeps its username and password hash in the session, and becomes an account as
soon as its address is changed to a new one. The hash of a sign-up by passkey is one that no password has.
"""

from __future__ import annotations

from copy import deepcopy
from http import HTTPStatus
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import ChangeEmailForm
from allauth.account.internal.flows.email_verification_by_code import (
    EMAIL_VERIFICATION_CODE_SESSION_KEY,
    EmailVerificationProcess,
)
from allauth.account.internal.flows.manage_email import email_already_exists
from allauth.account.internal.flows.signup import complete_signup
from allauth.account.internal.userkit import did_user_login
from allauth.account.models import EmailAddress
from allauth.account.stages import EmailVerificationStage, LoginStageController
from allauth.account.utils import get_next_redirect_url, passthrough_next_redirect_url, setup_user_email
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal import ratelimit
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from accounts.models import User
from accounts.models.names import validate_available

MAX_CHANGES = 2
_SIGN_UP = "sign_up"  # key of allauth's state: username and password hash of a sign-up without an account
_CARRIED = ("at", "failed_attempts", "resend_count", "change_count")
_TAKEN = "Your username has been taken in the meantime. Please sign up again with another one."


class _NewAddressForm(ChangeEmailForm):
    """An address of the sign-up's own `user` is free: after a typing error one may return to it."""

    def __init__(self, *args: Any, user: User | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user = user

    def clean_email(self) -> str:
        email: str = get_adapter().clean_email(super().clean_email())
        _, self.account_already_exists = email_already_exists(email, user=self._user)
        return email


def remember(request: HttpRequest, username: str, password_hash: str) -> None:
    """Keep a sign-up with a known address next to its pending confirmation, which has no user."""
    state = request.session.get(EMAIL_VERIFICATION_CODE_SESSION_KEY)
    if state and not state.get("user_id"):
        state[_SIGN_UP] = {"username": username, "password": password_hash}
        request.session.modified = True


def pending(request: HttpRequest) -> EmailVerificationProcess | None:
    """Return the confirmation of this visitor's sign-up, if its address may still be changed. At most 1 query."""
    if request.user.is_authenticated:
        return None
    stage = LoginStageController.enter(request, EmailVerificationStage.key)
    process = EmailVerificationProcess.resume(request)
    if process is None or process.is_change_quota_reached(MAX_CHANGES):
        return None
    if _SIGN_UP in process.state:
        return process
    return process if stage and process.user is not None and not did_user_login(process.user) else None


@never_cache
def change(request: HttpRequest) -> HttpResponse:
    """Ask for the new address, and mail a new code there; the earlier code is void."""
    process = pending(request)
    code_page = passthrough_next_redirect_url(request, reverse("account_email_verification_sent"), "next")
    if process is None:
        return redirect(code_page)
    form = _NewAddressForm(request.POST if request.method == "POST" else None, email=process.email, user=process.user)
    form.fields["email"].label = "New email address"
    if request.method == "POST":
        too_many: HttpResponse | None = ratelimit.consume_or_429(request, app="allauth.account", action="signup")
        if too_many is not None:
            return too_many
        if form.is_valid() and _is_changed(request, process, form):
            return redirect(code_page)
    next_url = get_next_redirect_url(request)
    context = {"form": form, "email": process.email, "code_page": code_page, "next_url": next_url}
    return render(request, "account/change_sign_up_address.html", context)


def _is_changed(request: HttpRequest, process: EmailVerificationProcess, form: Any) -> bool:
    """Return whether it changed. False: the username of the sign-up is no longer free, and the form says so."""
    email, is_known = form.cleaned_data["email"], form.account_already_exists
    try:
        with transaction.atomic():  # the answer to too many mails undoes it
            if _SIGN_UP in process.state and not is_known:
                _sign_up(request, process.state, email)
            else:
                process.change_to(email, is_known)
    except (IntegrityError, ValidationError):
        form.add_error(None, _TAKEN)
        return False
    return True


def _sign_up(request: HttpRequest, state: dict[str, Any], email: str) -> None:
    """Make the account, as the form of the sign-up would have.

    ValidationError, IntegrityError: its name is taken. ImmediateHttpResponse: 429, too many mails to the address; the
    session is as before.
    """
    before = deepcopy(dict(request.session.items()))
    kept = {name: state[name] for name in _CARRIED}
    validate_available(state[_SIGN_UP]["username"])
    user = get_adapter(request).new_user(request)
    user.username, user.email, user.password = state[_SIGN_UP]["username"], email, state[_SIGN_UP]["password"]
    user.save()
    setup_user_email(request, user, [EmailAddress(email=email)])
    next_url, by_passkey = get_next_redirect_url(request), not user.has_usable_password()
    response = complete_signup(request, user=user, redirect_url=next_url, by_passkey=by_passkey)
    if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:  # allauth returns it here, and raises it in change_to
        request.session.clear()
        request.session.update(before)
        raise ImmediateHttpResponse(response)
    new_state = request.session[EMAIL_VERIFICATION_CODE_SESSION_KEY]
    new_state.update(kept, change_count=kept["change_count"] + 1)
    request.session.modified = True
