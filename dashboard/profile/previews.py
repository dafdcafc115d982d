"""The page of a profile as it would be with the values of a form. Nothing is saved."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.http import SignedInRequest
from dashboard.profile.content_forms import RowForm
from dashboard.profile.forms import ColumnsForm
from infrastructure.requests import content_security
from lookup.models import Profile
from lookup.page import context as page_context
from lookup.views import profile_page


def of_columns(request: SignedInRequest, form: ColumnsForm) -> HttpResponse:
    """Show the page with the typed values of a profile's columns; as it is stored where one is refused."""
    return show(request, form.typed() if form.is_valid() else form.profile, form=form)


def of_row(request: SignedInRequest, form: RowForm) -> HttpResponse:
    """Show the page with the typed row; as it is stored before anything is typed, where a value is refused and where a
    file is missing."""
    is_shown = not form.is_untouched and form.is_valid()
    return show(request, form.profile, row=form.typed() if is_shown else None, form=form)


def show(
    request: SignedInRequest, profile: Profile, *, row: Any = None, form: ColumnsForm | RowForm | None = None
) -> HttpResponse:
    """Show the public page of `profile`, with `row` in place of the stored one.

    `?framed`: for a frame in a page of ours, where neither keys nor clicks reach what is on it.
    """
    page = page_context.preview(profile, timezone.now(), row=row)
    known = {"page": page, "presence": profile_page.presence_of(page), "form": form, "row": row}
    response = render(request, "dashboard/profile/preview.html", known | {"is_framed": "framed" in request.GET})
    response.headers[content_security.HEADER] = profile_page.policy(page, is_framed=True)
    return response
