"""The account: /dashboard/account/…."""

from __future__ import annotations

from django.urls import path

from dashboard.views import home

urlpatterns = [
    path("", home.home, name="account_overview"),  # placeholder
    path("data/", home.home, name="account_data"),  # placeholder
]
