"""What helps to debug an app: /dashboard/apps/<client_id>/…."""

from __future__ import annotations

from django.urls import path

from dashboard.views.debugging import code, trying, usage

urlpatterns = [
    path("<slug:client_id>/try/", trying.try_page, name="application_try"),
    path("<slug:client_id>/try/start/", trying.start, name="application_try_start"),
    path("<slug:client_id>/try/callback", trying.callback, name="application_try_callback"),
    path("<slug:client_id>/try/callback-url/", trying.change_callback, name="application_try_callback_url"),
    path("<slug:client_id>/try/result/", trying.result, name="application_try_result"),
    path("<slug:client_id>/code/", code.code_page, name="application_code"),
    path("<slug:client_id>/usage/", usage.usage_page, name="application_usage"),
    path("<slug:client_id>/usage/<slug:period>.csv", usage.usage_csv, name="application_usage_csv"),
    path("<slug:client_id>/requests/", usage.request_log_page, name="application_log"),
]
