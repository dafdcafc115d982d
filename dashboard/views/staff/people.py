"""People, for staff: found, looked at, and acted on, with their scopes and their keys."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import SignedInRequest
from accounts.models import ApiKey, Permission, User
from dashboard import access
from dashboard.forms.staff import PeopleSearch
from dashboard.staff import on_people, records, rights, search
from dashboard.views.staff import asking
from oidc_provider.applications.scopes import LOCKED_SCOPES

PAGE_SIZE = 25


@access.for_staff(*rights.PEOPLE)
@require_safe
def people(request: SignedInRequest) -> HttpResponse:
    """2 queries beside those of the session: how many, and a page of them."""
    sees_email = access.may(request.user, rights.SEE_EMAIL)
    form = PeopleSearch(request.GET, with_email=sees_email)
    chosen = form.chosen()
    found = search.people(term=chosen["q"], standing=chosen["standing"], with_email=sees_email)
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"form": form, "page": page, "sees_email": sees_email, "is_filtered": any(chosen.values())}
    return render(request, "dashboard/staff/people.html", context)


@access.for_staff(*rights.PEOPLE)
@require_safe
def person(request: SignedInRequest, pk: str) -> HttpResponse:
    """7 queries beside those of the session."""
    found = get_object_or_404(User, pk=pk)
    offered = [act for act in on_people.PERSON_ACTS.values() if act.is_offered(found)]
    context = {
        "record": records.of_person(found, timezone.now()),
        "acts": [act for act in offered if access.may(request.user, act.permission)],
        "needs_superuser": (found.is_staff or found.is_superuser) and not request.user.is_superuser,
        **_what_is_open_to(request.user),
    }
    return render(request, "dashboard/staff/person.html", context)


@access.for_staff(*rights.PEOPLE)
@require_http_methods(["GET", "POST"])
def act_on_person(request: SignedInRequest, pk: str, act: str) -> HttpResponse:
    if act not in on_people.PERSON_ACTS:
        raise Http404
    found = get_object_or_404(User, pk=pk)
    return asking.answer(request, on_people.PERSON_ACTS[act], found, name=found.username, back_url=_page_of(found))


@access.for_staff(*rights.PEOPLE)
@require_http_methods(["GET", "POST"])
def act_on_scope(request: SignedInRequest, pk: str, scope: str, act: str) -> HttpResponse:
    if act not in on_people.SCOPE_ACTS or scope not in LOCKED_SCOPES:
        raise Http404
    found = get_object_or_404(User, pk=pk)
    return asking.answer(
        request, on_people.SCOPE_ACTS[act](scope), found, name=found.username, back_url=_page_of(found)
    )


@access.for_staff(*rights.PEOPLE)
@require_http_methods(["GET", "POST"])
def act_on_key(request: SignedInRequest, pk: str, prefix: str, permission: str, act: str) -> HttpResponse:
    if act not in on_people.KEY_ACTS or permission not in Permission.values:
        raise Http404
    key = get_object_or_404(ApiKey.objects.select_related("owner"), owner=pk, prefix=prefix)
    chosen = on_people.KEY_ACTS[act](Permission(permission))
    return asking.answer(request, chosen, key, name=key.prefix, back_url=_page_of(key.owner))


def _what_is_open_to(staff: User) -> dict[str, bool]:
    """What of a person's page this member of staff sees."""
    return {
        "sees_email": access.may(staff, rights.SEE_EMAIL),
        "may_change_scopes": access.may(staff, on_people.SCOPES_RIGHT),
        "may_change_keys": access.may(staff, on_people.KEYS_RIGHT),
        "may_decide": access.may(staff, rights.DECIDE),
        "may_see_applications": access.may(staff, *rights.APPLICATIONS),
        "may_see_admin": access.may(staff, "accounts.view_user", "accounts.change_user"),
    }


def _page_of(person: User) -> str:
    return reverse("staff_person", args=[person.pk])
