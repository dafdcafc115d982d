"""The consent page: what an app asks for, with the values that it would get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from accounts.models import User
from infrastructure.requests import content_security
from oidc_provider import redirects
from oidc_provider.applications.scopes import LOCKED_SCOPES, SCOPES
from oidc_provider.models import Application, Approval, PendingRequest
from oidc_provider.token import token_queries

COUNTED_USERS = 10_000  # of more, which take long to count, the template says that there are more


@dataclass(frozen=True)
class Permission:
    """One line of the page. `values`: names and values of the claims that the app would read."""

    label: str
    description: str
    is_new: bool
    values: list[tuple[str, str]]


def response(request: HttpRequest, pending: PendingRequest, user: User) -> HttpResponse:
    """Return the consent page. Its Content-Security-Policy allows the form's redirect to this app."""
    application = pending.application
    approved = Approval.objects.filter(user=user, application=application).values_list("scopes", flat=True).first()
    context = context_of(
        application,
        scopes=pending.scopes,
        redirect_uri=pending.redirect_uri,
        user=user,
        user_count=Approval.objects.filter(application=application)[: COUNTED_USERS + 1].count(),
        approved=approved or [],
    )
    context |= {"logo_url": logo_url(application), "pending_id": pending.pk}
    return _page(request, "oidc_provider/consent.html", pending, context)


def account_response(request: HttpRequest, pending: PendingRequest) -> HttpResponse:
    """Return the page that asks whether to continue with the signed-in account; its policy as above."""
    context = {"application": pending.application, "logo_url": logo_url(pending.application), "pending_id": pending.pk}
    return _page(request, "oidc_provider/select_account.html", pending, context)


def _page(request: HttpRequest, template: str, pending: PendingRequest, context: dict[str, Any]) -> HttpResponse:
    page = render(request, template, context)
    page.headers[content_security.HEADER] = content_security.header(redirects.form_action(pending.redirect_uri))
    return page


def context_of(
    application: Application,
    *,
    scopes: list[str],
    redirect_uri: str,
    user: User,
    user_count: int,
    approved: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what the page shows of a request. `approved`: the scopes that `user` allowed before. 1 query.

    For a preview `application` may be unsaved and `redirect_uri` empty. `scopes` are known ones.
    """
    host, is_device = redirects.destination(redirect_uri) if redirect_uri else ("", False)
    subject = token_queries.read_subject(user.pk)
    permissions = [
        Permission(
            label=SCOPES[name].label,
            description=SCOPES[name].description,
            is_new=name not in approved,
            values=_values(subject.claims([name]), SCOPES[name].claims),
        )
        for name in scopes
    ]
    return {
        "application": application,
        "destination_host": host,
        "destination_is_device": is_device,
        "warns_locked": not application.is_verified and any(name in LOCKED_SCOPES for name in scopes),
        "user_count": user_count,
        "permissions": permissions,
        "has_approved_before": bool(approved),
    }


def _values(shared: dict[str, Any], names: tuple[str, ...]) -> list[tuple[str, str]]:
    values = []
    for name in names:
        value = shared.get(name)
        if isinstance(value, list):
            value = ", ".join(f"{account['type']}: {account['name']}" for account in value) or "none linked"
        if isinstance(value, bool):
            value = "yes" if value else "no"
        if value is not None:
            values.append((name, str(value)))
    return values


def logo_url(application: Application) -> str:
    """Return the URL of the logo, or the empty string."""
    return reverse("application_logo", args=[application.client_id]) if hasattr(application, "logo") else ""
