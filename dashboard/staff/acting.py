"""How the staff pages run an action: its button, the page that asks for the reason, and what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect

from accounts import users
from accounts.http import SignedInRequest
from accounts.staff_actions import ConfirmationPage, StaffAction
from dashboard import access
from dashboard.forms import confirm
from dashboard.staff import actions
from dashboard.staff.forms import ReasonForm
from infrastructure.requests.errors import sentences


def answer(
    request: SignedInRequest,
    listed: tuple[StaffAction, ...],
    slug: str,
    subject: Any,
    *,
    name: str,
    back_url: str,
    go_on: Callable[[], str] | None = None,
    **options: str,
) -> HttpResponse:
    """Ask by GET, run by POST; what cannot be done now leads back with a message. 404 for a slug that no page of
    `listed` has, 403 without the right. `go_on`: returns where the action leads; without it, back."""
    action, page = _named(listed, slug)
    if not access.may(request.user, action.permission):
        raise PermissionDenied
    if problem := _problem(action, subject, request):
        messages.error(request, problem)
        return redirect(back_url)
    if refusal := action.refusal(subject, **options):
        messages.warning(request, refusal)
        return redirect(back_url)
    data = request.POST if request.method == "POST" else None
    form = ReasonForm(data, hint=page.hint, is_required=action.needs_reason, presets=page.presets, most=page.most)
    if not form.is_valid():
        title, effects = page.title.format(name, **options), page.effects(subject, **options)
        button = page.label.format(**options) or action.label
        return confirm(request, title, effects, button, back_url=back_url, is_harmless=page.is_harmless, form=form)
    try:
        actions.perform(action, subject, by=request.user, reason=form.cleaned_data["reason"], **options)
    except (ValidationError, PermissionDenied) as refused:
        messages.error(request, sentences(refused))
    else:
        messages.success(request, page.done.format(name, **options))
        back_url = go_on() if go_on is not None else back_url
    return redirect(back_url)


def _problem(action: StaffAction, subject: Any, request: SignedInRequest) -> str:
    """Return why this member of staff may not run the action on `subject`; the empty string where they may."""
    try:
        action.check(owners=[actions.owner_of(subject)], by=request.user)
    except PermissionDenied as refused:
        return sentences(refused)
    return action.bar(subject, request.user) or ""


def _named(listed: Iterable[StaffAction], slug: str) -> tuple[StaffAction, ConfirmationPage]:
    """Return the action whose page has the slug, and the page. Raises Http404."""
    for action in listed:
        if action.page is not None and action.page.slug == slug:
            return action, action.page
    raise Http404


def buttons(request: SignedInRequest, listed: Iterable[StaffAction], subject: Any) -> list[StaffAction]:
    """Return the actions with a page that the member of staff may run on the row now."""
    return [
        action
        for action in listed
        if action.page is not None
        and access.may(request.user, action.permission)
        and action.is_offered(subject)
        and has_authority(request, subject)
        and not action.bar(subject, request.user)
    ]


def has_authority(request: SignedInRequest, subject: Any) -> bool:
    return users.has_authority(users.check_staff_action, [actions.owner_of(subject)], request.user)
