"""One's apps, and a new one."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import SignedInRequest
from dashboard import access, app_edits, app_facts, redirect_rows
from dashboard.forms.applications import NewAppForm
from dashboard.views.applications import form_page, secrets
from oidc_provider.applications.application_rules import MAX_APPLICATIONS
from oidc_provider.applications.applications import AlreadyRegistered


@access.signed_in
@require_safe
def listing(request: SignedInRequest) -> HttpResponse:
    rows = app_facts.apps_of(request.user)
    return render(request, "dashboard/apps/list.html", {"rows": rows, "is_full": len(rows) >= MAX_APPLICATIONS})


@access.signed_in
@require_http_methods(["GET", "POST"])
def new(request: SignedInRequest) -> HttpResponse:
    """The answer to the POST shows the secret itself: it is stored nowhere, and no other request could show it."""
    form = NewAppForm(request.POST or None, request.FILES or None, owner=request.user)
    if request.method == "POST" and "preview" not in request.POST and form.is_valid():
        client_id = form.cleaned_data["ticket"]
        try:
            registered = app_edits.register(owner=request.user, client_id=client_id, values=form.values())
            return secrets.shown_once(request, registered.application, registered.client_secret, is_new=True)
        except AlreadyRegistered:
            if request.user.applications.filter(client_id=client_id).exists():
                return _made_before(request, client_id)
            form.refuse_deleted()
        except ValidationError as error:
            form.refuse(error)
    return form_page.response(request, "dashboard/apps/new.html", form)


@access.signed_in
@require_POST
def preview(request: SignedInRequest) -> HttpResponse:
    return form_page.preview(request, NewAppForm(request.POST, request.FILES, owner=request.user))


@access.signed_in
@require_POST
def check_redirects(request: SignedInRequest) -> HttpResponse:
    """What the editor says to its rows, while they are typed."""
    urls = [url.strip() for url in request.POST.getlist("redirect_urls")[:50]]
    rows = redirect_rows.rows_of(urls)
    return JsonResponse({"rows": [{"problem": row.problem, "advice": row.advice} for row in rows]})


def _made_before(request: SignedInRequest, client_id: str) -> HttpResponse:
    messages.info(
        request,
        "This form has made its app already, so nothing was made now. The secret was shown once; if you have not kept "
        "it, reset it.",
    )
    return redirect("application", client_id)
