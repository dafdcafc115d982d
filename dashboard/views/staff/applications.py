"""Apps, for staff: found, looked at, and acted on."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import SignedInRequest
from dashboard import access
from dashboard.forms.staff import AppSearch
from dashboard.staff import on_applications, records, rights, search
from dashboard.views.staff import asking
from oidc_provider.authorize import consent_page
from oidc_provider.models import Application

PAGE_SIZE = 25


@access.for_staff(*rights.APPLICATIONS)
@require_safe
def applications(request: SignedInRequest) -> HttpResponse:
    """2 queries beside those of the session: how many, and a page of them."""
    sees_email = access.may(request.user, rights.SEE_EMAIL)
    form = AppSearch(request.GET, with_email=sees_email)
    chosen, now = form.chosen(), timezone.now()
    found = search.applications(term=chosen["q"], state=chosen["state"], now=now, with_email=sees_email)
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "page": page,
        "new_since": now - search.NEW_FOR,
        "is_filtered": any(chosen.values()),
    }
    return render(request, "dashboard/staff/applications.html", context)


@access.for_staff(*rights.APPLICATIONS)
@require_safe
def application(request: SignedInRequest, client_id: str) -> HttpResponse:
    """5 queries beside those of the session."""
    found = _found(client_id)
    context = {
        "record": records.of_application(found, timezone.now()),
        "logo_url": consent_page.logo_url(found),
        "acts": [
            act
            for act in on_applications.ACTS.values()
            if access.may(request.user, act.permission) and act.is_offered(found)
        ],
        "may_see_people": access.may(request.user, *rights.PEOPLE),
        "may_see_admin": access.may(request.user, "oidc_provider.view_application", "oidc_provider.change_application"),
    }
    return render(request, "dashboard/staff/application.html", context)


@access.for_staff(*rights.APPLICATIONS)
@require_http_methods(["GET", "POST"])
def act_on_application(request: SignedInRequest, client_id: str, act: str) -> HttpResponse:
    if act not in on_applications.ACTS:
        raise Http404
    found = _found(client_id)
    back_url = reverse("staff_application", args=[client_id])
    return asking.answer(request, on_applications.ACTS[act], found, name=found.name, back_url=back_url)


def _found(client_id: str) -> Application:
    """1 query; without the logo's picture."""
    return get_object_or_404(Application.objects.select_related("user", "logo").defer("logo__png"), client_id=client_id)
