"""The project's own app, and two libraries' apps that load less than they would by themselves.

`config` is the first of INSTALLED_APPS, so what this module imports is imported before any other app.
"""

import gc
import sys
from typing import Any

from allauth.socialaccount.apps import SocialAccountConfig
from django.apps import AppConfig
from django.contrib.admin import autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks
from django.core.checks import CheckMessage

_UNUSED = ("requests", "django.contrib.postgres")


def _import_compat() -> None:
    """Import `rest_framework.compat` without the optional packages that only its test client and unused fields need.

    It imports each one that is installed: 12 MB and a tenth of a second in every process.
    """
    hidden = [name for name in _UNUSED if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # Python's own mark for a module that cannot be imported
    try:
        from rest_framework import compat  # noqa: F401 - read again by the rest of the package
    finally:
        for name in hidden:
            del sys.modules[name]


GARBAGE = 10_000  # new containers between two collections: at the default of 700, every second request would collect
gc.disable()  # until the apps are loaded: collections between imports find nothing, and take a tenth of the start
_import_compat()


class ConfigConfig(AppConfig):
    default = True  # of the classes in this module
    name = "config"
    verbose_name = "Configuration"

    def ready(self) -> None:
        from config import checks, jobs  # noqa: F401 - registers their system checks
        from config.observability import sentry, tracing

        tracing.prepare()
        sentry.prepare()
        gc.enable()
        gc.set_threshold(GARBAGE)


class AdminConfig(SimpleAdminConfig):
    """The admin, whose modules `config.urls` loads: programs that serve no page need none of them."""

    default_site = "config.admin_site.AdminSite"

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(_check_admin, checks.Tags.admin)


def _check_admin(app_configs: Any, **options: Any) -> list[CheckMessage]:
    """Check the admin once it is loaded. `app_configs`: Django passes the apps to look at, or None."""
    autodiscover()
    return list(check_admin_app(app_configs, **options))


class LinkedAccountsConfig(SocialAccountConfig):  # type: ignore[misc]  # allauth has no types
    """allauth's linked accounts, whose providers load with their URLs: they import an HTTP client."""

    def ready(self) -> None:
        from allauth.socialaccount import checks  # noqa: F401 - registers its system checks
