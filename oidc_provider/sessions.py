"""Reads who sits at the browser, and sends them to log in, from the sessions that allauth keeps."""

from __future__ import annotations

from datetime import UTC, datetime

from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from accounts.content_security import WAITING_FORM_ACTIONS
from accounts.models import User
from accounts.signup import LOGIN_HINT
from oidc_provider import redirects
from oidc_provider.flows import Visitor
from oidc_provider.models import PendingRequest

MAX_WAITING = 5  # tabs that sign in at the same time


def visitor_of(request: HttpRequest) -> Visitor | None:
    """The signed-in person and the last time that they proved who they are; a factor used later counts too."""
    if not isinstance(request.user, User):
        return None
    times = [float(record["at"]) for record in get_authentication_records(request, request.user) if "at" in record]
    if times:
        return Visitor(request.user, datetime.fromtimestamp(max(times), UTC))
    return Visitor(request.user, request.user.last_login or request.user.created_at)


def remember_waiting(request: HttpRequest, pending: PendingRequest, login_hint: str) -> None:
    """Let the account pages redirect to the waiting app, and fill the login field.

    A visitor who has no session yet gets one that outlives the request by little; a login makes it a usual one.
    """
    if request.session.is_empty():
        request.session.set_expiry(2 * settings.AUTHORIZATION_REQUEST_LIFETIME)
    place = redirects.form_action(pending.redirect_uri)
    others = [known for known in request.session.get(WAITING_FORM_ACTIONS, []) if known != place]
    request.session[WAITING_FORM_ACTIONS] = [*others, place][-MAX_WAITING:]
    if login_hint or LOGIN_HINT in request.session:
        request.session[LOGIN_HINT] = login_hint  # of this app, not of one before it


def forget_waiting(request: HttpRequest) -> None:
    """The person is on the way back to the app."""
    for name in (WAITING_FORM_ACTIONS, LOGIN_HINT):
        if name in request.session:
            del request.session[name]


def login_url(pending: PendingRequest) -> str:
    return _with_next("account_login", pending)


def reauthentication_url(request: HttpRequest, pending: PendingRequest) -> str:
    """Where a signed-in person proves again who they are. Who has neither password nor second factor signs in anew."""
    if get_adapter().get_reauthentication_methods(request.user):
        return _with_next("account_reauthenticate", pending)
    return switch_account(request, pending)


def switch_account(request: HttpRequest, pending: PendingRequest) -> str:
    """Sign the person out, keep the request waiting; the login page that leads back to it."""
    logout(request)
    remember_waiting(request, pending, "")
    return login_url(pending)


def _with_next(name: str, pending: PendingRequest) -> str:
    return f"{reverse(name)}?{urlencode({'next': reverse('consent', args=[pending.pk])})}"
