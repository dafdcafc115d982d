"""Staff pages. Each is open with certain permissions, and every action has a permission of its own."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_safe

from accounts import second_factor
from accounts.http import SignedInRequest
from accounts.models import ApiKey, Permission, User
from accounts.staff_actions import CHANGE_KEY, KEY_ACTIONS, USER_ACTIONS
from dashboard import access
from dashboard.models import AccessRequest
from dashboard.staff import (
    APPEALS,
    APPLICATIONS,
    DESK,
    FILES,
    PEOPLE,
    QUEUE,
    REPORTS,
    acting,
    actions,
    cards,
    queries,
    report_queries,
)
from dashboard.staff.actions import DECIDE, REQUEST_ACTIONS
from dashboard.staff.forms import ALL_STATES, AppSearch, PeopleSearch, QueueFilter
from infrastructure.requests import content_security
from lookup.models import Asset
from lookup.page import url_policy
from lookup.staff_actions import PROFILE_ACTIONS, REMOVE_PICTURE
from oidc_provider.applications.scopes import LOCKED_SCOPES
from oidc_provider.authorize import consent_page
from oidc_provider.models import Application
from oidc_provider.staff_actions import APPLICATION_ACTIONS, SCOPE_ACTIONS, UNLOCK_SCOPES

CARDS = (
    (QUEUE, cards.requests),
    (REPORTS, cards.reports),
    (APPEALS, cards.appeals),
    (APPLICATIONS, cards.applications),
    (PEOPLE, cards.people),
    (FILES, cards.files),
)


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


@access.for_staff(*DESK)
@require_safe
def desk(request: SignedInRequest) -> HttpResponse:
    """Show what waits and what is new, of what the reader may open. At most 9 queries plus the session's."""
    staff = request.user
    shown = [card(staff) for permissions, card in CARDS if access.may(staff, *permissions)]
    return render(request, "dashboard/staff/desk.html", {"cards": shown})


QUEUE_PAGE_SIZE = 20


@access.for_staff(*QUEUE)
@require_safe
def queue(request: SignedInRequest) -> HttpResponse:
    """Show requests. 4 queries plus the session's: how many, a page of them, their owners' apps and requests."""
    chosen = QueueFilter(request.GET).chosen()
    found = queries.requests(state="" if chosen["state"] == ALL_STATES else chosen["state"], kind=chosen["kind"])
    page = Paginator(found, QUEUE_PAGE_SIZE).get_page(request.GET.get("page"))
    now, may_decide = timezone.now(), access.may(request.user, DECIDE)
    context = {
        "filter": QueueFilter(initial=chosen),
        "page": page,
        "records": [queries.of_request(asked, now) for asked in page],
        "is_waiting_list": chosen["state"] == AccessRequest.State.PENDING and not chosen["kind"],
        "may_decide": may_decide,
        "to_decide": {asked.pk for asked in page if may_decide and acting.has_authority(request, asked)},
        "may_see_people": access.may(request.user, *PEOPLE),
        "may_see_applications": access.may(request.user, *APPLICATIONS),
    }
    return render(request, "dashboard/staff/queue.html", context)


@access.for_staff(DECIDE)
@require_http_methods(["GET", "POST"])
def decide(request: SignedInRequest, pk: int, act: str) -> HttpResponse:
    asked = get_object_or_404(AccessRequest.objects.select_related("user", "key"), pk=pk)
    name = f"{asked.subject} for {asked.user}"
    return acting.answer(request, REQUEST_ACTIONS, act, asked, name=name, back_url=reverse("staff_queue"))


PAGE_SIZE = 25
PERSON_ACTIONS = (*USER_ACTIONS, *PROFILE_ACTIONS)
PICTURES = ("lookup.view_profile", REMOVE_PICTURE.permission)  # of profiles, private ones too


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
        "actions": acting.buttons(request, APPLICATION_ACTIONS, found),
        "may_see_people": access.may(request.user, *PEOPLE),
        "may_see_admin": access.may(request.user, "oidc_provider.view_application", "oidc_provider.change_application"),
    }
    return render(request, "dashboard/staff/application.html", context)


@access.for_staff(*APPLICATIONS)
@require_http_methods(["GET", "POST"])
def act_on_application(request: SignedInRequest, client_id: str, act: str) -> HttpResponse:
    found = _found(client_id)
    back_url = reverse("staff_application", args=[client_id])
    return acting.answer(request, APPLICATION_ACTIONS, act, found, name=found.name, back_url=back_url)


