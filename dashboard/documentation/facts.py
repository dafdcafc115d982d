"""What holds for this very service, to be put into the pages."""

from __future__ import annotations

import re
from datetime import timedelta

from django.conf import settings

from accounts import plans, throttling
from accounts.api_keys import keys
from dashboard import api_key_pages
from imagehost import folders, rules, uploaders
from oidc_provider.applications import application_rules, redirects

_VALUE = re.compile(r"\{\{ (?!reader\.)(\w+) \}\}")


def fill(text: str) -> str:
    """Put the values in for `{{ name }}`. KeyError: there is no such value."""
    known = values()
    return _VALUE.sub(lambda found: known[found[1]], text)


def values() -> dict[str, str]:
    free, premium, imagehost = (plans.ALLOWANCES[plan] for plan in plans.Plan)
    return {
        "base_url": settings.BASE_URL,
        "site_name": settings.SITE_NAME,
        "upload_cdn_url": settings.UPLOAD_CDN_URL,
        "asset_url": settings.ASSET_URL,
        "image_cdn_url": settings.IMAGE_CDN_URL,
        "protocol_limit": str(settings.PROTOCOL_RATE_LIMIT),
        "address_limit": str(throttling.ADDRESS_AMOUNT),
        "key_limit": str(throttling.KEY_AMOUNT),
        "premium_key_limit": str(throttling.PREMIUM_KEY_AMOUNT),
        "code_minutes": str(int(settings.AUTHORIZATION_CODE_LIFETIME.total_seconds() // 60)),
        "access_seconds": str(int(settings.ACCESS_TOKEN_LIFETIME.total_seconds())),
        "access_hours": str(int(settings.ACCESS_TOKEN_LIFETIME.total_seconds() // 3600)),
        "refresh_days": str(settings.REFRESH_TOKEN_LIFETIME.days),
        "id_token_hours": str(int(settings.ID_TOKEN_LIFETIME.total_seconds() // 3600)),
        "free_file": _megabytes(free.max_file_size),
        "free_bytes": str(free.max_file_size),
        "free_storage": _gigabytes(free.max_storage),
        "premium_file": _megabytes(premium.max_file_size),
        "premium_storage": _gigabytes(premium.max_storage),
        "imagehost_file": _megabytes(imagehost.max_file_size),
        "imagehost_storage": _gigabytes(imagehost.max_storage),
        "support": settings.SUPPORT_EMAIL or "the operators",
        **_counts(),
    }


def _counts() -> dict[str, str]:
    """How many of what an account may have, and how long."""
    counts = {
        "max_apps": application_rules.MAX_APPLICATIONS,
        "max_redirect_urls": redirects.MAX_URLS,
        "max_redirect_length": redirects.MAX_LENGTH,
        "max_keys": keys.MAX_LIVE,
        "uploader_keys": uploaders.MAX_A_DAY,
        "overlap_hours": keys.LONGEST_OVERLAP // timedelta(hours=1),
        "reminder_days": api_key_pages.SOON.days,
        "max_folders": folders.MAX_FOLDERS,
        "max_rules": rules.MAX_RULES,
    }
    return {name: str(count) for name, count in counts.items()}


def _megabytes(size: int) -> str:
    return f"{size // plans.MEGABYTE} MB"


def _gigabytes(size: int) -> str:
    return f"{size // plans.GIGABYTE} GB"
