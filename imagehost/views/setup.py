"""The page where people set the image host up: what they store, programs that upload, folders and their rules."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.forms import Form
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import SignedInRequest
from accounts.models import User
from accounts.plans import ALLOWANCES, Allowance, Plan
from imagehost import addresses, folders, forms, listing, quotas, rules, uploaders, uploads
from imagehost.errors import FolderExists
from imagehost.folders import Changes
from imagehost.models import FolderRule

RECENT = listing.Page(limit=10)
_ACTS: dict[str, Callable[..., None]] = {
    "up": functools.partial(rules.move, places=-1),
    "down": functools.partial(rules.move, places=1),
    "delete": rules.delete,
}


@dataclass(frozen=True)
class Storage:
    """What a plan allows, and how much of it is taken; in bytes."""

    plan: Plan
    allowance: Allowance
    used: int

    @property
    def nearly_full(self) -> int:
        return self.allowance.max_storage * 9 // 10

    @property
    def percent(self) -> int:
        """Whole, and 0 or 100 only where that is so."""
        exact = 100 * self.used / self.allowance.max_storage
        return min(100, max(1, min(99, round(exact)))) if 0 < exact < 100 else round(min(100, exact))


@never_cache
@login_required
@require_safe
def setup_page(request: SignedInRequest) -> HttpResponse:
    """`?name=…&mime=…` asks which folder such a file would go to."""
    tester = forms.TesterForm(request.GET if "name" in request.GET else None)
    route = None
    if tester.is_valid():
        route = _result(tester, lambda: rules.which_folder(owner=request.user, **tester.cleaned_data))
    return _page(request, tester=tester, route=route)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def download(request: SignedInRequest, kind: str) -> HttpResponse:
    """A set-up with a fresh key: a file, or a page that shows it once. GET is where a login in between leads to."""
    if kind not in uploaders.ALL:
        raise Http404
    if request.method == "GET":
        return redirect("imagehost_setup")
    try:
        made = uploaders.make(owner=request.user, kind=kind, now=timezone.now())
    except ValidationError as refusal:
        messages.error(request, " ".join(refusal.messages))
        return redirect("imagehost_setup")
    if not made.uploader.file_name:
        return render(request, "imagehost/setup_uploader.html", {"made": made})
    disposition = f'attachment; filename="{made.uploader.file_name}"'
    headers = {"Content-Disposition": disposition, "Content-Type": made.uploader.content_type}
    return HttpResponse(made.text, headers=headers)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def add_folder(request: SignedInRequest) -> HttpResponse:
    """GET as above, here and below."""
    if request.method == "GET":
        return redirect("imagehost_setup")
    form = forms.FolderForm(request.POST)
    if form.is_valid() and _result(form, lambda: _new_folder(request.user, form)):
        messages.success(request, f"The folder {form.cleaned_data['name']} is there.")
        return _back_to("folders")
    return _page(request, folder_form=form)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def add_rule(request: SignedInRequest) -> HttpResponse:
    if request.method == "GET":
        return redirect("imagehost_setup")
    form = forms.RuleForm(request.POST, folders=listing.folders(owner_id=request.user.pk))
    if form.is_valid() and _result(form, lambda: rules.add(owner=request.user, **form.cleaned_data)):
        messages.success(request, "The rule is added, as the last one.")
        return _back_to("rules")
    return _page(request, rule_form=form)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def change_rule(request: SignedInRequest, rule_id: int, act: str) -> HttpResponse:
    """`act`: up, down or delete. A rule that is somebody else's is 404, like one that there is not."""
    if act not in _ACTS:
        raise Http404
    if request.method == "GET":
        return redirect("imagehost_setup")
    try:
        _ACTS[act](owner=request.user, rule_id=rule_id)
    except FolderRule.DoesNotExist:
        raise Http404 from None
    return _back_to("rules")


def _page(request: SignedInRequest, **of_forms: Any) -> HttpResponse:
    """4 queries beside those of the session: usage, rules, folders, files. Any: forms that were sent, and results."""
    owner, now = request.user, timezone.now()
    plan = owner.current_plan(now)
    held = list(listing.folders(owner_id=owner.pk))
    recent = listing.gallery(owner_id=owner.pk, page=RECENT)
    context = {
        "storage": Storage(plan, ALLOWANCES[plan], quotas.used(owner.pk)),
        "uploaders": uploaders.ALL,
        "folders": [(folder, addresses.folder_url(folder)) for folder in held],
        "rules": uploads.rules_of(owner.pk),
        "files": [(file, addresses.page_url(file)) for file in recent.files],
        "file_count": recent.total,
        "folder_form": forms.FolderForm(),
        "rule_form": forms.RuleForm(folders=held),
        **of_forms,
    }
    return render(request, "imagehost/setup.html", {"tester": forms.TesterForm(), **context})


def _result(form: Form, act: Callable[[], Any]) -> Any:
    """What the operation returns; None where it refuses, which the form then says. Any: whatever it returns."""
    try:
        return act()
    except ValidationError as refusal:
        form.add_error(None, refusal)
    return None


def _new_folder(owner: User, form: forms.FolderForm) -> object:
    changes = Changes(name=form.cleaned_data["name"], is_public=form.cleaned_data["is_public"])
    try:
        return folders.create(owner_id=owner.pk, changes=changes, now=timezone.now())
    except FolderExists as taken:
        raise ValidationError({"name": taken.error}) from None


def _back_to(section: str) -> HttpResponse:
    return redirect(f"{reverse('imagehost_setup')}#{section}")
