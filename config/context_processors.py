"""What every page's template may name."""

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, str]:
    return {"site_name": settings.SITE_NAME, "support_email": settings.SUPPORT_EMAIL, "base_url": settings.BASE_URL}
