"""Documentation: /docs and below."""

from __future__ import annotations

from django.urls import path

from dashboard.views import home

urlpatterns = [
    path("", home.home, name="docs"),  # placeholder
]
