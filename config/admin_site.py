"""The admin site: Django's, behind the second factor that staff must have."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from django.contrib import admin
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from accounts.http import SignedInRequest
from dashboard import access

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class AdminSite(admin.AdminSite):
    """Every page is wrapped by `admin_view`, those of other apps' `get_urls` too."""

    def admin_view(self, view: View, cacheable: bool = False) -> View:  # noqa: FBT001, FBT002 - Django calls it so
        @functools.wraps(view)
        def behind_second_factor(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            """`args`, `kwargs`: of the URL."""
            return access.to_second_factor(cast("SignedInRequest", request)) or view(request, *args, **kwargs)

        return super().admin_view(cast("View", behind_second_factor), cacheable)
