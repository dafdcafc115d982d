"""One's own data, out as a file and in again."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import SignedInRequest
from dashboard import access, editing
from dashboard.forms.profile_transfer import ConfirmForm, ImportForm
from lookup.models import Profile
from lookup.transfer import own
from lookup.transfer.reading import LineRefused

MAX_SHOWN = 100  # problems


@access.signed_in
@editing.of_main_profile
@require_safe
def transfer(request: SignedInRequest, profile: Profile) -> HttpResponse:
    return _page(request, profile, ImportForm())


@access.signed_in
@editing.of_main_profile
@require_safe
def export(request: SignedInRequest, profile: Profile) -> HttpResponse:
    line = own.exported(request.user)
    name = f"{request.user.username}-{timezone.now():%Y-%m-%d}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(line + b"\n", content_type="application/json", headers=headers)


@access.signed_in
@editing.of_main_profile
@require_http_methods(["GET", "HEAD", "POST"])
def check(request: SignedInRequest, profile: Profile) -> HttpResponse:
    """What would come of the file; nothing is changed."""
    if request.method != "POST":
        return redirect("profile_transfer")
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, profile, form)
    text = form.cleaned_data["file"]
    try:
        restored = own.restore(user=request.user, text=text.encode(), by=request.user, is_check=True)
    except LineRefused as refused:
        return _page(request, profile, ImportForm(), refused)
    context = {
        "profile": profile,
        "page_title": "Check the import",
        "form": ConfirmForm(initial={"text": text}),
        "restored": restored,
    }
    return render(request, "dashboard/profile/import.html", context)


@access.signed_in
@editing.of_main_profile
@require_http_methods(["GET", "HEAD", "POST"])
def restore(request: SignedInRequest, profile: Profile) -> HttpResponse:
    form = ConfirmForm(request.POST)
    if request.method != "POST" or not form.is_valid():
        return redirect("profile_transfer")
    try:
        own.restore(user=request.user, text=form.cleaned_data["text"].encode(), by=request.user)
    except LineRefused as refused:
        return _page(request, profile, ImportForm(), refused)
    messages.success(request, "Your profile is what the file says.")
    return redirect("profile_editor")


def _page(
    request: SignedInRequest, profile: Profile, form: ImportForm, refused: LineRefused | None = None
) -> HttpResponse:
    problems = refused.problems if refused else []
    context = {
        "profile": profile,
        "page_title": "Export and import",
        "form": form,
        "problems": problems[:MAX_SHOWN],
        "more": max(len(problems) - MAX_SHOWN, 0),
    }
    return render(request, "dashboard/profile/transfer.html", context)
