"""Documentation: /docs and below."""

from __future__ import annotations

from django.urls import path, re_path
from django.views.generic import RedirectView

from dashboard.documentation import views

urlpatterns = [
    path("docs", views.page, name="docs"),
    path("docs/", RedirectView.as_view(pattern_name="docs")),
    path("docs.md", views.markdown_source, name="docs_twin"),
    path("docs/search", views.search, name="docs_search"),
    path("docs/changelog.atom", views.changelog_feed, name="docs_changelog_feed"),
    path("docs/openapi.yaml", views.openapi_yaml, name="openapi_yaml"),
    path("docs/try/<slug:name>", views.explore, name="docs_explorer"),
    path("docs/sign-in/buttons/<slug:name>.svg", views.sign_in_button, name="docs_sign_in_button"),
    re_path(r"^docs/(?P<slug>[a-z0-9/-]+)\.md$", views.markdown_source, name="docs_page_twin"),
    re_path(r"^docs/(?P<slug>[a-z0-9/-]+)$", views.page, name="docs_page"),
]
