"""Client apps: /dashboard/apps/…."""

from __future__ import annotations

from django.urls import path

from dashboard.client_apps import debug_views, views

urlpatterns = [
    path("", views.listing, name="applications"),
    path("new/", views.new, name="new_application"),
    path("preview/", views.preview_new, name="preview_application"),
    path("check-redirects/", views.check_redirects, name="check_redirects"),
    path("scopes/<str:scope>/", views.ask_for_scope, name="ask_for_scope"),
    path("scope-requests/<int:pk>/withdraw/", views.withdraw_scope_request, name="withdraw_scope_request"),
    path("<str:client_id>/", views.overview, name="application"),
    path("<str:client_id>/settings/", views.settings, name="application_settings"),
    path("<str:client_id>/preview/", views.preview, name="application_preview"),
    path("<str:client_id>/redirects/", views.match, name="application_redirects"),
    path("<str:client_id>/activity/", views.activity, name="application_activity"),
    path("<str:client_id>/reset-secret/", views.reset_secret, name="application_reset_secret"),
    path("<str:client_id>/add-secret/", views.add_secret, name="application_add_secret"),
    path("<str:client_id>/secrets/<slug:version>/remove/", views.remove_secret, name="application_remove_secret"),
    path("<str:client_id>/create-staging/", views.create_staging, name="application_create_staging"),
    path("<str:client_id>/copy-settings/", views.copy_settings, name="application_copy_settings"),
    path("<str:client_id>/revoke-tokens/", views.revoke_tokens, name="application_revoke_tokens"),
    path("<str:client_id>/delete/", views.delete, name="application_delete"),
    path("<slug:client_id>/try/", debug_views.try_page, name="application_try"),
    path("<slug:client_id>/try/start/", debug_views.start, name="application_try_start"),
    path("<slug:client_id>/try/callback", debug_views.callback, name="application_try_callback"),
    path("<slug:client_id>/try/callback-url/", debug_views.change_callback, name="application_try_callback_url"),
    path("<slug:client_id>/try/result/", debug_views.result, name="application_try_result"),
    path("<slug:client_id>/code/", debug_views.code_page, name="application_code"),
    path("<slug:client_id>/usage/", debug_views.usage_page, name="application_usage"),
    path("<slug:client_id>/usage/<slug:period>.csv", debug_views.usage_csv, name="application_usage_csv"),
    path("<slug:client_id>/requests/", debug_views.request_log_page, name="application_log"),
]
