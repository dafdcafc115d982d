"""Reads who sits at the browser, and sends them to log in, from the sessions that allauth keeps."""

from __future__ import annotations

from datetime import UTC, datetime

from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode

from accounts import waiting_apps
from accounts.models import User
from oidc_provider import redirects
from oidc_provider.authorize.flows import Visitor
from oidc_provider.models import PendingRequest


def visitor_of(request: HttpRequest) -> Visitor | None:
    """The signed-in person and the last time that they proved who they are; a factor used later counts too."""
    if not isinstance(request.user, User):
        return None
    times = [float(record["at"]) for record in get_authentication_records(request, request.user) if "at" in record]
    if times:
        return Visitor(request.user, datetime.fromtimestamp(max(times), UTC))
    return Visitor(request.user, request.user.last_login or request.user.created_at)


def remember_waiting(request: HttpRequest, response: HttpResponse, pending: PendingRequest, login_hint: str) -> None:
    """Let the account pages redirect to the waiting app, and fill the login field."""
    place = redirects.form_action(pending.redirect_uri)
    waiting_apps.add(request, response, form_action=place, login_hint=login_hint)


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
    return login_url(pending)


def _with_next(name: str, pending: PendingRequest) -> str:
    return f"{reverse(name)}?{urlencode({'next': reverse('consent', args=[pending.pk])})}"
