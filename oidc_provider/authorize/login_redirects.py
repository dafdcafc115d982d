"""Reads the signed-in user from allauth's session, and redirects to its login pages."""

from __future__ import annotations

from datetime import UTC, datetime

from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode

from accounts.models import User
from accounts.sign_up import waiting_apps
from oidc_provider import redirects
from oidc_provider.authorize.flows import Visitor
from oidc_provider.models import PendingRequest


def visitor_of(request: HttpRequest) -> Visitor | None:
    """Return the signed-in user with the time of the last authentication, second factors included; else None."""
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
    """Return the reauthentication page, or the login page for a user without password and second factor."""
    if get_adapter().get_reauthentication_methods(request.user):
        return _with_next("account_reauthenticate", pending)
    return switch_account(request, pending)


def switch_account(request: HttpRequest, pending: PendingRequest) -> str:
    """Log the user out and return the login page, which leads back to the waiting request."""
    logout(request)
    return login_url(pending)


def _with_next(name: str, pending: PendingRequest) -> str:
    return f"{reverse(name)}?{urlencode({'next': reverse('consent', args=[pending.pk])})}"
