"""Which profile the editor works on: the main one, or an alias's own, whose id is then in the path."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from accounts.http import SignedInRequest
from accounts.models import User
from dashboard import access
from infrastructure.requests import content_security
from lookup.editing.uploads import MAX_VIDEO, MIB
from lookup.models import Profile

MAX_BODY = MAX_VIDEO + 2 * MIB  # of a form: the largest file and the typed text

P = ParamSpec("P")
ProfilePage = Callable[Concatenate[SignedInRequest, Profile, P], HttpResponseBase]


def of_profile(view: ProfilePage[P], *, is_main: bool = False) -> Callable[..., HttpResponseBase]:
    """Return a page behind login, whose second argument is the profile of the path. 1 query.

    404 for profiles of other users, and where a row is missing. A form with a Content-Length above MAX_BODY is refused
    before the CSRF check, which reads the whole form with its files. `is_main`: only the main profile has the page.
    """

    @csrf_protect
    @functools.wraps(view)
    def edited(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        profile_id = str(kwargs.pop("profile_id", ""))
        wanted = {"pk": profile_id, "is_main": False} if profile_id else {"is_main": True}
        try:
            return view(request, get_object_or_404(_profiles_of(request.user), **wanted), *args, **kwargs)
        except ObjectDoesNotExist:  # no such row, or deleted at the same time
            raise Http404 from None

    @csrf_exempt
    @functools.wraps(view)
    def bounded(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if is_main and "profile_id" in kwargs:
            raise Http404
        length = request.META.get("CONTENT_LENGTH", "")  # Django reads no body without one
        is_number = length.isascii() and length.isdigit()
        if request.method == "POST" and is_number and int(length[:20]) > MAX_BODY:
            messages.error(request, f"A form may have at most {MAX_BODY // MIB} MB with its files. Nothing was saved.")
            return redirect(request.path)
        response: HttpResponseBase = edited(request, *args, **kwargs)
        return response

    return access.signed_in(bounded)


def of_main_profile(view: ProfilePage[P]) -> Callable[..., HttpResponseBase]:
    """Return a page of the user's main profile, as `of_profile`."""
    return of_profile(view, is_main=True)


def page(
    request: SignedInRequest, profile: Profile, template: str, title: str, *, policy: str = "", **context: object
) -> HttpResponse:
    """Return a page of the editor. `policy`: its Content-Security-Policy, where that differs from other pages'."""
    frame = {"profile": profile, "page_title": title}
    response = render(request, f"dashboard/{template}.html", {**frame, **context})
    if policy:
        response.headers[content_security.HEADER] = policy
    return response


def profiles_of(user: User) -> list[Profile]:
    """Return the user's profiles that can be edited: the main one, then the profiles of aliases by name. 1 query."""
    return list(_profiles_of(user).order_by("-is_main", "alias__name", "pk"))


def url_of(profile: Profile, name: str, /, **kwargs: Any) -> str:
    """Return the page `name` of the editor for this profile; `kwargs`: the other arguments of its URL."""
    return reverse(name, kwargs={**path_of(profile), **kwargs})


def path_of(profile: Profile) -> dict[str, str]:
    """Return the arguments by which URLs name the profile."""
    return {} if profile.is_main else {"profile_id": profile.pk}


def _profiles_of(user: User) -> QuerySet[Profile]:
    """Return profiles with user and alias, except of deleted aliases, because no page shows these."""
    return Profile.objects.filter(user=user).select_related("user", "alias__name").exclude(is_main=False, alias=None)
