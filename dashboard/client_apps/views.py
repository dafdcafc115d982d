"""The pages of client apps: the list, a new app, its overview, settings, scopes and secret."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import SignedInRequest
from dashboard import access, access_requests
from dashboard.client_apps import actions, queries, redirect_editor
from dashboard.client_apps.forms import (
    AddSecretForm,
    AppForm,
    AskForm,
    CopyForm,
    EditAppForm,
    MatchForm,
    NameForm,
    NewAppForm,
    ResetForm,
)
from dashboard.client_apps.queries import AppRow
from dashboard.forms import confirm, is_done, show_error, with_error_message
from dashboard.models import AccessRequest
from infrastructure.requests.errors import sentences
from oidc_provider import redirects, request_log
from oidc_provider.applications import application_rules, applications, logos, roles, staging
from oidc_provider.applications.application_rules import MAX_APPLICATIONS
from oidc_provider.applications.applications import AlreadyRegistered
from oidc_provider.applications.scopes import LOCKED_SCOPES, SCOPES, Scope
from oidc_provider.models import Application, Role

AppPage = Callable[Concatenate[SignedInRequest, Application, ...], HttpResponse]


AnyPage = Callable[Concatenate[SignedInRequest, ...], HttpResponse]


def of_app(role: Role) -> Callable[[AppPage], AnyPage]:
    """Pass the app to the view as its second argument. 403 for a lower role than `role`; 404 for apps of other users
    and deleted ones. 1 query."""

    def decorate(view: AppPage) -> AnyPage:
        @functools.wraps(view)
        def opened(request: SignedInRequest, /, client_id: str, **parameters: str) -> HttpResponse:
            try:
                return view(request, access.application_of(request, client_id, role), **parameters)
            except Application.DoesNotExist:  # another tab deleted it between our reads and our writes
                raise Http404 from None

        return opened

    return decorate


@dataclass(frozen=True)
class ScopeRow:
    """`request`: the latest one to staff, for a locked scope. `example`: its claims as JSON; empty without any."""

    scope: Scope
    is_chosen: bool
    is_available: bool
    request: AccessRequest | None
    example: str


def _form_page(request: SignedInRequest, template: str, form: AppForm, row: AppRow | None = None) -> HttpResponse:
    """Show the form; `row`: the app that it edits. 2 queries for the scopes and the person's own values, 1 more for an
    app of a team, and 2 more for an app with a logout URL."""
    asked, chosen = queries.scope_requests(request.user), form.chosen_scopes()
    unlocked = roles.unlocked_scopes(form.owner, form.team)
    rows = [
        ScopeRow(
            scope,
            is_chosen=name in chosen,
            is_available=not scope.is_locked or name in unlocked,
            request=asked.get(name),
            example=queries.claims_json(scope),
        )
        for name, scope in SCOPES.items()
    ]
    context = {
        "form": form,
        "scope_rows": rows,
        "max_urls": redirects.MAX_URLS,
        "max_length": redirects.MAX_LENGTH,
        "application": row.application if row else None,
        "row": row,
        "logouts": queries.logouts_of(row.application) if row else [],
        "preview": _preview_context(request, form, row),
    }
    return render(request, template, context)


def _preview(request: SignedInRequest, form: AppForm, row: AppRow | None = None) -> HttpResponse:
    """Return only the consent screen, which a script puts into the page."""
    return render(request, "dashboard/client_apps/_preview.html", {"preview": _preview_context(request, form, row)})


def _preview_context(request: SignedInRequest, form: AppForm, row: AppRow | None) -> dict[str, Any]:
    png = form.sent_logo()
    keeps_logo = row is not None and "removes_logo" not in request.POST
    return {
        **queries.consent_screen(
            user=request.user,
            name=str(form["name"].value() or "").strip(),
            links={name: str(form[name].value() or "").strip() for name in application_rules.LINKS},
            redirect_urls=[line.url for line in form.redirect_rows()],
            scopes=form.chosen_scopes(),
            existing=row.application if row else None,
            user_count=row.user_count if row else 0,
        ),
        "logo_url": logos.data_url(png) if png else (row.logo_url if row and keeps_logo else ""),
    }


@access.recently_signed_in
@require_http_methods(["GET", "POST"])
@of_app(Role.DEVELOPER)
def reset_secret(request: SignedInRequest, application: Application) -> HttpResponse:
    form = ResetForm(request.POST or None, application=application)
    if request.method == "POST" and form.is_valid():
        version = form.cleaned_data["version"]
        try:
            secret = actions.reset_secret(application=application, by=request.user, version=version)
            return _secret_page(request, application, secret, "reset")
        except ValidationError as error:
            form.add_error(None, error)
    users = queries.signed_in_today(application, timezone.now())
    context = {"application": application, "form": form, "signed_in_today": users}
    return render(request, "dashboard/client_apps/reset_secret.html", context)


@access.recently_signed_in
@require_http_methods(["GET", "POST"])
@of_app(Role.DEVELOPER)
def add_secret(request: SignedInRequest, application: Application) -> HttpResponse:
    form = AddSecretForm(request.POST or None, initial={"version": actions.version_of_secrets(application)})
    if request.method == "POST" and form.is_valid():
        version = form.cleaned_data["version"]
        try:
            secret = actions.add_secret(application=application, by=request.user, version=version)
            return _secret_page(request, application, secret, "added")
        except ValidationError as error:
            form.add_error(None, error)
    effects = [
        "The new secret is shown once. The first one works on beside it.",
        "Deploy the new one, and remove the first once its last use no longer changes.",
        "An app has two secrets at most. A reset ends both.",
    ]
    title = f"Add a second secret to {application.name}?"
    return _confirm(
        request, application, title, effects, "Add a secret", back="application", form=form, is_harmless=True
    )


@access.recently_signed_in
@require_http_methods(["GET", "POST"])
@of_app(Role.DEVELOPER)
def remove_secret(request: SignedInRequest, application: Application, version: str) -> HttpResponse:
    if request.method == "POST":
        with_error_message(
            request,
            "Secret removed. It no longer works.",
            lambda: actions.remove_secret(application=application, by=request.user, version=version),
        )
        return redirect("application", application.client_id)
    known = queries.secrets_of(application, reader=request.user, now=timezone.now())
    secret = next((secret for secret in known if secret.version == version), None)
    if secret is None or len(known) == 1:
        messages.info(request, "This secret was removed already, or is the only one of the app.")
        return redirect("application", application.client_id)
    context = {"application": application, "secret": secret}
    return render(request, "dashboard/client_apps/remove_secret.html", context)


def _secret_page(request: SignedInRequest, application: Application, secret: str, made: str) -> HttpResponse:
    """Return the only page that shows `secret`. Its views are never cached. `made`: "new", "reset" or "added"."""
    if application.role is None:  # a new app
        application.role = Role.OWNER if application.user_id == request.user.pk else Role.DEVELOPER
    context = {"application": application, "client_secret": secret, "made": made}
    return render(request, "dashboard/client_apps/secret.html", context)


@access.signed_in
@require_safe
def listing(request: SignedInRequest) -> HttpResponse:
    rows = queries.apps_of(request.user)
    counted = [row for row in rows if row.application.user_id == request.user.pk and not row.application.is_staging]
    is_full = len(counted) >= MAX_APPLICATIONS
    return render(request, "dashboard/client_apps/list.html", {"rows": rows, "is_full": is_full})


@access.signed_in
@require_http_methods(["GET", "POST"])
def new(request: SignedInRequest) -> HttpResponse:
    """Show the form; only the answer to the POST shows the secret, which is stored as a hash."""
    form = NewAppForm(request.POST or None, request.FILES or None, owner=request.user)
    if request.method == "POST" and "preview" not in request.POST and form.is_valid():
        client_id = form.cleaned_data["ticket"]
        try:
            registered = actions.register(owner=request.user, client_id=client_id, **form.values())
            return _secret_page(request, registered.application, registered.client_secret, "new")
        except AlreadyRegistered:
            if roles.readable_by(request.user).filter(client_id=client_id).exists():
                messages.info(
                    request,
                    "This form has created its app already. No second app was created. The secret was shown once; if "
                    "you lost it, reset it.",
                )
                return redirect("application", client_id)
            form.refuse_deleted()
        except ValidationError as error:
            show_error(form, error)
    return _form_page(request, "dashboard/client_apps/new.html", form)


@access.signed_in
@require_POST
def preview_new(request: SignedInRequest) -> HttpResponse:
    return _preview(request, NewAppForm(request.POST, request.FILES, owner=request.user))


@access.signed_in
@require_POST
def check_redirects(request: SignedInRequest) -> HttpResponse:
    """Return the errors and advice for the rows of the editor, while the user types."""
    urls = [url.strip() for url in request.POST.getlist("redirect_urls")[:50]]
    rows = redirect_editor.rows_of(urls, is_staging="staging" in request.GET)
    return JsonResponse({"rows": [{"problem": row.problem, "advice": row.advice} for row in rows]})


@access.signed_in
@require_http_methods(["GET", "POST"])
@of_app(Role.DEVELOPER)
def settings(request: SignedInRequest, application: Application) -> HttpResponse:
    initial = EditAppForm.initial_of(application)
    form = EditAppForm(
        request.POST or None,
        request.FILES or None,
        owner=application.user,
        team=application.team,
        initial=initial,
        is_staging=application.is_staging,
    )
    if request.method == "POST" and "preview" not in request.POST and form.is_valid():
        try:
            _save(request, application, form)
            return redirect("application_settings", application.client_id)
        except ValidationError as error:
            show_error(form, error)
    return _form_page(request, "dashboard/client_apps/settings.html", form, queries.row_of(application))


@access.signed_in
@require_POST
@of_app(Role.DEVELOPER)
def preview(request: SignedInRequest, application: Application) -> HttpResponse:
    row = queries.row_of(application)
    form = EditAppForm(
        request.POST,
        request.FILES,
        owner=application.user,
        team=application.team,
        is_staging=application.is_staging,
    )
    return _preview(request, form, row)


@access.signed_in
@require_http_methods(["GET", "POST"])
@of_app(Role.DEVELOPER)
def revoke_tokens(request: SignedInRequest, application: Application) -> HttpResponse:
    if request.method == "POST":
        applications.revoke_tokens(application=application, by=request.user)
        messages.success(request, "All tokens of the app revoked.")
        return redirect("application", application.client_id)
    effects = [
        "Every code, access token and refresh token of the app stops working at once.",
        "Its users have to sign in again. Their approvals are kept, so they are not asked again.",
        "The secret stays as it is.",
    ]
    return _confirm(request, application, f"Revoke all tokens of {application.name}?", effects, "Revoke all tokens")


@access.recently_signed_in
@require_http_methods(["GET", "POST"])
@of_app(Role.OWNER)
def delete(request: SignedInRequest, application: Application) -> HttpResponse:
    form = NameForm(request.POST or None, application=application)
    if request.method == "POST" and form.is_valid():
        applications.delete(application=application, by=request.user)
        messages.success(request, f"{application.name} deleted.")
        return redirect("applications")
    effects = [
        "The app, its client id and its secret are deleted; users can no longer sign in. This cannot be undone.",
        "Its tokens stop working at once, and what people approved is forgotten.",
    ]
    return _confirm(request, application, f"Delete {application.name}?", effects, "Delete the app", form=form)


def _confirm(
    request: SignedInRequest,
    application: Application,
    title: str,
    effects: list[str],
    button: str,
    *,
    back: str = "application_settings",
    **more: object,
) -> HttpResponse:
    """Return the page that asks before the operation, as `confirm`. `back`: the page of the app that has the button."""
    back_url = reverse(back, args=[application.client_id])
    template = "dashboard/client_apps/confirm.html"
    return confirm(
        request, title, effects, button, back_url=back_url, template=template, application=application, **more
    )


def _save(request: SignedInRequest, application: Application, form: EditAppForm) -> None:
    """Save the app, with messages about what the change means."""
    changed = actions.change(application=application, by=request.user, **form.values())
    messages.success(request, f"{changed.name} saved.")
    for short, long in redirect_editor.slash_pairs(changed.redirect_urls):
        messages.warning(
            request, f"{short} and {long} are two different URLs. Keep the one that your app really sends."
        )
    if application.is_verified and not changed.is_verified:
        messages.warning(
            request, "The app is no longer verified, as its name or logo changed. Staff can verify it again."
        )


@access.recently_signed_in
@require_http_methods(["GET", "POST"])
@of_app(Role.DEVELOPER)
def create_staging(request: SignedInRequest, application: Application) -> HttpResponse:
    if request.method == "POST":
        try:
            registered = staging.create(application=application, by=request.user)
            return _secret_page(request, registered.application, registered.client_secret, "new")
        except ValidationError as error:
            messages.error(request, sentences(error))
            return redirect("application", application.client_id)
    effects = [
        "It has its own client id, secret, redirect URLs, people and tokens, and does not count as another app.",
        f"Name, links, scopes and logo begin as those of {application.name}, and can be copied either way later.",
        f"Its first redirect URL is {staging.FIRST_REDIRECT_URL}, at any port. The consent screen says that it is a "
        "staging app.",
    ]
    title = f"Create a staging app of {application.name}?"
    return _confirm(request, application, title, effects, "Create it", back="application", is_harmless=True)


@access.signed_in
@require_http_methods(["GET", "POST"])
@of_app(Role.DEVELOPER)
def copy_settings(request: SignedInRequest, application: Application) -> HttpResponse:
    """Copy the settings of the other app to this one, once the page has shown what changes."""
    other = application.other
    if other is None:
        raise Http404
    changes = staging.differences(source=other, target=application)
    form = CopyForm(request.POST or None, initial={"version": staging.version_of(changes)})
    if is_done(
        form,
        lambda: staging.copy(source=other, target=application, by=request.user, version=form.cleaned_data["version"]),
    ):
        messages.success(request, f"Settings copied to the {'staging' if application.is_staging else 'live'} app.")
        return redirect("application", application.client_id)
    context = {"application": application, "other": other, "form": form, "changes": queries.copied(changes)}
    return render(request, "dashboard/client_apps/copy_settings.html", context)


PAGE_SIZE = 25


@access.signed_in
@require_safe
@of_app(Role.VIEWER)
def overview(request: SignedInRequest, application: Application) -> HttpResponse:
    request_log.buffer.write()  # so that the last uses are those of a moment ago
    row = queries.row_of(application)
    context = {
        "application": row.application,
        "row": row,
        "secrets": queries.secrets_of(row.application, reader=request.user, now=timezone.now()),
        "scopes": [SCOPES[name] for name in application.registered_scopes if name in SCOPES],
        "other": row.application.other,
        "webhooks": queries.webhooks_in_words(row.application),
        "offer": queries.offer_for(row.application, timezone.now()),
    }
    return render(request, "dashboard/client_apps/overview.html", context)


@access.signed_in
@require_safe
@of_app(Role.VIEWER)
def activity(request: SignedInRequest, application: Application) -> HttpResponse:
    events = queries.events_of(application).order_by("-created_at", "-pk")
    page = Paginator(events, PAGE_SIZE).get_page(request.GET.get("page"))
    entries = queries.entries_of(page.object_list, request.user)
    context = {"application": application, "page": page, "entries": entries}
    return render(request, "dashboard/client_apps/activity.html", context)


@access.signed_in
@require_http_methods(["GET", "POST"])
@of_app(Role.VIEWER)
def match(request: SignedInRequest, application: Application) -> HttpResponse:
    """Compare; change nothing. By POST, because the pasted URL may contain a code, which must not be logged."""
    form = MatchForm(request.POST or None)
    context = {"application": application, "form": form}
    if request.method == "POST" and form.is_valid():
        sent = redirect_editor.sent_url(form.cleaned_data["url"])
        context["sent"] = sent
        context["difference"] = redirect_editor.explain(sent, application.redirect_urls)
    return render(request, "dashboard/client_apps/match.html", context)


@access.signed_in
@require_http_methods(["GET", "POST"])
def ask_for_scope(request: SignedInRequest, scope: str) -> HttpResponse:
    """Show the state of the user's request, and the form where none is pending."""
    if scope not in LOCKED_SCOPES:
        raise Http404
    form = AskForm(request.POST or None)
    if is_done(form, lambda: access_requests.ask_for_scope(user=request.user, scope=scope, **form.cleaned_data)):
        messages.success(request, "Request sent. Staff answer by email and on this page.")
        return redirect("ask_for_scope", scope)
    context = {
        "form": form,
        "scope": SCOPES[scope],
        "asked": queries.scope_requests(request.user).get(scope),
        "is_unlocked": scope in request.user.unlocked_scopes,
    }
    return render(request, "dashboard/client_apps/ask_for_scope.html", context)


@access.signed_in
@require_POST
def withdraw_scope_request(request: SignedInRequest, pk: int) -> HttpResponse:
    asked = access.request_of(request, pk)
    if asked.subject not in LOCKED_SCOPES:
        raise Http404
    with_error_message(request, "Request withdrawn.", lambda: access_requests.withdraw(request=asked, by=request.user))
    return redirect("ask_for_scope", asked.subject)
