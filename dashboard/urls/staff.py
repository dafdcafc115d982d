"""Staff pages: /dashboard/staff/…."""

from __future__ import annotations

from django.urls import path

from dashboard.views import home

urlpatterns = [
    path("", home.home, name="staff_queue"),  # placeholder
    path("apps/", home.home, name="staff_applications"),  # placeholder
    path("people/", home.home, name="staff_people"),  # placeholder
]
