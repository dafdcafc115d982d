"""App logos. Every upload is encoded anew as a small PNG."""

from __future__ import annotations

import base64
import io
from typing import BinaryIO

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from PIL import Image, ImageOps

from accounts import audit
from accounts.models import User
from oidc_provider.applications import applications
from oidc_provider.models import Application, ApplicationLogo

MAX_BYTES = 1024 * 1024
MAX_PIXELS = 4096 * 4096  # decoding takes at most 64 MiB
SIZE = (256, 256)
FORMATS = ("PNG", "JPEG", "WEBP", "GIF")


def encode(upload: BinaryIO) -> bytes:
    """Return a PNG of at most 256x256 pixels, without metadata. ValidationError: too large, no picture."""
    content = upload.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValidationError("The picture is larger than 1 MiB.")
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            if image.width * image.height > MAX_PIXELS:  # known from the header, before anything is decoded
                raise ValidationError("The picture has too many pixels; 4096x4096 is the most.")
            picture = ImageOps.exif_transpose(image).convert("RGBA")
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError):
        raise ValidationError("This is not a picture in PNG, JPEG, WebP or GIF format.") from None
    picture.thumbnail(SIZE)
    clean = Image.new("RGBA", picture.size)  # carries no metadata over
    clean.paste(picture)
    png = io.BytesIO()
    clean.save(png, "PNG", optimize=True)
    return png.getvalue()


def of(application: Application) -> bytes | None:
    """Return the app's PNG, or None. 1 query."""
    png = ApplicationLogo.objects.filter(application=application).values_list("png", flat=True).first()
    return None if png is None else bytes(png)  # PostgreSQL gives a memoryview


def data_url(png: bytes) -> str:
    """Return the picture as a `data:` URL, which the Content-Security-Policy allows for images."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


@transaction.atomic
def change(*, application: Application, upload: BinaryIO, by: User | None) -> ApplicationLogo:
    """Set the logo. ValidationError as `encode` says. The app loses `is_verified`: staff have not seen the logo."""
    png = encode(upload)
    logo, _ = ApplicationLogo.objects.update_or_create(
        application=application, defaults={"png": png, "updated_at": timezone.now()}
    )
    audit.record("application:logo_changed", by=by, on=application, client_id=application.client_id)
    applications.drop_verified(application=application, by=by)
    return logo


@transaction.atomic
def remove(*, application: Application, by: User | None) -> None:
    """Remove the logo; pages show the app's initials."""
    deleted, _ = ApplicationLogo.objects.filter(application=application).delete()
    if deleted:
        audit.record("application:logo_removed", by=by, on=application, client_id=application.client_id)
        applications.drop_verified(application=application, by=by)
