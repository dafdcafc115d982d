"""The pages of a person who is invited: the link of the email, the invitation, the answer.

The token of the link is a secret. It is in the first address alone, which redirects at once: its digest goes to the
session, where the page looks for it. Such a session is that of a visitor, too, and outlives sign-up and login.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.http import SignedInRequest
from dashboard import access
from dashboard.teams import actions, queries
from infrastructure.requests.errors import sentences
from oidc_provider.applications import invitations
from oidc_provider.models import Invitation

OPENED = "invitations"  # session key: digests of the tokens whose links were opened, by invitation
MOST_OPENED = 20  # of one session


@never_cache
@require_safe
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Redirect to the page of the invitation. 404, with a page of its own, for a token that is wrong or used up."""
    invitation = invitations.find(token)
    if invitation is None:
        return _unlinked(_over(request))
    opened = [*request.session.get(OPENED, {}).items(), (str(invitation.pk), invitation.digest)]
    request.session[OPENED] = dict(opened[-MOST_OPENED:])
    if not request.user.is_authenticated:
        messages.info(request, "Sign in or create an account. Then you can answer the invitation.")
    return _unlinked(redirect("invitation", invitation.pk))


@access.signed_in
@require_safe
def page(request: SignedInRequest, invitation_id: int) -> HttpResponse:
    """Show the invitation. 404 for those that the reader may not answer. 2 queries plus the session's."""
    invitation = _found(request, invitation_id)
    if invitation is None:
        return _over(request)
    shown = queries.ShownInvitation.of(invitation)
    context = {
        "invitation": shown,
        "effects": queries.effects_of(invitation),
        "is_own_address": _is_for(request, invitation),
    }
    return render(request, "dashboard/teams/invitation.html", context)


@access.signed_in
@access.form_page
def accept(request: SignedInRequest, invitation_id: int) -> HttpResponse:
    """Accept. GET, where a login in between leads to, goes back to the page."""
    return _answer(request, invitation_id, actions.accept)


@access.signed_in
@access.form_page
def decline(request: SignedInRequest, invitation_id: int) -> HttpResponse:
    """Decline. GET as for `accept`."""
    return _answer(request, invitation_id, actions.decline)


def _answer(request: SignedInRequest, invitation_id: int, act: Callable[..., str]) -> HttpResponse:
    """Carry out `act`, which returns a sentence for the next page."""
    if request.method != "POST":
        return redirect("invitation", invitation_id)
    invitation = _found(request, invitation_id)
    if invitation is None:
        return _over(request)
    try:
        done = act(invitation=invitation, by=request.user)
    except ValidationError as error:
        messages.error(request, sentences(error))
        return redirect("invitation", invitation_id)
    messages.success(request, done)
    return redirect("applications" if invitation.application_id and act is actions.accept else "teams")


def _found(request: SignedInRequest, invitation_id: int) -> Invitation | None:
    """Return the open invitation where the reader has opened its link or confirmed its address. 1 or 2 queries."""
    invitation = queries.invitation_of(invitation_id, timezone.now())
    if invitation is None:
        return None
    digest = request.session.get(OPENED, {}).get(str(invitation.pk), "")
    if secrets.compare_digest(digest, invitation.digest) or _is_for(request, invitation):
        return invitation
    return None


def _is_for(request: SignedInRequest, invitation: Invitation) -> bool:
    """Return whether the address of the invitation is a confirmed one of the reader. 1 query."""
    return queries.addresses_of(request.user).filter(email=invitation.email).exists()


def _over(request: HttpRequest) -> HttpResponse:
    """Return one and the same page for an invitation that is answered, withdrawn, expired, or another person's."""
    return render(request, "dashboard/teams/over.html", status=404)


def _unlinked(response: HttpResponse) -> HttpResponse:
    """Add headers that keep the secret address out of referrers and search engines."""
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response
