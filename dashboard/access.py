"""Access: one function for each kind of object, always starting from its owner, so that all else is 404."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec

from allauth.account.decorators import reauthentication_required
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.http import SignedInRequest
from accounts.models import ApiKey, User
from dashboard.models import AccessRequest
from oidc_provider.models import Application

P = ParamSpec("P")
form_page = require_http_methods(["GET", "HEAD", "POST"])
Page = Callable[Concatenate[SignedInRequest, P], HttpResponseBase]
Guarded = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def signed_in(view: Page[P]) -> Guarded[P]:
    """A page of one's own: login first, and no cache keeps it."""
    guarded: Guarded[P] = never_cache(login_required(view))  # type: ignore[assignment]  # login makes sure of the user
    return guarded


def recently_signed_in(view: Page[P]) -> Guarded[P]:
    """As `signed_in`, with a login or reauthentication within the last 5 minutes, which is asked for otherwise.

    A POST is kept and answered after that, so the URL must have no query.
    """
    asked = reauthentication_required(view)
    guarded: Guarded[P] = never_cache(login_required(asked))
    return guarded


def for_staff(*permissions: str) -> Callable[[Page[P]], Guarded[P]]:
    """As `signed_in`, for members of staff with any of `permissions` (whole names); 403 for all others."""

    def decorate(view: Page[P]) -> Guarded[P]:
        def checked(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not may(request.user, *permissions):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return signed_in(checked)

    return decorate


def may(user: User, *permissions: str) -> bool:
    """Whether the person is staff and has any of `permissions`."""
    return user.is_staff and any(user.has_perm(name) for name in permissions)


def application_of(request: SignedInRequest, client_id: str) -> Application:
    """An app of one's own, with whether it has a logo but without the picture. 1 query."""
    held = request.user.applications.select_related("user", "logo").defer("logo__png")
    return get_object_or_404(held, client_id=client_id)


def key_of(request: SignedInRequest, prefix: str) -> ApiKey:
    """An API key of one's own. 1 query."""
    return get_object_or_404(request.user.api_keys.select_related("owner"), prefix=prefix)


def request_of(request: SignedInRequest, pk: int) -> AccessRequest:
    """A request to staff of one's own. 1 query."""
    return get_object_or_404(request.user.access_requests.select_related("user", "key"), pk=pk)
