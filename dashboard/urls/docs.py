"""Documentation: /docs and below."""

from __future__ import annotations

from django.urls import path, re_path
from django.views.generic import RedirectView

from dashboard.views import docs

urlpatterns = [
    path("docs", docs.page, name="docs"),
    path("docs/", RedirectView.as_view(pattern_name="docs")),
    path("docs.md", docs.twin, name="docs_twin"),
    path("docs/search", docs.search, name="docs_search"),
    path("docs/openapi.yaml", docs.openapi_yaml, name="openapi_yaml"),
    re_path(r"^docs/(?P<slug>[a-z0-9/-]+)\.md$", docs.twin, name="docs_page_twin"),
    re_path(r"^docs/(?P<slug>[a-z0-9/-]+)$", docs.page, name="docs_page"),
]
