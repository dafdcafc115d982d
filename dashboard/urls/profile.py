"""The profile's own fields, settings and media: /dashboard/profile/…."""

from __future__ import annotations

from django.urls import path

from dashboard.views import home

urlpatterns = [
    path("", home.home, name="profile_editor"),  # placeholder
]
