"""The pages of webhooks, of a person and of an app, and what their buttons do."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Concatenate

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.http import SignedInRequest
from accounts.models import WebhookDelivery, WebhookEndpoint
from accounts.webhooks import endpoints
from accounts.webhooks.endpoints import MAX_ENDPOINTS
from dashboard import access
from dashboard.forms import confirm, is_done, show_error, with_error_message
from dashboard.webhooks import actions, queries
from dashboard.webhooks.forms import DeliveryFilter, EditWebhookForm, RotateForm, WebhookForm
from dashboard.webhooks.queries import Owner
from oidc_provider.applications import roles
from oidc_provider.models import Application, Role

PAGE_LENGTH = 25
NEWEST_SHOWN = 5
OwnerPage = Callable[Concatenate[SignedInRequest, Owner, ...], HttpResponse]


def of_owner(role: Role) -> Callable[[OwnerPage], Callable[Concatenate[SignedInRequest, ...], HttpResponse]]:
    """Pass the owner to the view as its second argument: the person, or the app that the URL names.

    403 for members of the app's team whose role is lower than `role`; 404 for apps of other people, and for what
    another tab deleted. 1 query for an app.
    """

    def decorate(view: OwnerPage) -> Callable[Concatenate[SignedInRequest, ...], HttpResponse]:
        @functools.wraps(view)
        def opened(request: SignedInRequest, /, client_id: str = "", **parameters: Any) -> HttpResponse:
            try:
                return view(request, _owner(request, client_id, role), **parameters)
            except (Application.DoesNotExist, WebhookEndpoint.DoesNotExist):
                raise Http404 from None

        return opened

    return decorate


def _owner(request: SignedInRequest, client_id: str, role: Role) -> Owner:
    if not client_id:
        return Owner(request.user)
    application = access.application_of(request, client_id, role)
    return Owner(request.user, application, may_change=roles.allows(application, Role.DEVELOPER))


def _endpoint(owner: Owner, pk: int) -> WebhookEndpoint:
    """Return an endpoint of this owner. 1 query."""
    return get_object_or_404(endpoints.of_owner(**owner.columns).select_related("application", "user"), pk=pk)


def _delivery(endpoint: WebhookEndpoint, message_id: str) -> WebhookDelivery:
    """Return a delivery of this endpoint. 1 query."""
    return get_object_or_404(WebhookDelivery.objects.filter(endpoint=endpoint), message_id=message_id)


def _page(request: SignedInRequest, owner: Owner, template: str, **context: Any) -> HttpResponse:
    names = {"owner": owner, "application": owner.application}
    return render(request, f"dashboard/webhooks/{template}.html", {**names, **context})


@access.signed_in
@require_safe
@of_owner(Role.VIEWER)
def listing(request: SignedInRequest, owner: Owner) -> HttpResponse:
    """Show the endpoints. 1 query plus every page's, and 1 more for an app."""
    return _page(request, owner, "list", rows=queries.rows_of(owner), most=MAX_ENDPOINTS)


@access.recently_signed_in
@access.form_page
@of_owner(Role.DEVELOPER)
def new(request: SignedInRequest, owner: Owner) -> HttpResponse:
    """Show the form; only the answer to the POST shows the secret."""
    form = WebhookForm(request.POST or None, owner=owner)
    if form.is_valid():
        try:
            endpoint, secret = actions.create(owner=owner, by=request.user, **form.cleaned_data)
            return _page(request, owner, "secret", row=queries.row_of(endpoint), secret=secret, is_new=True)
        except ValidationError as error:
            show_error(form, error)
    return _page(request, owner, "new", form=form)


@access.signed_in
@require_safe
@of_owner(Role.VIEWER)
def page(request: SignedInRequest, owner: Owner, pk: int) -> HttpResponse:
    """Show an endpoint. 2 queries plus every page's: the endpoint, its newest deliveries; 1 more for an app."""
    endpoint = _endpoint(owner, pk)
    context = {
        "row": queries.row_of(endpoint),
        "events": [event for event in owner.events if event in endpoint.events],
        "previous_until": queries.previous_until(endpoint, timezone.now()),
        "deliveries": queries.deliveries_of(endpoint)[:NEWEST_SHOWN],
    }
    return _page(request, owner, "page", **context)


@access.signed_in
@access.form_page
@of_owner(Role.DEVELOPER)
def edit(request: SignedInRequest, owner: Owner, pk: int) -> HttpResponse:
    endpoint = _endpoint(owner, pk)
    form = EditWebhookForm(request.POST or None, owner=owner, initial=EditWebhookForm.initial_of(endpoint))
    if is_done(form, lambda: actions.change(owner=owner, endpoint=endpoint, by=request.user, **form.cleaned_data)):
        messages.success(request, "Webhook saved.")
        return redirect(owner.url("webhook", pk=pk))
    return _page(request, owner, "edit", row=queries.row_of(endpoint), form=form)


