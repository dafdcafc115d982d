"""One email for a sign-in from a browser that the account does not know, with a link that ends that session."""

from __future__ import annotations

import logging
import secrets
from datetime import timedelta
from importlib import import_module
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.core.internal import ratelimit
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from accounts import browser_sessions, notifications, users
from accounts.models import User
from accounts.sign_up import known_devices

logger = logging.getLogger(__name__)

LINK_LIFETIME = timedelta(seconds=settings.SESSION_COOKIE_AGE)
SIGN_IN = (
    "sign_in"  # session key: random, for the link. It stays when the session gets another key, as by a new password
)
_SALT = "accounts.new_browsers"


def tell(request: HttpRequest, user: User) -> None:
    """Send the email, unless the browser is known or the user wants none. No query."""
    if not user.mails_new_browsers or known_devices.knows(request, user):
        return
    request.session[SIGN_IN] = secrets.token_urlsafe(16)
    context = {
        "at": timezone.now(),
        "user_agent": request.headers.get("User-Agent", ""),
        "country": country_of(get_adapter(request).get_client_ip(request)),
        "token": signing.dumps([user.pk, request.session[SIGN_IN]], salt=_SALT),
    }
    notifications.send_after_commit(
        to=user, subject="New sign-in to your account", template="dashboard/letters/new_browser.txt", context=context
    )


def country_of(address: str) -> str:
    """Return the English name of the country of an IP address; empty where it is unknown or no database is configured.

    The file is opened for each email, so that a new one counts at once.
    """
    if not settings.COUNTRY_DATABASE:
        return ""
    import maxminddb  # where it is configured alone

    try:
        with maxminddb.open_database(settings.COUNTRY_DATABASE) as database:
            found: Any = database.get(address) or {}
        return str(found["country"]["names"]["en"])
    except (KeyError, TypeError):  # a network without a country
        return ""
    except (OSError, ValueError, maxminddb.InvalidDatabaseError):
        logger.exception("COUNTRY_DATABASE cannot be read.")
        return ""


@csrf_exempt  # the token in the address takes the place of a form's, and no cookie decides anything
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def end_session(request: HttpRequest, token: str) -> HttpResponse:
    """Ask on GET, end the session on POST: a mail program that opens links does not follow its form.

    It works without being signed in, and again when the session is ended already. Every browser of the user is new
    after it: the next sign-in of the one that it signs out is mailed again. A link that is wrong or too old gets one
    and the same page, 404.
    """
    template = "account/new_browser.html"
    if request.method == "POST":
        limited: HttpResponse | None = ratelimit.consume_or_429(
            request, app="allauth.account", action="end_new_session"
        )
        if limited is not None:
            return limited
    try:
        user_id, sign_in = signing.loads(token, salt=_SALT, max_age=LINK_LIFETIME)
    except signing.BadSignature:
        return render(request, template, {"is_refused": True}, status=404)
    if request.method != "POST":
        return render(request, template)
    _end(request, user_id, sign_in)
    return render(request, template, {"is_done": True})


@transaction.atomic
def _end(request: HttpRequest, user_id: str, sign_in: str) -> None:
    """End the user's session of that sign-in, if there is one. 2 queries, and a read for each session of the user."""
    User.objects.filter(pk=user_id).update(browser_generation=F("browser_generation") + 1)
    store = import_module(settings.SESSION_ENGINE).SessionStore
    for session in UserSession.objects.filter(user=user_id).select_related("user"):
        if store(session.session_key).get(SIGN_IN) == sign_in:
            users.end_session(session=session, by=session.user, by_mail=True)
            if session.session_key == request.session.session_key:
                browser_sessions.sign_out(request)
