"""Staff pages. Each is open with certain permissions, and every action has a permission of its own."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_safe

from accounts import second_factor, users
from accounts.http import SignedInRequest
from accounts.models import ApiKey, Permission, User
from accounts.staff_actions import CHANGE_KEY, KEY_ACTIONS, USER_ACTIONS, StaffAction
from dashboard import access
from dashboard.forms import confirm
from dashboard.models import AccessRequest
from dashboard.staff import APPLICATIONS, PEOPLE, QUEUE, actions, queries
from dashboard.staff.actions import DECIDE, REQUEST_ACTIONS
from dashboard.staff.forms import ALL_STATES, AppSearch, PeopleSearch, QueueFilter, ReasonForm
from infrastructure.requests.errors import sentences
from oidc_provider.applications.scopes import LOCKED_SCOPES
from oidc_provider.authorize import consent_page
from oidc_provider.models import Application
from oidc_provider.staff_actions import APPLICATION_ACTIONS, SCOPE_ACTIONS, UNLOCK_SCOPES


def _answer(
    request: SignedInRequest,
    listed: tuple[StaffAction, ...],
    slug: str,
    subject: Any,
    *,
    name: str,
    back_url: str,
    **options: str,
) -> HttpResponse:
    """Ask by GET, run by POST; what cannot be done now leads back with a message. 404 for a slug that no page of
    `listed` has, 403 without the right."""
    action = next((one for one in listed if one.page is not None and one.page.slug == slug), None)
    if action is None or action.page is None:
        raise Http404
    if not access.may(request.user, action.permission):
        raise PermissionDenied
    try:
        action.check(owners=[actions.owner_of(subject)], by=request.user)
    except PermissionDenied as refused:
        messages.error(request, sentences(refused))
        return redirect(back_url)
    page = action.page
    if refusal := action.refusal(subject, **options):
        messages.warning(request, refusal)
        return redirect(back_url)
    data = request.POST if request.method == "POST" else None
    form = ReasonForm(data, hint=page.hint, is_required=action.needs_reason, presets=page.presets)
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
    return redirect(back_url)


def _buttons(
    request: SignedInRequest, listed: tuple[StaffAction, ...], subject: User | Application
) -> list[StaffAction]:
    """Return the actions with a page that the member of staff may run on the row now."""
    return [
        action
        for action in listed
        if action.page is not None
        and access.may(request.user, action.permission)
        and action.is_offered(subject)
        and _has_authority(request, subject)
    ]


@access.signed_in
@require_safe
def second_factor_page(request: SignedInRequest) -> HttpResponse:
    """Show what keeps a member of staff from the staff pages, and how to continue; then redirect back."""
    if not request.user.is_staff:
        raise PermissionDenied
    standing = second_factor.standing_of(request, request.user, timezone.now())
    next_url = request.GET.get(REDIRECT_FIELD_NAME, "")
    if not url_has_allowed_host_and_scheme(next_url, {request.get_host()}, require_https=request.is_secure()):
        next_url = reverse("staff_second_factor")
    if standing.may_pass and standing.has_factor:
        return redirect(next_url if next_url != request.path else "admin:index")
    context = {"standing": standing, "query": urlencode({REDIRECT_FIELD_NAME: next_url})}
    return render(request, "dashboard/staff/second_factor.html", context)


QUEUE_PAGE_SIZE = 20


@access.for_staff(*QUEUE)
@require_safe
def queue(request: SignedInRequest) -> HttpResponse:
    """Show requests. 4 queries plus the session's: how many, a page of them, their owners' apps and requests."""
    chosen = QueueFilter(request.GET).chosen()
    found = queries.requests(state="" if chosen["state"] == ALL_STATES else chosen["state"], kind=chosen["kind"])
    page = Paginator(found, QUEUE_PAGE_SIZE).get_page(request.GET.get("page"))
    now = timezone.now()
    context = {
        "filter": QueueFilter(initial=chosen),
        "page": page,
        "records": [queries.of_request(asked, now) for asked in page],
        "is_waiting_list": chosen["state"] == AccessRequest.State.PENDING and not chosen["kind"],
        "may_decide": access.may(request.user, DECIDE),
        "may_see_people": access.may(request.user, *PEOPLE),
        "may_see_applications": access.may(request.user, *APPLICATIONS),
    }
    return render(request, "dashboard/staff/queue.html", context)


@access.for_staff(DECIDE)
@require_http_methods(["GET", "POST"])
def decide(request: SignedInRequest, pk: int, act: str) -> HttpResponse:
    asked = get_object_or_404(AccessRequest.objects.select_related("user", "key"), pk=pk)
    name = f"{asked.subject} for {asked.user}"
    return _answer(request, REQUEST_ACTIONS, act, asked, name=name, back_url=reverse("staff_queue"))


PAGE_SIZE = 25


@access.for_staff(*APPLICATIONS)
@require_safe
def applications(request: SignedInRequest) -> HttpResponse:
    """Show apps. 2 queries plus the session's: how many, and a page of them."""
    sees_email = access.may(request.user, actions.SEE_EMAIL)
    form = AppSearch(request.GET, with_email=sees_email)
    chosen, now = form.chosen(), timezone.now()
    found = queries.find_applications(term=chosen["q"], state=chosen["state"], now=now, with_email=sees_email)
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "page": page,
        "new_since": now - queries.NEW_FOR,
        "is_filtered": any(chosen.values()),
    }
    return render(request, "dashboard/staff/applications.html", context)


