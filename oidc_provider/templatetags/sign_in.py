"""What the account pages show of the app that waits for a sign-in."""

from __future__ import annotations

from dataclasses import dataclass

from django import template
from django.urls import Resolver404, resolve
from django.utils import timezone

from oidc_provider.authorize import consent_page
from oidc_provider.models import Application, PendingRequest

register = template.Library()


@dataclass(frozen=True)
class WaitingApp:
    """The app of an open authorization request."""

    application: Application
    logo_url: str


@register.simple_tag
def waiting_app(next_path: str | None) -> WaitingApp | None:
    """Return the app to which the account page leads back, or None. 1 query where `next_path` is a consent page."""
    try:
        match = resolve((next_path or "").partition("?")[0])
    except Resolver404:
        return None
    if match.url_name != "consent":
        return None
    pending = PendingRequest.objects.with_app().filter(pk=match.kwargs["pending_id"]).first()
    if pending is None or not pending.is_open(timezone.now()):
        return None
    return WaitingApp(pending.application, consent_page.logo_url(pending.application))