def _found(client_id: str) -> Application:
    """Return the app without the logo's picture. 1 query."""
    found = Application.objects.select_related("user", "team", "logo").defer("logo__png")
    return get_object_or_404(found, client_id=client_id)


@access.for_staff(*PEOPLE)
@require_safe
def people(request: SignedInRequest) -> HttpResponse:
    """Show people. 2 queries plus the session's: how many, and a page of them."""
    sees_email = access.may(request.user, actions.SEE_EMAIL)
    form = PeopleSearch(request.GET, with_email=sees_email)
    chosen = form.chosen()
    found = queries.find_people(term=chosen["q"], standing=chosen["standing"], with_email=sees_email)
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    sees_private = access.may(request.user, *PICTURES)
    context = {
        "form": form,
        "page": page,
        "rows": [(person, queries.in_list(person, with_private=sees_private)) for person in page],
        "sees_email": sees_email,
        "is_filtered": any(chosen.values()),
    }
    response = render(request, "dashboard/staff/people.html", context)
    response.headers[content_security.HEADER] = content_security.header(images=url_policy.media_sources())
    return response


@access.for_staff(*PEOPLE)
@require_safe
def person(request: SignedInRequest, pk: str) -> HttpResponse:
    """Show a person. At most 9 queries plus the session's."""
    found = get_object_or_404(User.objects.select_related("deletion"), pk=pk)
    staff, has_authority = request.user, acting.has_authority(request, found)
    context = {
        "record": queries.of_person(found, timezone.now()),
        "pictures": report_queries.pictures_of(found) if access.may(staff, *PICTURES) else [],
        "may_remove": bool(acting.buttons(request, [REMOVE_PICTURE], found)),
        "actions": acting.buttons(request, PERSON_ACTIONS, found),
        "needs_superuser": not has_authority,
        "sees_email": access.may(staff, actions.SEE_EMAIL),
        "may_change_scopes": has_authority and access.may(staff, UNLOCK_SCOPES),
        "may_change_keys": has_authority and access.may(staff, CHANGE_KEY),
        "may_decide": has_authority and access.may(staff, DECIDE),
        "may_see_applications": access.may(staff, *APPLICATIONS),
        "may_see_admin": access.may(staff, "accounts.view_user", "accounts.change_user"),
    }
    response = render(request, "dashboard/staff/person.html", context)
    sources = url_policy.media_sources()
    response.headers[content_security.HEADER] = content_security.header(images=sources, media=sources)
    return response


@access.for_staff(*PEOPLE)
@require_http_methods(["GET", "POST"])
def act_on_person(request: SignedInRequest, pk: str, act: str) -> HttpResponse:
    found = get_object_or_404(User, pk=pk)
    return acting.answer(
        request, PERSON_ACTIONS, act, found, name=found.username, back_url=reverse("staff_person", args=[pk])
    )


@access.for_staff(*PEOPLE)
@require_http_methods(["GET", "POST"])
def remove_picture(request: SignedInRequest, pk: str, asset_id: str) -> HttpResponse:
    asset = get_object_or_404(Asset.objects.select_related("owner"), owner=pk, pk=asset_id)
    back_url = reverse("staff_person", args=[pk])
    return acting.answer(request, (REMOVE_PICTURE,), "remove", asset, name=asset.owner.username, back_url=back_url)


@access.for_staff(*PEOPLE)
@require_http_methods(["GET", "POST"])
def act_on_scope(request: SignedInRequest, pk: str, scope: str, act: str) -> HttpResponse:
    if scope not in LOCKED_SCOPES:
        raise Http404
    found = get_object_or_404(User, pk=pk)
    back_url = reverse("staff_person", args=[pk])
    return acting.answer(request, SCOPE_ACTIONS, act, found, name=found.username, back_url=back_url, scope=scope)


@access.for_staff(*PEOPLE)
@require_http_methods(["GET", "POST"])
def act_on_key(request: SignedInRequest, pk: str, prefix: str, permission: str, act: str) -> HttpResponse:
    if permission not in Permission.values:
        raise Http404
    key = get_object_or_404(ApiKey.objects.select_related("owner"), owner=pk, prefix=prefix)
    name, back_url = key.prefix, reverse("staff_person", args=[pk])
    return acting.answer(
        request, KEY_ACTIONS, act, key, name=name, back_url=back_url, permission=Permission(permission)
    )
