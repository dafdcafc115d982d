"""App logos: small PNGs. `settings.PICTURE_RENDERER` draws them, so that no upload is decoded in this process."""

from __future__ import annotations

import base64
from typing import BinaryIO

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from accounts import audit
from accounts.models import User
from oidc_provider.applications import applications, roles
from oidc_provider.models import Application, ApplicationLogo

MAX_BYTES = 1024 * 1024
LONGEST_SIDE = 256  # pixels


def encode(upload: BinaryIO) -> bytes:
    """Return a PNG of at most 256x256 pixels, without metadata. ValidationError: too large, no picture."""
    content = upload.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValidationError("The picture is larger than 1 MB.")
    png: bytes = import_string(settings.PICTURE_RENDERER)(content, longest_side=LONGEST_SIDE)
    return png


def of(application: Application) -> bytes | None:
    """Return the app's PNG, or None. 1 query."""
    png = ApplicationLogo.objects.filter(application=application).values_list("png", flat=True).first()
    return None if png is None else bytes(png)  # PostgreSQL gives a memoryview


def data_url(png: bytes) -> str:
    """Return the picture as a `data:` URL, which the Content-Security-Policy allows for images."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


@transaction.atomic
def change(*, application: Application, png: bytes, by: User | None) -> ApplicationLogo:
    """Set the logo, which `encode` made. The app loses `is_verified`: staff have not seen the logo."""
    roles.check(application=application, by=by)
    logo, _ = ApplicationLogo.objects.update_or_create(
        application=application, defaults={"png": png, "updated_at": timezone.now()}
    )
    audit.record("application:logo_changed", by=by, on=application, client_id=application.client_id)
    applications.drop_verified(application=application, by=by)
    return logo


@transaction.atomic
def remove(*, application: Application, by: User | None) -> None:
    """Remove the logo; pages show the app's initials."""
    roles.check(application=application, by=by)
    deleted, _ = ApplicationLogo.objects.filter(application=application).delete()
    if deleted:
        audit.record("application:logo_removed", by=by, on=application, client_id=application.client_id)
        applications.drop_verified(application=application, by=by)
