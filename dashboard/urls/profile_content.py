"""What a profile lists: /dashboard/profile/…."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
