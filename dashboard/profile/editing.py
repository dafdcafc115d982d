"""Which profile the editor works on: the main one, or an alias's own, whose id is then in the path."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import QuerySet
from django.http import Http404
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from accounts.http import SignedInRequest
from accounts.models import User
from lookup.editing.uploads import MAX_VIDEO, MIB
from lookup.models import Profile

MAX_BODY = MAX_VIDEO + 2 * MIB  # of a form: the largest file and the typed text

P = ParamSpec("P")
Page = Callable[Concatenate[SignedInRequest, P], HttpResponseBase]
ProfilePage = Callable[Concatenate[SignedInRequest, Profile, P], HttpResponseBase]


def of_profile(view: ProfilePage[P]) -> Page[P]:
    """Pass the profile of the path to the view as its second argument; 404 for profiles of other users, and where
    a row is missing. 1 query.

    A form with a Content-Length above MAX_BODY is refused unread.
    """

    @functools.wraps(view)
    def edited(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        profile_id = str(kwargs.pop("profile_id", ""))
        try:
            return view(request, _profile_of(request.user, profile_id), *args, **kwargs)
        except ObjectDoesNotExist:  # no such row, or deleted at the same time
            raise Http404 from None

    return _of_bounded_size(edited)


def of_main_profile(view: ProfilePage[P]) -> Page[P]:
    """Pass the user's main profile to the view, as `of_profile`, for pages that only it has."""

    of_any = of_profile(view)

    @functools.wraps(of_any)  # the CSRF check is inside
    def edited(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if "profile_id" in kwargs:
            raise Http404
        return of_any(request, *args, **kwargs)

    return edited


def profiles_of(user: User) -> list[Profile]:
    """Return the user's profiles that can be edited: the main one, then the profiles of aliases by name. 1 query."""
    return list(_profiles_of(user).order_by("-is_main", "alias__name", "pk"))


def url_of(profile: Profile, name: str, /, **kwargs: Any) -> str:
    """Return the page `name` of the editor for this profile; `kwargs`: the other arguments of its URL."""
    return reverse(name, kwargs={**path_of(profile), **kwargs})


def path_of(profile: Profile) -> dict[str, str]:
    """Return the arguments by which URLs name the profile."""
    return {} if profile.is_main else {"profile_id": profile.pk}


def _of_bounded_size(view: Page[P]) -> Page[P]:
    """Check the size before the CSRF token, because that check reads the whole form with its files."""
    checked: Page[P] = csrf_protect(view)

    @csrf_exempt
    @functools.wraps(view)
    def bounded(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if request.method == "POST" and _announced(request) > MAX_BODY:
            messages.error(request, f"A form may have at most {MAX_BODY // MIB} MB with its files. Nothing was saved.")
            return redirect(request.path)
        return checked(request, *args, **kwargs)

    return bounded


def _announced(request: SignedInRequest) -> int:
    """Return the Content-Length; Django reads no body without one."""
    length = request.META.get("CONTENT_LENGTH", "")
    return int(length[:20]) if length.isascii() and length.isdigit() else 0


def _profile_of(user: User, profile_id: str) -> Profile:
    wanted = {"pk": profile_id, "is_main": False} if profile_id else {"is_main": True}
    return get_object_or_404(_profiles_of(user), **wanted)


def _profiles_of(user: User) -> QuerySet[Profile]:
    """Return profiles with user and alias, except of deleted aliases, because no page shows these."""
    return Profile.objects.filter(user=user).select_related("user", "alias__name").exclude(is_main=False, alias=None)
