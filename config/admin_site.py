"""The admin site: Django's, behind the second factor that staff must have, with the operators' first page."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from django.contrib import admin
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path
from django.utils import timezone
from django.views.generic import RedirectView

from accounts.http import SignedInRequest
from accounts.models import User
from dashboard import access

View = TypeVar("View", bound=Callable[..., HttpResponseBase])

# What the models are for that staff work with. The rest are data of the service, folded away under DATA.
GROUPS: dict[str, tuple[str, ...]] = {
    "People": ("accounts.User", "accounts.LinkedAccount", "accounts.Name", "lookup.Alias", "auth.Group"),
    "Apps and keys": (
        "oidc_provider.Application",
        "oidc_provider.Approval",
        "accounts.ApiKey",
        "dashboard.AccessRequest",
    ),
    "Profiles": (
        "lookup.Profile",
        "lookup.Comment",
        "lookup.FeedbackVote",
        "lookup.Report",
        "lookup.Decision",
        "lookup.Badge",
        "lookup.CustomBadge",
        "lookup.Asset",
    ),
    "Files": ("imagehost.File", "imagehost.Folder", "imagehost.Album", "imagehost.FolderRule", "imagehost.Usage"),
    "Operation": (
        "accounts.AuditEvent",
        "accounts.JobRun",
        "oidc_provider.SigningKey",
        "presence.LastOnline",
    ),
}
DATA = "Data"


class AdminSite(admin.AdminSite):
    """Every page is wrapped by `admin_view`, also in other apps' `get_urls`."""

    enable_nav_sidebar = False
    index_title = "Home"

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Return the pages without the redirect to an object's own page.

        Its pattern of two paths takes the square of a path's length, and no model has such a page.
        """
        # The change of a password is the account page's, which sends a mail and records it.
        to_account = RedirectView.as_view(pattern_name="account_change_password")
        names = {"password_change": "password_change/", "password_change_done": "password_change/done/"}
        kept = [route for route in super().get_urls() if getattr(route, "name", "") != "view_on_site"]
        return [*(path(route, to_account, name=name) for name, route in names.items()), *kept]

    def admin_view(self, view: View, cacheable: bool = False) -> View:  # noqa: FBT001, FBT002 - Django calls it so
        @functools.wraps(view)
        def behind_second_factor(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            """`args`, `kwargs`: of the URL."""
            return access.to_second_factor(cast("SignedInRequest", request)) or view(request, *args, **kwargs)

        return super().admin_view(cast("View", behind_second_factor), cacheable)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Add whether the reader may open the desk."""
        from dashboard import staff  # the apps that it names are loaded after this module

        user = request.user
        return {**super().each_context(request), "has_desk": isinstance(user, User) and access.may(user, *staff.DESK)}

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        from config import operator_home  # the apps that it shows are loaded after this module

        panels = operator_home.panels(cast("SignedInRequest", request).user, timezone.now())
        return super().index(request, {**(extra_context or {}), "panels": panels})

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Return the models that the member of staff may see, by what they are for; one app's as Django does."""
        apps = super().get_app_list(request, app_label)
        return apps if app_label else _grouped([model for app in apps for model in app["models"]])


def _grouped(models: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return `models` and the groups, instead of apps, as the templates of Django's admin take them."""
    by_label = {model["model"]._meta.label: model for model in models}
    groups: list[dict[str, Any]] = [
        {"name": name, "models": [by_label.pop(label) for label in labels if label in by_label]}
        for name, labels in GROUPS.items()
    ]
    groups.append({"name": DATA, "models": list(by_label.values()), "is_folded": True})
    return [{"app_label": group["name"], "app_url": "", **group} for group in groups if group["models"]]
