"""The pages of API keys, and what their buttons do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.api_keys import keys
from accounts.api_keys.keys import IssuedKey
from accounts.http import SignedInRequest
from accounts.models import ApiKey
from dashboard import access, access_requests
from dashboard.api_keys import actions, queries
from dashboard.api_keys.forms import KeyForm, NewKeyForm, PermissionRequestForm, RotationForm
from dashboard.forms import confirm, is_done, show_error, with_error_message

PAGE_LENGTH = 25


@access.signed_in
@require_safe
def index(request: SignedInRequest) -> HttpResponse:
    """Show the keys. 4 queries plus every page's: number of keys, keys, days, pending requests."""
    now = timezone.now()
    page = Paginator(queries.keys_of(request.user, now), PAGE_LENGTH).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "rows": queries.rows_of(list(page), now),
        "most": keys.MAX_LIVE,
        "earlier_samples": queries.earlier_samples(request.user),
    }
    return render(request, "dashboard/api_keys/index.html", context)


@access.recently_signed_in
@access.form_page
def new(request: SignedInRequest) -> HttpResponse:
    """Show the form; only the answer to the POST holds the secret."""
    form = NewKeyForm(request.POST or None)
    if form.is_valid():
        try:
            issued = actions.make(owner=request.user, **form.values())
            return _made(request, issued, requested=form.cleaned_data["requested"])
        except ValidationError as error:
            show_error(form, error)
    return render(request, "dashboard/api_keys/new.html", {"form": form})


@access.signed_in
@require_safe
def page(request: SignedInRequest, prefix: str) -> HttpResponse:
    """Show a key. 4 queries plus every page's: the key, its days, its requests to staff, its trail; for a
    disabled key one more, for the actor who disabled it."""
    key, now = access.key_of(request, prefix), timezone.now()
    permissions = queries.permissions_of(key)
    context = {
        "key": key,
        "state": queries.state_of(key, now),
        "is_over": key.is_over(now),
        "is_disabled_by_others": keys.is_disabled_by_others(key),
        "requests": queries.requests_of([key], now.date())[key.pk],
        "refill_at": queries.refill_at_of(key),
        "quota_text": f"{key.remaining_uses} of {key.refill_amount}",
        "limits": queries.limits_of(key.owner, now),
        "permissions": permissions,
        "may_ask": bool(queries.may_be_asked_for(permissions)) and not key.is_over(now),
        "trail": queries.trail_of(key),
    }
    return render(request, "dashboard/api_keys/page.html", context)


@access.signed_in
@access.form_page
def edit(request: SignedInRequest, prefix: str) -> HttpResponse:
    key = access.key_of(request, prefix)
    form = KeyForm(request.POST or None, key=key)
    if is_done(form, lambda: actions.edit(key=key, **form.values(), by=request.user)):
        messages.success(request, "Key saved.")
        return redirect("api_key", key.prefix)
    return render(request, "dashboard/api_keys/edit.html", {"form": form, "key": key})


@access.recently_signed_in
@access.form_page
def rotate(request: SignedInRequest, prefix: str) -> HttpResponse:
    key = access.key_of(request, prefix)
    form = RotationForm(request.POST or None)
    if form.is_valid():
        try:
            issued = actions.rotate(
                key=key, overlap=form.length(), form_id=form.cleaned_data["form_id"], by=request.user
            )
            return _made(request, issued, old=access.key_of(request, prefix))
        except ValidationError as error:
            show_error(form, error)
    return render(request, "dashboard/api_keys/rotate.html", {"form": form, "key": key})


@access.signed_in
@access.form_page
def ask(request: SignedInRequest, prefix: str) -> HttpResponse:
    key = access.key_of(request, prefix)
    names = queries.may_be_asked_for(queries.permissions_of(key))
    form = PermissionRequestForm(request.POST or None, names=names)
    if is_done(form, lambda: access_requests.ask_for_permission(key=key, **form.cleaned_data)):
        messages.success(request, "Request sent. You get an email when staff answer.")
        return redirect("api_key", key.prefix)
    return render(request, "dashboard/api_keys/ask.html", {"form": form, "key": key, "names": names})


