"""The page of the apps that the user has signed in to, and its button Disconnect."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import SignedInRequest
from oidc_provider.applications.scopes import SCOPES
from oidc_provider.authorize import approvals, consent_page
from oidc_provider.models import Application, ApplicationLogo, Approval, LastUse


@dataclass(frozen=True)
class ConnectedApp:
    application: Application
    logo_url: str
    labels: list[str]
    created_at: datetime
    updated_at: datetime
    used_at: datetime | None

    @classmethod
    def of(cls, approval: Approval) -> "ConnectedApp":
        """`approval`: as `_approvals_of` reads it; without `used_at` it counts as never used."""
        labels = [SCOPES[name].label for name in approval.scopes if name in SCOPES]
        logo_url = consent_page.logo_url(approval.application)
        used_at = getattr(approval, "used_at", None)
        return cls(approval.application, logo_url, labels, approval.created_at, approval.updated_at, used_at)


@never_cache
@login_required
@require_safe
def connected_apps(request: SignedInRequest) -> HttpResponse:
    """1 query beside those of the session."""
    rows = _approvals_of(request).order_by("application__name", "pk")
    return render(request, "oidc_provider/connected_apps.html", {"approvals": [ConnectedApp.of(row) for row in rows]})


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def disconnect(request: SignedInRequest, client_id: str) -> HttpResponse:
    """No confirmation: signing in to the app again undoes it. 404 for an app that the user has not approved.

    GET, where a login in between leads, redirects to the list.
    """
    if request.method == "GET":
        return redirect("connected_apps")
    approval = _approvals_of(request).filter(application__client_id=client_id).first()
    if approval is None:
        raise Http404
    approvals.disconnect(user=approval.user, application=approval.application, by=approval.user)
    messages.success(request, f"{approval.application.name} is disconnected.")
    return redirect("connected_apps")


@require_safe
def logo(request: HttpRequest, client_id: str) -> HttpResponse:
    """The app's logo, a PNG that `logos` encoded."""
    png = ApplicationLogo.objects.filter(application__client_id=client_id).values_list("png", flat=True).first()
    if png is None:
        raise Http404
    return HttpResponse(bytes(png), content_type="image/png", headers={"Cache-Control": "public, max-age=300"})


def _approvals_of(request: SignedInRequest) -> QuerySet[Approval]:
    used = LastUse.objects.filter(user=OuterRef("user"), application=OuterRef("application")).values("used_at")
    related = ("user", "application__user", "application__team", "application__logo")
    rows = request.user.approvals.select_related(*related)
    return rows.defer("application__logo__png").annotate(used_at=Subquery(used))
