"""Opens the app that a page is about."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate

from django.http import Http404, HttpResponse

from accounts.http import SignedInRequest
from dashboard import access
from oidc_provider.models import Application

AppPage = Callable[[SignedInRequest, Application], HttpResponse]


def of_app(view: AppPage) -> Callable[Concatenate[SignedInRequest, ...], HttpResponse]:
    """The view gets the app as its second argument; 404 for one that is not the person's own, or is deleted meanwhile.

    1 query.
    """

    @functools.wraps(view)
    def opened(request: SignedInRequest, /, client_id: str) -> HttpResponse:
        try:
            return view(request, access.application_of(request, client_id))
        except Application.DoesNotExist:  # another tab deleted it between our reads and our writes
            raise Http404 from None

    return opened
