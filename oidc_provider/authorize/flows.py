"""Decides what the user does between an app's authorization request and the code.

It knows no pages; views map each step to one.
"""

from __future__ import annotations

import contextlib
import enum
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode, urlsplit, urlunsplit

from django.conf import settings
from oauth2_provider.settings import oauth2_settings

from accounts.models import User
from infrastructure.hashing import digest, new_secret
from oidc_provider import logouts
from oidc_provider.applications.scopes import in_order, parse
from oidc_provider.authorize import approvals
from oidc_provider.client_requests import Parameters
from oidc_provider.errors import APP_DISABLED, ErrorPage, ErrorRedirect
from oidc_provider.models import Application, Approval, Grant, PendingRequest
from oidc_provider.token import signing


class AlreadyAnswered(Exception):
    """The waiting request was answered before: by Allow, Cancel, a kept approval or an error."""


class Step(enum.Enum):
    """The user's next step."""

    LOG_IN = enum.auto()
    CHOOSE_ACCOUNT = enum.auto()
    REAUTHENTICATE = enum.auto()
    CONSENT = enum.auto()
    FINISH = enum.auto()


@dataclass(frozen=True)
class Visitor:
    """The signed-in user of the browser, and the time of the last authentication.

    `name_session`: returns the name of the browser session, made where it has none.
    """

    user: User
    authenticated_at: datetime
    name_session: Callable[[], str]


def response_url(redirect_uri: str, **parameters: str) -> str:
    """Add `parameters` and `iss` (RFC 9207) to the query of the app's redirect URL."""
    parts = urlsplit(redirect_uri)
    added = urlencode({**parameters, "iss": settings.BASE_URL})
    return urlunsplit(parts._replace(query=f"{parts.query}&{added}" if parts.query else added))


def error_url(error: ErrorRedirect) -> str:
    """Return the app's redirect URL with the error; an empty state is left out."""
    state = {"state": error.state} if error.state else {}
    return response_url(error.redirect_uri, error=error.error, error_description=error.description, **state)


def draft(application: Application, query: Parameters, now: datetime) -> PendingRequest:
    """Return a validated request as an unsaved row: most requests are answered at once.

    ErrorRedirect: the id_token_hint was not signed by this service.
    """
    prompt, max_age = query.get("prompt").split(), query.get("max_age")
    bounds = [now] if "login" in prompt else []
    if max_age:
        bounds.append(now - timedelta(seconds=int(max_age)))
    pending = PendingRequest(
        id=secrets.token_urlsafe(32),
        application=application,
        redirect_uri=query.get("redirect_uri"),
        scopes=in_order(parse(query.get("scope"))),
        state=query.get("state"),
        nonce=query.get("nonce"),
        code_challenge=query.get("code_challenge"),
        asks_consent="consent" in prompt,
        asks_account="select_account" in prompt,
        must_authenticate_after=max(bounds, default=None),
        created_at=now,
    )
    if hint := query.get("id_token_hint"):
        hinted = signing.verified_claims(hint)
        if hinted is None:
            raise _error(pending, "invalid_request", "The id_token_hint is not one of ours.")
        pending.expected_user_id = str(hinted.get("sub", ""))
    return pending


def check_registration(pending: PendingRequest) -> None:
    """Check a waiting request against the app as it is now. ErrorPage, or ErrorRedirect(invalid_scope)."""
    if not pending.application.is_usable():
        raise ErrorPage(*APP_DISABLED)
    if not pending.application.redirect_uri_allowed(pending.redirect_uri):
        raise ErrorPage("invalid_redirect", 400, "The app no longer uses the return address that it named.")
    if not set(pending.scopes) <= set(pending.application.registered_scopes):
        raise _error(pending, "invalid_scope", "The app has not registered one of these scopes.")


