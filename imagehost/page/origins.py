"""Where the pictures and videos of a page come from. The page's policy lets these in."""

from __future__ import annotations

from django.conf import settings

from imagehost import addresses, storage
from imagehost.models import File
from lookup.page import url_policy


def of(file: File) -> tuple[str, ...]:
    """The origins that the file is loaded from, without our own; the same for every file.

    A policy is applied to redirects as well, so where delivery redirects to the store, the store is one of them.
    """
    urls = [addresses.file_url(file)]
    if settings.FILE_DELIVERY == "redirect":
        link = storage.bucket().link(file.key, mime=file.mime, download_name=file.download_name)
        urls += [link] if link else []
    found = dict.fromkeys(url_policy.origin(url) for url in urls)
    return tuple(origin for origin in found if origin != url_policy.origin(settings.BASE_URL))
