"""The account: /dashboard/account/…."""

from __future__ import annotations

from django.urls import path

from dashboard.views import account

urlpatterns = [
    path("", account.overview, name="account_overview"),
    path("display-name/", account.display_name, name="account_display_name"),
    path("username/", account.username, name="account_username"),
    path("sessions/<int:pk>/end/", account.end_session, name="account_end_session"),
    path("data/", account.data, name="account_data"),
    path("data/download/", account.download, name="account_download"),
    path("delete/", account.delete, name="account_delete"),
    path("keep/", account.keep, name="account_keep"),
]