def next_step(pending: PendingRequest, visitor: Visitor | None) -> Step:
    """Return the user's next step. ErrorRedirect(login_required): the app's hint names another user. 0 or 1 query."""
    if visitor is None:
        return Step.LOG_IN
    if pending.asks_account and visitor.authenticated_at <= pending.created_at:
        return Step.CHOOSE_ACCOUNT
    if pending.must_authenticate_after and visitor.authenticated_at < pending.must_authenticate_after:
        return Step.REAUTHENTICATE
    if pending.expected_user_id and pending.expected_user_id != visitor.user.pk:
        raise _error(pending, "login_required", "Another person is signed in than the id_token_hint names.")
    if pending.asks_consent:
        return Step.CONSENT
    approval = Approval.objects.filter(user=visitor.user, application=pending.application).first()
    return Step.FINISH if approval and approval.covers(pending.scopes) else Step.CONSENT


def refuse_interaction(pending: PendingRequest, step: Step) -> None:
    """`prompt=none`: raise ErrorRedirect for every step but FINISH."""
    if step is Step.CONSENT:
        raise _error(pending, "consent_required", "The user has not approved these scopes yet.")
    if step is not Step.FINISH:
        raise _error(pending, "login_required", "The user has to sign in.")


def keep_account(pending: PendingRequest) -> None:
    """Record that the user confirmed the signed-in account. 1 query."""
    PendingRequest.objects.filter(pk=pending.pk).update(asks_account=False)


def use_up(pending: PendingRequest, now: datetime) -> None:
    """Mark a waiting request as answered. AlreadyAnswered: another answer was first. 1 query."""
    if not PendingRequest.objects.filter(pk=pending.pk, answered_at=None).update(answered_at=now):
        raise AlreadyAnswered


def finish(pending: PendingRequest, visitor: Visitor, now: datetime) -> str:
    """Issue a code and return the app's redirect URL with it. 1 query, and 1 more for an app with a logout URL."""
    code = new_secret()
    Grant.objects.create(
        code=digest(code),
        user=visitor.user,
        application=pending.application,
        redirect_uri=pending.redirect_uri,
        scope=" ".join(pending.scopes),
        nonce=pending.nonce,
        code_challenge=pending.code_challenge,
        code_challenge_method="S256",
        auth_time=int(visitor.authenticated_at.timestamp()),
        sid=_sid_of(pending, visitor, now),
        expires=now + timedelta(seconds=oauth2_settings.AUTHORIZATION_CODE_EXPIRE_SECONDS),
    )
    return response_url(pending.redirect_uri, code=code, state=pending.state)


def _sid_of(pending: PendingRequest, visitor: Visitor, now: datetime) -> str:
    """Return the `sid` of this browser session at the app; empty where no id_token will carry it."""
    application = pending.application
    if not application.backchannel_logout_uri or "openid" not in pending.scopes:
        return ""
    return logouts.open_session(user=visitor.user, application=application, session=visitor.name_session(), now=now)


def allow(pending: PendingRequest, visitor: Visitor, now: datetime) -> str:
    """Allow: mark the request as answered, store the approval, then finish. AlreadyAnswered."""
    use_up(pending, now)
    approvals.approve(
        user=visitor.user,
        application=pending.application,
        scopes=pending.scopes,
        now=now,
        has_webhooks=getattr(pending, "has_webhooks", True),  # of `with_app`
    )
    return finish(pending, visitor, now)


def refusal(pending: PendingRequest) -> ErrorRedirect:
    """The error for Cancel, and for a late return to the app."""
    return _error(pending, "access_denied", "The user did not allow the app to sign them in.")


def return_url(pending: PendingRequest) -> str:
    """Return the app's redirect URL with `access_denied`; empty if the app may no longer use that URL."""
    with contextlib.suppress(ErrorRedirect):
        try:
            check_registration(pending)
        except ErrorPage:
            return ""
    return error_url(refusal(pending))


def _error(pending: PendingRequest, error: str, description: str) -> ErrorRedirect:
    return ErrorRedirect(pending.redirect_uri, error, description, pending.state)
