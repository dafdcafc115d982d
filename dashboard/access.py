"""Access to pages and objects: one function for each kind of object, which starts from its owner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec
from urllib.parse import urlencode

from allauth.account.decorators import reauthentication_required
from allauth.core.exceptions import ReauthenticationRequired
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import second_factor
from accounts.http import SignedInRequest
from accounts.models import ApiKey, User
from dashboard.models import AccessRequest
from oidc_provider.applications import roles
from oidc_provider.models import Application, Role, Team, TeamMember

P = ParamSpec("P")
form_page = require_http_methods(["GET", "HEAD", "POST"])
Page = Callable[Concatenate[SignedInRequest, P], HttpResponseBase]
Download = Callable[Concatenate[SignedInRequest, P], HttpResponse]
Guarded = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


class RoleTooLow(PermissionDenied):
    """A member of a team opens a page that their role does not allow. `name` and `url`: of the app or team, whose own
    page they may see."""

    def __init__(self, role: Role, *, name: str, url: str) -> None:
        super().__init__(roles.TOO_LOW[role])
        self.name, self.url = name, url


def signed_in(view: Page[P]) -> Guarded[P]:
    """Return a page that needs a login and is never cached."""
    guarded: Guarded[P] = never_cache(login_required(view))  # type: ignore[assignment]  # the login check sets the user
    return guarded


def recently_signed_in(view: Page[P]) -> Guarded[P]:
    """Return a page that needs a login or reauthentication within the last 5 minutes, and is never cached.

    A POST is kept and answered after the reauthentication, so the URL must have no query.
    """
    asked = reauthentication_required(view)
    guarded: Guarded[P] = never_cache(login_required(asked))
    return guarded


def recently_signed_in_at(page: str) -> Callable[[Download[P]], Download[P]]:
    """Return a view behind login that needs a login or reauthentication as `recently_signed_in`. After that the user is
    at `page`: behind a download that answers the kept POST, the browser would still show the form for the password."""

    def decorate(view: Download[P]) -> Download[P]:
        asked: Download[P] = reauthentication_required(view)

        def checked(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            try:
                return asked(request, *args, **kwargs)
            except ReauthenticationRequired:
                query = urlencode({REDIRECT_FIELD_NAME: reverse(page)})
                return redirect(f"{reverse('account_reauthenticate')}?{query}")

        return checked

    return decorate


def for_staff(*permissions: str) -> Callable[[Page[P]], Guarded[P]]:
    """Return a page for members of staff with any of `permissions` (whole names); 403 for all other users. 1 query plus
    the session's and the permissions'."""

    def decorate(view: Page[P]) -> Guarded[P]:
        def checked(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not may(request.user, *permissions):
                raise PermissionDenied
            return to_second_factor(request) or view(request, *args, **kwargs)

        return signed_in(checked)

    return decorate


def may(user: User, *permissions: str) -> bool:
    """Return whether the person is staff and has any of `permissions`."""
    return user.is_staff and any(user.has_perm(name) for name in permissions)


def to_second_factor(request: SignedInRequest) -> HttpResponseBase | None:
    """Redirect staff who must first set up or use their second factor; None: they may go on.

    Leaves `request.second_factor` for the banner. 1 query.
    """
    standing = second_factor.standing_of(request, request.user, timezone.now())
    if standing.may_pass:
        request.second_factor = standing
        return None
    url = reverse("staff_second_factor")
    if request.method in {"GET", "HEAD"}:
        url = f"{url}?{urlencode({REDIRECT_FIELD_NAME: request.get_full_path()})}"
    return redirect(url)


def application_of(request: SignedInRequest, client_id: str, role: Role) -> Application:
    """Return an app of the user or of one of their teams, with its logo row but without the picture. 1 query.

    RoleTooLow where the user's role is too low, 404 for all who are no members.
    """
    held = roles.readable_by(request.user).select_related("user", "team", "logo").defer("logo__png")
    application = get_object_or_404(held, client_id=client_id)
    if not roles.allows(application, role):
        raise RoleTooLow(role, name=application.name, url=reverse("application", args=[client_id]))
    return application


def membership_of(request: SignedInRequest, team_id: int) -> TeamMember:
    """Return the user's membership of the team, with the team. 1 query."""
    return get_object_or_404(request.user.team_memberships.select_related("team", "user"), team=team_id)


def member_of(team: Team, member_id: int) -> TeamMember:
    """Return a member of the team, with the user. 1 query."""
    return get_object_or_404(team.members.select_related("team", "user"), pk=member_id)


def key_of(request: SignedInRequest, prefix: str) -> ApiKey:
    """Return the user's API key. 1 query."""
    return get_object_or_404(request.user.api_keys.select_related("owner"), prefix=prefix)


def request_of(request: SignedInRequest, pk: int) -> AccessRequest:
    """Return the user's request to staff. 1 query."""
    return get_object_or_404(request.user.access_requests.select_related("user", "key"), pk=pk)