@access.for_staff(*APPLICATIONS)
@require_safe
def application(request: SignedInRequest, client_id: str) -> HttpResponse:
    """Show an app. 5 queries plus the session's."""
    found = _found(client_id)
    context = {
        "record": queries.of_application(found, timezone.now()),
        "logo_url": consent_page.logo_url(found),
        "actions": _buttons(request, APPLICATION_ACTIONS, found),
        "may_see_people": access.may(request.user, *PEOPLE),
        "may_see_admin": access.may(request.user, "oidc_provider.view_application", "oidc_provider.change_application"),
    }
    return render(request, "dashboard/staff/application.html", context)


@access.for_staff(*APPLICATIONS)
@require_http_methods(["GET", "POST"])
def act_on_application(request: SignedInRequest, client_id: str, act: str) -> HttpResponse:
    found = _found(client_id)
    back_url = reverse("staff_application", args=[client_id])
    return _answer(request, APPLICATION_ACTIONS, act, found, name=found.name, back_url=back_url)


def _found(client_id: str) -> Application:
    """Return the app without the logo's picture. 1 query."""
    return get_object_or_404(Application.objects.select_related("user", "logo").defer("logo__png"), client_id=client_id)


@access.for_staff(*PEOPLE)
@require_safe
def people(request: SignedInRequest) -> HttpResponse:
    """Show people. 2 queries plus the session's: how many, and a page of them."""
    sees_email = access.may(request.user, actions.SEE_EMAIL)
    form = PeopleSearch(request.GET, with_email=sees_email)
    chosen = form.chosen()
    found = queries.find_people(term=chosen["q"], standing=chosen["standing"], with_email=sees_email)
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"form": form, "page": page, "sees_email": sees_email, "is_filtered": any(chosen.values())}
    return render(request, "dashboard/staff/people.html", context)


@access.for_staff(*PEOPLE)
@require_safe
def person(request: SignedInRequest, pk: str) -> HttpResponse:
    """Show a person. 7 queries plus the session's."""
    found = get_object_or_404(User, pk=pk)
    staff, has_authority = request.user, _has_authority(request, found)
    context = {
        "record": queries.of_person(found, timezone.now()),
        "actions": _buttons(request, USER_ACTIONS, found),
        "needs_superuser": not has_authority,
        "sees_email": access.may(staff, actions.SEE_EMAIL),
        "may_change_scopes": has_authority and access.may(staff, UNLOCK_SCOPES),
        "may_change_keys": has_authority and access.may(staff, CHANGE_KEY),
        "may_decide": access.may(staff, DECIDE),
        "may_see_applications": access.may(staff, *APPLICATIONS),
        "may_see_admin": access.may(staff, "accounts.view_user", "accounts.change_user"),
    }
    return render(request, "dashboard/staff/person.html", context)


@access.for_staff(*PEOPLE)
@require_http_methods(["GET", "POST"])
def act_on_person(request: SignedInRequest, pk: str, act: str) -> HttpResponse:
    found = get_object_or_404(User, pk=pk)
    return _answer(request, USER_ACTIONS, act, found, name=found.username, back_url=reverse("staff_person", args=[pk]))


@access.for_staff(*PEOPLE)
@require_http_methods(["GET", "POST"])
def act_on_scope(request: SignedInRequest, pk: str, scope: str, act: str) -> HttpResponse:
    if scope not in LOCKED_SCOPES:
        raise Http404
    found = get_object_or_404(User, pk=pk)
    back_url = reverse("staff_person", args=[pk])
    return _answer(request, SCOPE_ACTIONS, act, found, name=found.username, back_url=back_url, scope=scope)


@access.for_staff(*PEOPLE)
@require_http_methods(["GET", "POST"])
def act_on_key(request: SignedInRequest, pk: str, prefix: str, permission: str, act: str) -> HttpResponse:
    if permission not in Permission.values:
        raise Http404
    key = get_object_or_404(ApiKey.objects.select_related("owner"), owner=pk, prefix=prefix)
    words = {"name": key.prefix, "back_url": reverse("staff_person", args=[pk])}
    return _answer(request, KEY_ACTIONS, act, key, **words, permission=Permission(permission))


def _has_authority(request: SignedInRequest, subject: Any) -> bool:
    return users.has_authority(users.check_staff_action, [actions.owner_of(subject)], request.user)
