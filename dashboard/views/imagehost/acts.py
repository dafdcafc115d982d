"""What the forms of these pages have in common."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec

from django.core.exceptions import ValidationError
from django.forms import Form
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods

from accounts.http import SignedInRequest
from dashboard import access

NOTHING_CHOSEN = "Choose at least one file first."

P = ParamSpec("P")
Act = Callable[Concatenate[SignedInRequest, P], HttpResponse]


def act(page: str) -> Callable[[Act[P]], access.Guarded[P]]:
    """An act behind login that POST alone does. GET, where a login in between leads, goes on to `page`."""

    def decorate(view: Act[P]) -> access.Guarded[P]:
        @functools.wraps(view)
        def checked(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            return view(request, *args, **kwargs) if request.method == "POST" else redirect(page)

        return access.signed_in(require_http_methods(["GET", "POST"])(checked))

    return decorate


def is_done(form: Form, operation: Callable[[], object]) -> bool:
    """Run the operation of a valid form; False: the form is not valid, or says now why the operation refused."""
    if not form.is_valid():
        return False
    try:
        operation()
    except ValidationError as refusal:
        form.add_error(None, refusal)
        return False
    return True


def back_url(values: QueryDict) -> str:
    """The page of the image host that a form stood on, as its field `back` says; otherwise the first one."""
    first = reverse("imagehost_setup")
    page = values.get("back", "")
    is_ours = page.startswith(first) and url_has_allowed_host_and_scheme(page, allowed_hosts=None)
    return page if is_ours else first


def back(request: HttpRequest) -> HttpResponse:
    """To that page."""
    return redirect(back_url(request.POST))
