"""The built-in callback of an app, and how it comes onto the app's list of redirect URLs."""

from __future__ import annotations

from django.conf import settings
from django.db import transaction
from django.urls import reverse

from accounts.models import User
from oidc_provider.applications import applications
from oidc_provider.models import Application


def url_of(application: Application) -> str:
    return f"{settings.BASE_URL}{reverse('application_try_callback', args=[application.client_id])}"


def prefix() -> str:
    """What the callbacks of all apps begin with, and no redirect URL of an app's own does."""
    return f"{settings.BASE_URL}{reverse('applications')}"


def is_registered(application: Application) -> bool:
    return url_of(application) in application.redirect_urls


@transaction.atomic
def add(*, application: Application, by: User) -> None:
    """Add the callback to the redirect URLs. ValidationError({"redirect_urls": ...}), as for an eleventh one."""
    application = applications.hold(application)  # another page may have changed the others
    if not is_registered(application):
        urls = [*application.redirect_urls, url_of(application)]
        applications.change_redirect_urls(application=application, redirect_urls=urls, by=by)


@transaction.atomic
def remove(*, application: Application, by: User) -> None:
    """Take it off again. ValidationError where it is the only redirect URL of the app."""
    application = applications.hold(application)
    if is_registered(application):
        urls = [url for url in application.redirect_urls if url != url_of(application)]
        applications.change_redirect_urls(application=application, redirect_urls=urls, by=by)
