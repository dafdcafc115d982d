"""Try it: a real sign-in of one's own app, step by step."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST, require_safe

from accounts.http import SignedInRequest
from dashboard import access
from dashboard.forms.debugging import TryForm
from dashboard.trying import callbacks, course, requests
from dashboard.views.applications.own_app import of_app
from oidc_provider.models import Application

_READ = ("code", "state", "iss", "error", "error_description")
_LENGTH = 1_000


@access.signed_in
@require_safe
@of_app
def try_page(request: SignedInRequest, application: Application) -> HttpResponse:
    return _page(request, application, TryForm(application=application))


@access.signed_in
@require_POST
@of_app
def change_callback(request: SignedInRequest, application: Application) -> HttpResponse:
    """The one click that registers the callback, and the one that takes it off."""
    adds = request.POST.get("act") == "add"
    try:
        (callbacks.add if adds else callbacks.remove)(application=application, by=request.user)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, "The callback is registered." if adds else "The callback is no longer registered.")
    return redirect("application_try", application.client_id)


@access.signed_in
@require_POST
@of_app
def start(request: SignedInRequest, application: Application) -> HttpResponse:
    form = TryForm(request.POST, application=application)
    if application.is_suspended or not callbacks.is_registered(application):
        return redirect("application_try", application.client_id)  # whose page says why
    if not form.is_valid():
        return _page(request, application, form)
    under_way = requests.begin(application, **form.cleaned_data, now=timezone.now())
    requests.keep(request.session, application, under_way)
    return redirect(under_way.url())


@access.signed_in
@require_GET  # no HEAD: a prefetch must not use the code up
@of_app
def callback(request: SignedInRequest, application: Application) -> HttpResponse:
    """Where the browser comes back. What it brought is used at once, and the page with the steps has another URL."""
    under_way = requests.taken(request.session, application)
    if under_way is None:
        messages.error(request, "No try is under way in this browser, or it is over. Start a new one.")
        return redirect("application_try", application.client_id)
    answer = {name: request.GET[name][:_LENGTH] for name in _READ if name in request.GET}
    steps = course.run(
        application=application, owner=request.user, under_way=under_way, answer=answer, now=timezone.now()
    )
    requests.keep_result(request.session, application, steps)
    return redirect("application_try_result", application.client_id)


@access.signed_in
@require_safe
@of_app
def result(request: SignedInRequest, application: Application) -> HttpResponse:
    steps = requests.result(request.session, application)
    if steps is None:
        return redirect("application_try", application.client_id)
    context = {
        "application": application,
        "steps": steps,
        "is_good": all(step["is_good"] for step in steps),
        "is_callback_registered": callbacks.is_registered(application),
    }
    return render(request, "dashboard/debugging/result.html", context)


def _page(request: SignedInRequest, application: Application, form: TryForm) -> HttpResponse:
    context = {
        "application": application,
        "form": form,
        "callback_url": callbacks.url_of(application),
        "is_callback_registered": callbacks.is_registered(application),
        "has_result": requests.result(request.session, application) is not None,
    }
    return render(request, "dashboard/debugging/try.html", context)