def _made(
    request: SignedInRequest, issued: IssuedKey, *, old: ApiKey | None = None, requested: Sequence[str] = ()
) -> HttpResponse:
    """Show the new key. `old`: the key that it replaces. `requested`: permissions requested from staff."""
    context = {
        "key": issued.key,
        "secret": issued.secret,
        "assignment": f"KEY='{issued.secret}'",
        "samples": queries.samples_of(issued.key.permissions, request.user),
        "requested": [queries.in_words(name) for name in requested],
        "old": old,
        "old_works_on": old is not None and old.revoked_at is None,
    }
    return render(request, "dashboard/api_keys/made.html", context)


def _button(sentence: str, act: Callable[..., object]) -> Callable[..., HttpResponseBase]:
    """Return the view of a button without a confirmation page. `act`: an operation on the key."""

    @access.signed_in
    @require_POST
    def press(request: SignedInRequest, /, prefix: str, **options: str) -> HttpResponse:
        key = access.key_of(request, prefix)
        return _done(request, key, sentence, lambda: act(key=key, by=request.user, **options))

    return press


enable = _button("Key enabled.", actions.enable)
disable = _button("Key disabled until you enable it.", keys.disable)
give = _button("Permission added.", actions.give_permission)


@access.signed_in
@require_POST
def withdraw(request: SignedInRequest, prefix: str, pk: int) -> HttpResponse:
    key = access.key_of(request, prefix)
    asked = get_object_or_404(key.access_requests, pk=pk)
    return _done(request, key, "Request withdrawn.", lambda: access_requests.withdraw(request=asked, by=request.user))


@access.signed_in
@access.form_page
def take(request: SignedInRequest, prefix: str, permission: str) -> HttpResponse:
    key = access.key_of(request, prefix)
    if not key.allows(permission):
        raise Http404
    if request.method == "POST":
        act = partial(keys.withdraw_permission, key=key, permission=permission, by=request.user)
        return _done(request, key, "Permission removed.", act)
    effects = [f"{queries.in_words(permission)}: the key loses this permission. Its callers read “API Key not found”."]
    if permission not in access_requests.SELF_SERVED:
        effects.append("To get it back, request it from staff again.")
    return _confirm(request, key, "Remove the permission", effects, "Remove")


@access.signed_in
@access.form_page
def revoke(request: SignedInRequest, prefix: str) -> HttpResponse:
    key = access.key_of(request, prefix)
    if request.method == "POST":
        return _done(request, key, "Key revoked.", lambda: actions.revoke(key=key, by=request.user))
    effects = [
        "The key stops working at once. This cannot be undone. Its callers read “API Key not found”.",
        "Its pending requests to staff are withdrawn.",
    ]
    return _confirm(request, key, f"Revoke {key}", effects, "Revoke permanently")


@access.signed_in
@access.form_page
def delete(request: SignedInRequest, prefix: str) -> HttpResponse:
    key = access.key_of(request, prefix)
    if request.method != "POST":
        effects = [
            "The key leaves your list, with its counts and its requests to staff.",
            "Its callers then read “Invalid API key.” instead of the reason.",
        ]
        return _confirm(request, key, f"Delete {key}", effects, "Delete the key")
    try:
        keys.delete(key=key, by=request.user)
    except ValidationError as error:
        messages.error(request, error.messages[0])
        return redirect("api_key", key.prefix)
    messages.success(request, f"{key} deleted.")
    return redirect("api_keys")


def _done(request: SignedInRequest, key: ApiKey, sentence: str, act: Callable[[], object]) -> HttpResponse:
    """Run the operation and return to the page of the key."""
    with_error_message(request, sentence, act)
    return redirect("api_key", key.prefix)


def _confirm(request: SignedInRequest, key: ApiKey, title: str, effects: Sequence[str], button: str) -> HttpResponse:
    return confirm(request, title, effects, button, back_url=reverse("api_key", args=[key.prefix]))
