"""Ready code with the real values of an app."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.http import SignedInRequest
from dashboard import access, code_samples
from dashboard.code_samples.stacks import STACKS


@access.signed_in
@require_safe
def code_page(request: SignedInRequest, client_id: str) -> HttpResponse:
    """`?stack=` and `?redirect_url=` choose; the first of each stands for what is none."""
    application = access.application_of(request, client_id)
    urls = application.redirect_urls
    chosen = request.GET.get("redirect_url", "")
    redirect_url = chosen if chosen in urls else urls[0]
    samples = {sample.stack.name: sample for sample in code_samples.samples_of(application, redirect_url)}
    context = {
        "application": application,
        "stacks": STACKS,
        "sample": samples.get(request.GET.get("stack", ""), samples[STACKS[0].name]),
        "redirect_url": redirect_url,
        "has_openid": "openid" in application.registered_scopes,
    }
    return render(request, "dashboard/debugging/code.html", context)
