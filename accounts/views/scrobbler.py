"""Begins the linking of a scrobbler account, and takes the answer."""

from __future__ import annotations

from allauth.utils import build_absolute_uri
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from accounts import link_flow, scrobbler
from accounts.link_flow import SCROBBLER
from accounts.scrobbler import Refused


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def link(request: HttpRequest) -> HttpResponse:
    """GET is where a login in between leads to: back to the page, nothing is done."""
    if request.method == "GET":
        return redirect(link_flow.PAGE)
    return link_flow.begin(request, SCROBBLER, _leave)


@never_cache
@require_GET
def callback(request: HttpRequest, state: str) -> HttpResponse:
    """The service sends people here, with a token. The state stands in the path: the service adds a query."""
    if not request.user.is_authenticated or SCROBBLER not in link_flow.authorize_urls():
        return link_flow.end(request, link_flow.NOT_SET_UP, SCROBBLER)
    if not scrobbler.take(request.session, state):
        return link_flow.end(request, link_flow.ASKED_TOO_LATE, SCROBBLER)
    try:
        identity = scrobbler.identity_of(request.GET.get("token", ""))
    except Refused as refusal:
        return link_flow.end(request, str(refusal), SCROBBLER)
    return link_flow.finish(request, SCROBBLER, identity)


def _leave(request: HttpRequest) -> HttpResponse:
    state = scrobbler.begin(request.session)
    callback_url = build_absolute_uri(request, reverse("scrobbler_callback", args=[state]))
    return redirect(scrobbler.authorize_url(callback_url))
