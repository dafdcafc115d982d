"""Client apps: /dashboard/apps/…."""

from __future__ import annotations

from django.urls import path

from dashboard.views.applications import editing, overview, registration, scopes, secrets

urlpatterns = [
    path("", registration.listing, name="applications"),
    path("new/", registration.new, name="new_application"),
    path("preview/", registration.preview, name="preview_application"),
    path("check-redirects/", registration.check_redirects, name="check_redirects"),
    path("scopes/<str:scope>/", scopes.ask, name="ask_for_scope"),
    path("scope-requests/<int:pk>/withdraw/", scopes.withdraw, name="withdraw_scope_request"),
    path("<str:client_id>/", overview.overview, name="application"),
    path("<str:client_id>/settings/", editing.settings, name="application_settings"),
    path("<str:client_id>/preview/", editing.preview, name="application_preview"),
    path("<str:client_id>/redirects/", overview.match, name="application_redirects"),
    path("<str:client_id>/activity/", overview.activity, name="application_activity"),
    path("<str:client_id>/reset-secret/", secrets.reset, name="application_reset_secret"),
    path("<str:client_id>/revoke-tokens/", editing.revoke_tokens, name="application_revoke_tokens"),
    path("<str:client_id>/delete/", editing.delete, name="application_delete"),
]
