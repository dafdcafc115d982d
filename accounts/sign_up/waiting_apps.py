"""The apps that wait for a sign-in in this browser, and what the account pages have to know of them.

A signed cookie holds it, so that a visitor stores no session, and so that the answer to an app's POST from another
site, which browsers send without the person's session, does not replace that session.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

COOKIE = f"{settings.COOKIE_PREFIX}waiting_apps"
MAX_APPS = 5  # tabs that sign in concurrently


@dataclass(frozen=True)
class WaitingApps:
    """`form_actions`: Content-Security-Policy sources of the apps' redirect URLs; `login_hint`: that of the newest."""

    form_actions: tuple[str, ...] = ()
    login_hint: str = ""


def of(request: HttpRequest) -> WaitingApps:
    """Return the apps that the cookie names; none where it is missing, too old or changed."""
    try:
        form_actions, login_hint = signing.loads(
            request.COOKIES.get(COOKIE, ""), salt=COOKIE, max_age=settings.AUTHORIZATION_REQUEST_LIFETIME
        )
    except signing.BadSignature:
        return WaitingApps()
    return WaitingApps(tuple(form_actions), login_hint)


def add(request: HttpRequest, response: HttpResponse, *, form_action: str, login_hint: str) -> None:
    """Name one more app in the cookie; its hint, or none, replaces the earlier one."""
    kept = [known for known in of(request).form_actions if known != form_action]
    response.set_cookie(
        COOKIE,
        signing.dumps([[*kept, form_action][-MAX_APPS:], login_hint], salt=COOKIE, compress=True),
        max_age=settings.AUTHORIZATION_REQUEST_LIFETIME,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def forget(request: HttpRequest, response: HttpResponse) -> None:
    """Drop the cookie, if there is one."""
    if COOKIE in request.COOKIES:
        response.delete_cookie(COOKIE, samesite="Lax")
