"""The page of linked accounts; linking a scrobbler account, and unlinking either kind."""

from __future__ import annotations

from dataclasses import dataclass

from allauth.account.decorators import reauthentication_required
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_safe

from accounts.http import SignedInRequest
from accounts.linking import account_links, link_flow, scrobbler
from accounts.linking.link_flow import CHAT, NAMES, SCROBBLER
from accounts.linking.scrobbler import Refused
from accounts.models import LinkedAccount
from infrastructure.requests import content_security

SLUGS = {"chat": CHAT, "scrobbler": SCROBBLER}
_LINK = {CHAT: "chat_login", SCROBBLER: "scrobbler_link"}
_ABOUT = {
    CHAT: "Your profile can show your current activity and your picture there.",
    SCROBBLER: "Your profile can show what you listen to.",
}


@dataclass(frozen=True)
class Place:
    """One kind on the page. `link_url`: empty where it is not set up. `account`: what is linked."""

    slug: str
    name: str
    about: str
    link_url: str
    account: LinkedAccount | None


@never_cache
@login_required
@require_safe
def linked_accounts(request: SignedInRequest) -> HttpResponse:
    """Show the linked accounts. 1 query besides the session's. The policy lets Link buttons lead to the services."""
    linked = {account.kind: account for account in request.user.linked_accounts.order_by("pk")}
    urls = link_flow.authorize_urls()
    places = [
        Place(slug, NAMES[kind], _ABOUT[kind], reverse(_LINK[kind]) if kind in urls else "", linked.get(kind))
        for slug, kind in SLUGS.items()
    ]
    page = render(request, "socialaccount/connections.html", {"places": places})
    page.headers[content_security.HEADER] = content_security.header(*map(content_security.origin_of, urls.values()))
    return page


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def unlink(request: SignedInRequest, slug: str) -> HttpResponse:
    """Unlink on POST. GET, where a login in between leads to, goes back to the page."""
    if slug not in SLUGS:
        raise Http404
    if request.method == "GET":
        return redirect(link_flow.PAGE)
    response: HttpResponse = _unlink(request, SLUGS[slug])
    return response


@reauthentication_required(app="allauth.socialaccount")  # type: ignore[untyped-decorator]  # allauth gives it no type
def _unlink(request: SignedInRequest, kind: LinkedAccount.Kind) -> HttpResponse:
    account_links.unlink(user=request.user, kind=kind, by=request.user)
    messages.success(request, f"Your {NAMES[kind]} account is no longer linked.")
    return redirect(link_flow.PAGE)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def link_scrobbler(request: HttpRequest) -> HttpResponse:
    """Begin the linking on POST. GET, where a login in between leads to, goes back to the page."""
    if request.method == "GET":
        return redirect(link_flow.PAGE)
    return link_flow.begin(request, SCROBBLER, _to_scrobbler)


@never_cache
@require_GET
def scrobbler_callback(request: HttpRequest, state: str) -> HttpResponse:
    """Receive people from the service, with a token. The state is in the path, since the service adds a query."""
    if not request.user.is_authenticated or SCROBBLER not in link_flow.authorize_urls():
        return link_flow.end(request, link_flow.NOT_SET_UP, SCROBBLER)
    if not scrobbler.take(request.session, state):
        return link_flow.end(request, link_flow.ASKED_TOO_LATE, SCROBBLER)
    try:
        identity = scrobbler.identity_of(request.GET.get("token", ""))
    except Refused as refusal:
        return link_flow.end(request, str(refusal), SCROBBLER)
    return link_flow.finish(request, SCROBBLER, identity)


def _to_scrobbler(request: HttpRequest) -> HttpResponse:
    state = scrobbler.begin(request.session)
    callback_url = f"{settings.BASE_URL}{reverse('scrobbler_callback', args=[state])}"
    return redirect(scrobbler.authorize_url(callback_url))
