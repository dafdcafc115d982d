"""API keys: /dashboard/api-keys/…."""

from __future__ import annotations

from django.urls import path

from dashboard.views import home

urlpatterns = [
    path("", home.home, name="api_keys"),  # placeholder
]
