"""What the page of an app's form shows: the form, its scopes, and the consent screen beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from accounts.http import SignedInRequest
from dashboard import app_facts, claim_examples, consent_previews
from dashboard.app_facts import AppRow
from dashboard.forms.applications import AppForm
from dashboard.models import AccessRequest
from oidc_provider.applications import application_rules, redirects
from oidc_provider.applications.scopes import Scope


@dataclass(frozen=True)
class ScopeRow:
    """`request`: the latest one to staff, for a locked scope. `example`: its claims as JSON; empty without any."""

    scope: Scope
    is_chosen: bool
    is_available: bool
    request: AccessRequest | None
    example: str


def response(request: SignedInRequest, template: str, form: AppForm, row: AppRow | None = None) -> HttpResponse:
    """The page; `row`: the app that the form edits. 2 queries for the scopes and the person's own values."""
    asked = app_facts.scope_requests(request.user)
    rows = [
        ScopeRow(scope, is_chosen, is_available, asked.get(scope.name), claim_examples.json_of(scope))
        for scope, is_chosen, is_available in form.scope_choices()
    ]
    context = {
        "form": form,
        "scope_rows": rows,
        "max_urls": redirects.MAX_URLS,
        "max_length": redirects.MAX_LENGTH,
        "application": row.application if row else None,
        "row": row,
        "preview": preview_of(request, form, row),
    }
    return render(request, template, context)


def preview(request: SignedInRequest, form: AppForm, row: AppRow | None = None) -> HttpResponse:
    """The consent screen alone, for a page that puts it in its place."""
    return render(request, "dashboard/apps/_preview.html", {"preview": preview_of(request, form, row)})


def preview_of(request: SignedInRequest, form: AppForm, row: AppRow | None) -> dict[str, Any]:
    """Any: a template's context."""
    logo_url = consent_previews.logo_url_of(request.FILES.get("logo"))
    keeps_logo = row is not None and "removes_logo" not in request.POST
    return {
        **consent_previews.of_values(
            user=request.user,
            name=str(form["name"].value() or "").strip(),
            links={name: str(form[name].value() or "").strip() for name in application_rules.LINKS},
            redirect_urls=[line.url for line in form.redirect_rows()],
            scopes=form.chosen_scopes(),
            existing=row.application if row else None,
            user_count=row.user_count if row else 0,
        ),
        "logo_url": logo_url or (row.logo_url if row and keeps_logo else ""),
    }