def _button(sentence: str, act: Callable[..., object], to: str = "webhook") -> Callable[..., HttpResponseBase]:
    """Return the view of a button without a confirmation page. `act`: an operation on the endpoint; `to`: the page
    that follows."""

    @access.signed_in
    @require_POST
    @of_owner(Role.DEVELOPER)
    def press(request: SignedInRequest, owner: Owner, pk: int) -> HttpResponse:
        endpoint = _endpoint(owner, pk)
        with_error_message(
            request, sentence, lambda: actions.perform(act, owner=owner, by=request.user, endpoint=endpoint)
        )
        return redirect(owner.url(to, pk=pk))

    return press


pause = _button("Webhook paused. Events of this time are not kept for it.", endpoints.pause)
resume = _button("Webhook resumed. It gets events from now on.", endpoints.resume)
send_test = _button(
    "Test event written. It is sent within seconds; reload this page to see the answer.",
    endpoints.send_test,
    to="webhook_deliveries",
)


@access.recently_signed_in
@access.form_page
@of_owner(Role.DEVELOPER)
def rotate(request: SignedInRequest, owner: Owner, pk: int) -> HttpResponse:
    endpoint = _endpoint(owner, pk)
    form = RotateForm(request.POST or None, initial={"version": actions.version_of_secret(endpoint)})
    if form.is_valid():
        try:
            version = form.cleaned_data["version"]
            secret = actions.rotate_secret(owner=owner, endpoint=endpoint, by=request.user, version=version)
            endpoint.refresh_from_db()
            return _page(request, owner, "secret", row=queries.row_of(endpoint), secret=secret)
        except ValidationError as error:
            show_error(form, error)
    effects = [
        "The new secret is shown once, on the next page.",
        "For 24 hours each event has two signatures, one with each secret, so your receiver can change over.",
        "A secret that was rotated before stops signing at once.",
    ]
    return _confirm(request, owner, endpoint, "Rotate the secret", effects, "Rotate", form=form, is_harmless=True)


@access.signed_in
@access.form_page
@of_owner(Role.DEVELOPER)
def delete(request: SignedInRequest, owner: Owner, pk: int) -> HttpResponse:
    endpoint = _endpoint(owner, pk)
    if request.method == "POST":
        with_error_message(
            request,
            "Webhook deleted.",
            lambda: actions.perform(endpoints.delete, owner=owner, by=request.user, endpoint=endpoint),
        )
        return redirect(owner.url("webhooks"))
    effects = [
        f"Nothing more is sent to {endpoint.url}.",
        "Its deliveries, with those that wait, and its secret are deleted. This cannot be undone.",
    ]
    return _confirm(request, owner, endpoint, "Delete this webhook?", effects, "Delete the webhook")


@access.signed_in
@require_safe
@of_owner(Role.VIEWER)
def deliveries(request: SignedInRequest, owner: Owner, pk: int) -> HttpResponse:
    """Show the deliveries. 3 queries plus every page's: the endpoint, the number, the rows; 1 more for an app."""
    endpoint = _endpoint(owner, pk)
    form = DeliveryFilter(request.GET)
    state = form.chosen()["state"]
    found = Paginator(queries.deliveries_of(endpoint, state), PAGE_LENGTH).get_page(request.GET.get("page"))
    context = {
        "row": queries.row_of(endpoint),
        "form": form,
        "page": found,
        "deliveries": found.object_list,
        "is_filtered": bool(state),
        "most": queries.MOST_SHOWN,
    }
    return _page(request, owner, "deliveries", **context)


@access.signed_in
@require_safe
@of_owner(Role.VIEWER)
def delivery(request: SignedInRequest, owner: Owner, pk: int, message_id: str) -> HttpResponse:
    """Show a delivery with its request and answer. 2 queries plus every page's; 1 more for an app."""
    endpoint = _endpoint(owner, pk)
    found = _delivery(endpoint, message_id)
    context = {
        "row": queries.row_of(endpoint),
        "delivery": queries.DeliveryRow(found),
        "body": queries.body_of(found),
    }
    return _page(request, owner, "delivery", **context)


@access.signed_in
@require_POST
@of_owner(Role.DEVELOPER)
def replay(request: SignedInRequest, owner: Owner, pk: int, message_id: str) -> HttpResponse:
    found = _delivery(_endpoint(owner, pk), message_id)
    sentence = "It is sent again within seconds, with the same id; reload this page to see the answer."
    with_error_message(
        request, sentence, lambda: actions.perform(endpoints.replay, owner=owner, by=request.user, delivery=found)
    )
    return redirect(owner.url("webhook_delivery", pk=pk, message_id=message_id))


def _confirm(
    request: SignedInRequest,
    owner: Owner,
    endpoint: WebhookEndpoint,
    title: str,
    effects: Sequence[str],
    button: str,
    **more: Any,
) -> HttpResponse:
    context = {"owner": owner, "application": owner.application, "row": queries.row_of(endpoint), **more}
    back_url = owner.url("webhook", pk=endpoint.pk)
    template = "dashboard/webhooks/confirm.html"
    return confirm(request, title, effects, button, back_url=back_url, template=template, **context)
