"""Begins the linking of a chat account, and takes the answer."""

from __future__ import annotations

from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from accounts.chat_provider.provider import ChatOAuth2Adapter
from accounts.linking import link_flow
from accounts.linking.link_flow import CHAT
from accounts.linking.social_adapter import PROVIDER

_take = OAuth2CallbackView.adapter_view(ChatOAuth2Adapter)


@never_cache
@require_http_methods(["GET", "POST"])
def oauth2_login(request: HttpRequest) -> HttpResponse:
    """Begin the linking on POST. GET, where a login in between leads to, goes back to the page."""
    if not request.user.is_authenticated:
        return link_flow.end(request, link_flow.SIGN_IN_FIRST, CHAT)
    if request.method == "GET":
        return redirect(link_flow.PAGE)
    return link_flow.begin(request, CHAT, _leave)


@never_cache
@require_GET
def oauth2_callback(request: HttpRequest) -> HttpResponse:
    """Receive people from the platform, with a code or an error."""
    if not request.user.is_authenticated or CHAT not in link_flow.authorize_urls():
        return link_flow.end(request, link_flow.NOT_SET_UP, CHAT)
    response: HttpResponse = _take(request)
    return response


def _leave(request: HttpRequest) -> HttpResponse:
    provider = get_adapter(request).get_provider(request, PROVIDER)
    response: HttpResponse = provider.redirect(request, AuthProcess.CONNECT)
    return response
