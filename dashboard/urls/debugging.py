"""What helps to debug an app: /dashboard/apps/<client_id>/…."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
