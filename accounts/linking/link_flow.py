"""Link an outside account of any kind: begin, finish, fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from allauth.account.decorators import reauthentication_required
from allauth.core.exceptions import ReauthenticationRequired
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.linking import account_links
from accounts.models import LinkedAccount
from infrastructure.requests.content_security import WAITING_FORM_ACTIONS, origin_of

PAGE = "socialaccount_connections"  # the page of linked accounts, under the name that allauth gives it
CHAT, SCROBBLER = LinkedAccount.Kind.CHAT, LinkedAccount.Kind.SCROBBLER
SECONDS = 5.0  # that a service has for each of its answers; a person is waiting
NAMES = {CHAT: "chat platform", SCROBBLER: "music scrobbler"}

SIGN_IN_FIRST = "Accounts of other services are for linking, not for signing in. Sign in to your account first."
NOT_SET_UP = "Accounts of the {} cannot be linked here."
NOT_ALLOWED = "You did not allow it at the {}. Nothing was changed."
NOT_ANSWERING = "The {} does not respond correctly at the moment. Nothing was changed; try again later."
ASKED_TOO_LATE = "This took too long, or was started in another browser. Nothing was changed; try again."


@dataclass(frozen=True)
class Identity:
    """An outside account, as its service names it, validated for our columns."""

    external_id: str
    name: str
    avatar_url: str = ""


def authorize_urls() -> dict[str, str]:
    """Return where people allow the linking, by kind; a kind that is not set up is left out."""
    found = {}
    if settings.CHAT.oauth_client_id:
        found[CHAT.value] = settings.CHAT.oauth_authorize_url
    if settings.SCROBBLER.api_key:
        found[SCROBBLER.value] = settings.SCROBBLER.authorize_url
    return found


def begin(request: HttpRequest, kind: str, leave: Callable[[HttpRequest], HttpResponse]) -> HttpResponse:
    """Answer the Link button by `leave`, which redirects to the service, once the person has confirmed who they are.

    ReauthenticationRequired: allauth asks for the password and then answers the button. Browsers hold that redirect
    against the policy of the password's page, so the service's origin is kept in the session until then.
    """
    url = authorize_urls().get(kind)
    if url is None:
        return end(request, NOT_SET_UP, kind)
    waiting = request.session.get(WAITING_FORM_ACTIONS, [])
    place = origin_of(url)
    try:
        response: HttpResponse = reauthentication_required(leave, app="allauth.socialaccount")(request)
    except ReauthenticationRequired:
        if place not in waiting:
            request.session[WAITING_FORM_ACTIONS] = [*waiting, place]
        raise
    if place in waiting:
        request.session[WAITING_FORM_ACTIONS] = [known for known in waiting if known != place]
    return response


def finish(request: HttpRequest, kind: str, identity: Identity) -> HttpResponse:
    """Link the account that came back. Return the page of linked accounts, saying how that ended."""
    user = request.user
    if not user.is_authenticated:
        return end(request, ASKED_TOO_LATE, kind)
    try:
        linked = account_links.link(
            user=user,
            kind=kind,
            external_id=identity.external_id,
            name=identity.name,
            avatar_url=identity.avatar_url,
            by=user,
        )
    except ValidationError as refusal:
        return end(request, " ".join(refusal.messages), kind)
    messages.success(request, f"Your {NAMES[LinkedAccount.Kind(kind)]} account {linked.name} is linked.")
    return redirect(PAGE)


def end(request: HttpRequest, text: str, kind: str) -> HttpResponse:
    """Show `text`, in which `{}` is the kind's name, after a failed linking. Visitors are asked to sign in, at an
    address without what the service sent along."""
    if not request.user.is_authenticated:
        messages.error(request, SIGN_IN_FIRST)
        return redirect(settings.LOGIN_URL)
    messages.error(request, text.format(NAMES[LinkedAccount.Kind(kind)]))
    return redirect(PAGE)
