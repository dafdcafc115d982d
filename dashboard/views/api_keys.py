"""The pages of API keys that hold forms and facts."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from accounts.api_keys import keys
from accounts.api_keys.keys import IssuedKey
from accounts.http import SignedInRequest
from accounts.models import ApiKey
from dashboard import access, access_requests, api_key_pages, key_samples, own_keys
from dashboard.forms import refusals
from dashboard.forms.api_keys import KeyForm, NewKeyForm, PermissionRequestForm, RotationForm

PAGE_LENGTH = 25
form_page = require_http_methods(["GET", "HEAD", "POST"])


@access.signed_in
@require_safe
def index(request: SignedInRequest) -> HttpResponse:
    """4 queries beside those of every page: how many keys, the keys, their days, what they wait for."""
    now = timezone.now()
    page = Paginator(api_key_pages.keys_of(request.user, now), PAGE_LENGTH).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "rows": api_key_pages.rows_of(list(page), now),
        "most": keys.MAX_LIVE,
        "earlier_samples": key_samples.of_earlier_forms(request.user),
    }
    return render(request, "dashboard/api_keys/index.html", context)


@access.recently_signed_in
@form_page
def new(request: SignedInRequest) -> HttpResponse:
    """The secret stands in the answer to the POST, and nowhere else."""
    form = NewKeyForm(request.POST or None)
    if form.is_valid():
        try:
            wanted = form.wanted()
            return _made(request, own_keys.make(owner=request.user, wanted=wanted), requested=wanted.requested)
        except ValidationError as error:
            refusals.show(form, error)
    return render(request, "dashboard/api_keys/new.html", {"form": form})


@access.signed_in
@require_safe
def page(request: SignedInRequest, prefix: str) -> HttpResponse:
    """4 queries beside those of every page: the key, its days, its requests to staff, its trail; for a
    disabled key one more, for who disabled it."""
    key, now = access.key_of(request, prefix), timezone.now()
    permissions = api_key_pages.permissions_of(key)
    context = {
        "key": key,
        "state": api_key_pages.state_of(key, now),
        "is_over": key.is_over(now),
        "is_disabled_by_others": keys.is_disabled_by_others(key),
        "requests": api_key_pages.requests_of([key], now.date())[key.pk],
        "refill_at": api_key_pages.refill_at_of(key),
        "quota_text": f"{key.remaining_uses} of {key.refill_amount}",
        "limits": api_key_pages.limits_of(key.owner, now),
        "permissions": permissions,
        "may_ask": bool(api_key_pages.may_be_asked_for(permissions)) and not key.is_over(now),
        "trail": api_key_pages.trail_of(key),
    }
    return render(request, "dashboard/api_keys/page.html", context)


@access.signed_in
@form_page
def edit(request: SignedInRequest, prefix: str) -> HttpResponse:
    key = access.key_of(request, prefix)
    form = KeyForm(request.POST or None, key=key)
    if form.is_valid():
        values = form.cleaned_data
        try:
            own_keys.edit(
                key=key, name=values["name"], expires_at=form.ends_at(), version=values["version"], by=request.user
            )
        except ValidationError as error:
            refusals.show(form, error)
        else:
            messages.success(request, "The key is changed.")
            return redirect("api_key", key.prefix)
    return render(request, "dashboard/api_keys/edit.html", {"form": form, "key": key})


@access.recently_signed_in
@form_page
def rotate(request: SignedInRequest, prefix: str) -> HttpResponse:
    key = access.key_of(request, prefix)
    form = RotationForm(request.POST or None)
    if form.is_valid():
        try:
            issued = own_keys.rotate(
                key=key, overlap=form.length(), form_id=form.cleaned_data["form_id"], by=request.user
            )
            return _made(request, issued, old=access.key_of(request, prefix))
        except ValidationError as error:
            refusals.show(form, error)
    return render(request, "dashboard/api_keys/rotate.html", {"form": form, "key": key})


@access.signed_in
@form_page
def ask(request: SignedInRequest, prefix: str) -> HttpResponse:
    key = access.key_of(request, prefix)
    names = api_key_pages.may_be_asked_for(api_key_pages.permissions_of(key))
    form = PermissionRequestForm(request.POST or None, names=names)
    if form.is_valid():
        try:
            access_requests.ask_for_permission(key=key, **form.cleaned_data)
        except ValidationError as error:
            refusals.show(form, error)
        else:
            messages.success(request, "Your request is with staff; you get a mail when they answer.")
            return redirect("api_key", key.prefix)
    return render(request, "dashboard/api_keys/ask.html", {"form": form, "key": key, "names": names})


def _made(
    request: SignedInRequest, issued: IssuedKey, *, old: ApiKey | None = None, requested: Sequence[str] = ()
) -> HttpResponse:
    """`old`: the key that it replaces. `requested`: what staff were asked to allow it."""
    context = {
        "key": issued.key,
        "secret": issued.secret,
        "assignment": f"KEY='{issued.secret}'",
        "samples": key_samples.of_permissions(issued.key.permissions, request.user),
        "requested": [api_key_pages.in_words(name) for name in requested],
        "old": old,
        "old_works_on": old is not None and old.revoked_at is None,
    }
    return render(request, "dashboard/api_keys/made.html", context)
