"""A list of a profile: its rows, adding and editing them, their order, their switch, deleting them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts import content_security
from accounts.http import SignedInRequest
from dashboard import access, editing
from dashboard.forms.profile_content.rows import RowForm
from dashboard.views.profile_content import kinds
from dashboard.views.profile_content.kinds import KINDS, Kind
from lookup import content, section_entries
from lookup.models import Profile, Section
from lookup.page import places
from lookup.sections import SectionType

P = ParamSpec("P")
ListPage = Callable[Concatenate[SignedInRequest, Profile, Kind, P], HttpResponseBase]
STEPS = {"up": -1, "down": 1}


def of_list(view: ListPage[P]) -> Callable[..., HttpResponseBase]:
    """A page behind login about one list of one's own profile; `kind` in the URL's arguments names the list. What the
    profile has not is 404."""

    @functools.wraps(view)
    def checked(request: SignedInRequest, profile: Profile, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        kind = KINDS[str(kwargs.pop("kind"))]
        try:
            return view(request, profile, kind, *args, **kwargs)
        except ObjectDoesNotExist:
            raise Http404 from None

    return access.signed_in(editing.of_profile(checked))


@of_list
@require_safe
def show(request: SignedInRequest, profile: Profile, kind: Kind) -> HttpResponse:
    groups = kinds.groups_of(kind, profile)
    own = sum(shown.is_own for group in groups for shown in group.rows)
    context = {
        "kind": kind,
        "groups": groups,
        "count": own,
        "is_full": own >= kind.content.limit,
        "add_url": kind.url_of(profile, "add"),
        "order_url": kind.url_of(profile, "order"),
    }
    return page(request, profile, "list", kind.title, context)


@of_list
def add(request: SignedInRequest, profile: Profile, kind: Kind) -> HttpResponse:
    return edit_row(request, profile, kind, kind.content.model())


def edit_row(request: SignedInRequest, profile: Profile, kind: Kind, row: Any) -> HttpResponse:
    """The form of a row, new or stored. Any: a row of the list."""
    made = kinds.form_class(row)
    is_new = row._state.adding
    form = made(request.POST or None, request.FILES or None, instance=row, profile=profile)
    if form.is_valid() and form.write(by=request.user):
        messages.success(request, f"{kinds.name_of(form.instance)}: {'added' if is_new else 'saved'}.")
        return redirect(_next(profile, kind, form, is_new=is_new))
    title = f"New {kind.one}" if is_new else kinds.name_of(row)
    context = {"kind": kind, "form": form, "is_new": is_new, "list_url": kind.url_of(profile)}
    return page(request, profile, "row", title, {**context, "entries_url": entries_url(profile, row)})


@of_list
def edit(request: SignedInRequest, profile: Profile, kind: Kind, pk: str) -> HttpResponse:
    return edit_row(request, profile, kind, kind.content.row_of(profile.pk, pk))


@of_list
def delete(request: SignedInRequest, profile: Profile, kind: Kind, pk: str) -> HttpResponse:
    """Badges that staff gave are 404: they can be switched off."""
    row = kind.content.row_of(profile.pk, pk)
    if not isinstance(row, kind.content.model):
        raise Http404
    name = kinds.name_of(row)
    if request.method == "POST":
        content.delete(content=kind.content, profile=profile, pk=pk, by=request.user)
        messages.success(request, f"{name}: deleted.")
        return redirect(kind.url_of(profile))
    context = {"title": f"Delete {name}?", "effects": _effects(row), "button": "Delete"}
    return render(request, "dashboard/confirm.html", {**context, "back_url": kind.url_of(profile)})


@of_list
@require_POST
def move(request: SignedInRequest, profile: Profile, kind: Kind, pk: str) -> HttpResponse:
    """`places`: up or down."""
    step = STEPS.get(request.POST.get("places", ""), 0)
    content.move(content=kind.content, profile=profile, pk=pk, places=step, by=request.user)
    return redirect(f"{kind.url_of(profile)}#row-{pk}")


@of_list
@require_POST
def switch(request: SignedInRequest, profile: Profile, kind: Kind, pk: str) -> HttpResponse:
    """`is_on`: "1" shows the row."""
    is_on = request.POST.get("is_on") == "1"
    row = content.switch(content=kind.content, profile=profile, pk=pk, is_on=is_on, by=request.user)
    messages.success(request, f"{kinds.name_of(row)} is {'on' if is_on else 'off'}.")
    return redirect(f"{kind.url_of(profile)}#row-{pk}")


@of_list
@require_POST
def reorder(request: SignedInRequest, profile: Profile, kind: Kind) -> HttpResponse:
    """`pk`, once for each row that was put in order; 204, or 409 where the list is another one by now."""
    try:
        content.reorder(content=kind.content, profile=profile, pks=request.POST.getlist("pk"), by=request.user)
    except ValidationError as refusal:
        return HttpResponse(" ".join(refusal.messages), status=409, content_type="text/plain; charset=utf-8")
    return HttpResponse(status=204)


def page(
    request: SignedInRequest, profile: Profile, template: str, title: str, context: dict[str, Any]
) -> HttpResponse:
    """A page of the editor, which shows pictures of the profile. Any: a template's context."""
    frame = {"profile": profile, "page_title": title}
    response = render(request, f"dashboard/profile_content/{template}.html", {**frame, **context})
    response.headers[content_security.HEADER] = content_security.header(images=places.media_sources())
    return response


def entries_url(profile: Profile, row: Any) -> str:
    """Where the entries of a section are chosen; empty for one that lists none. Any: a row of any list."""
    if not isinstance(row, Section) or row._state.adding or row.type not in section_entries.PATHS:
        return ""
    return editing.url_of(profile, "profile_section_entries", pk=row.pk)


def _effects(row: Any) -> list[str]:
    """What deleting the row does. Any: a row of any list."""
    effects = ["It disappears from your page and from lookups at once. This cannot be undone."]
    if isinstance(row, Section) and row.type == SectionType.GALLERY:
        effects.append("Its pictures stay in your gallery, in no section.")
    return effects


def _next(profile: Profile, kind: Kind, form: RowForm, *, is_new: bool) -> str:
    """Where a saved form leads: the list, or, of a new section whose entries are chosen elsewhere, there."""
    row = form.instance
    if is_new and row._meta.model is Section and row.type in section_entries.CATALOGUES:
        return entries_url(profile, row)
    return f"{kind.url_of(profile)}#row-{row.pk}"
