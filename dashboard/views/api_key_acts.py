"""What is done to an API key: by a button, or behind a page that asks once more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from accounts.api_keys import keys
from accounts.http import SignedInRequest
from accounts.models import ApiKey
from dashboard import access, access_requests, api_key_pages, own_keys

confirmed = require_http_methods(["GET", "HEAD", "POST"])


@access.signed_in
@require_POST
def enable(request: SignedInRequest, prefix: str) -> HttpResponse:
    key = access.key_of(request, prefix)
    return _done(request, key, "The key works again.", lambda: own_keys.enable(key=key, by=request.user))


@access.signed_in
@require_POST
def disable(request: SignedInRequest, prefix: str) -> HttpResponse:
    """Undone by one button, so nothing asks twice."""
    key = access.key_of(request, prefix)
    return _done(
        request, key, "The key is refused until you enable it.", lambda: keys.disable(key=key, by=request.user)
    )


@access.signed_in
@require_POST
def give(request: SignedInRequest, prefix: str, permission: str) -> HttpResponse:
    key = access.key_of(request, prefix)
    return _done(
        request,
        key,
        "The key may do that now.",
        lambda: own_keys.give_permission(key=key, permission=permission, by=request.user),
    )


@access.signed_in
@require_POST
def withdraw(request: SignedInRequest, prefix: str, pk: int) -> HttpResponse:
    key = access.key_of(request, prefix)
    asked = get_object_or_404(key.access_requests, pk=pk)
    return _done(
        request, key, "The request is withdrawn.", lambda: access_requests.withdraw(request=asked, by=request.user)
    )


@access.signed_in
@confirmed
def take(request: SignedInRequest, prefix: str, permission: str) -> HttpResponse:
    key = access.key_of(request, prefix)
    if not key.allows(permission):
        raise Http404
    if request.method == "POST":
        act = lambda: keys.withdraw_permission(key=key, permission=permission, by=request.user)  # noqa: E731
        return _done(request, key, "The key may not do that any more.", act)
    effects = [
        f"{api_key_pages.in_words(permission)}: the key may not do that any more. Its callers read “API Key not found”."
    ]
    if permission not in access_requests.SELF_SERVED:
        effects.append("To get it back, you have to ask staff again.")
    return _confirm(request, key, "Take the permission away", effects, "Take it away")


@access.signed_in
@confirmed
def revoke(request: SignedInRequest, prefix: str) -> HttpResponse:
    key = access.key_of(request, prefix)
    if request.method == "POST":
        return _done(request, key, "The key is revoked.", lambda: own_keys.revoke(key=key, by=request.user))
    effects = [
        "The key stops working at once, for ever. Its callers read “API Key not found”.",
        "What it waits for from staff is withdrawn.",
    ]
    return _confirm(request, key, f"Revoke {key}", effects, "Revoke the key")


@access.signed_in
@confirmed
def delete(request: SignedInRequest, prefix: str) -> HttpResponse:
    key = access.key_of(request, prefix)
    if request.method != "POST":
        effects = [
            "The key leaves your list, with its counts and its requests to staff.",
            "Whoever still calls with it then reads “Invalid API key.”, and no longer why.",
        ]
        return _confirm(request, key, f"Delete {key}", effects, "Delete the key")
    try:
        keys.delete(key=key, by=request.user)
    except ValidationError as error:
        messages.error(request, error.messages[0])
        return redirect("api_key", key.prefix)
    messages.success(request, f"{key} is deleted.")
    return redirect("api_keys")


def _done(request: SignedInRequest, key: ApiKey, sentence: str, act: Callable[[], object]) -> HttpResponse:
    """Back to the page of the key, with what happened."""
    try:
        act()
    except ValidationError as error:
        messages.error(request, error.messages[0])
    else:
        messages.success(request, sentence)
    return redirect("api_key", key.prefix)


def _confirm(request: SignedInRequest, key: ApiKey, title: str, effects: Sequence[str], button: str) -> HttpResponse:
    back_url = reverse("api_key", args=[key.prefix])
    context: dict[str, Any] = {"title": title, "effects": effects, "button": button, "back_url": back_url}
    return render(request, "dashboard/confirm.html", context)
