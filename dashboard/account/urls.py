"""The account: /dashboard/account/…."""

from __future__ import annotations

from django.urls import path

from dashboard.account import views

urlpatterns = [
    path("", views.overview, name="account_overview"),
    path("display-name/", views.display_name, name="account_display_name"),
    path("username/", views.username, name="account_username"),
    path("sessions/<int:pk>/end/", views.end_session, name="account_end_session"),
    path("new-browsers/", views.new_browsers, name="account_new_browsers"),
    path("data/", views.data, name="account_data"),
    path("data/download/", views.download, name="account_download"),
    path("delete/", views.delete, name="account_delete"),
    path("keep/", views.keep, name="account_keep"),
]
