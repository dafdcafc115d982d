"""POST /api/imagehost/upload: both forms.

The header `X-API-Key` selects the current form; the header `key` or the field `key` the earlier one.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.api_json import json_bytes, json_response
from accounts.api_view import ApiView
from accounts.errors import AddressRateLimited, KeyRateLimited
from accounts.models import Permission
from imagehost import addresses, incoming, openapi, uploads
from imagehost.errors import UploadsUnavailable
from imagehost.serializers import CurrentUpload, EarlierUpload, EarlierUploadSerializer, UploadSerializer
from imagehost.uploads import Uploaded

_CURRENT, _EARLIER = UploadSerializer(), EarlierUploadSerializer()


class Upload(ApiView):
    permission = Permission.IMAGEHOST_UPLOAD
    unavailable = UploadsUnavailable

    @openapi.upload
    def post(self, request: HttpRequest) -> HttpResponse:
        is_current = bool(request.META.get("HTTP_X_API_KEY"))
        secret = request.META.get("HTTP_X_API_KEY") or request.META.get("HTTP_KEY")
        with incoming.from_api(request.META, secret, timezone.now()) as (owner, file):
            uploaded = uploads.store(owner, file, now=timezone.now())  # a slow upload ends long after the key check
        answer = current_answer(uploaded) if is_current else earlier_answer(uploaded)
        response = json_response(json_bytes(answer))
        response.headers["X-Deletion-Url"] = addresses.deletion_url(uploaded.file, uploaded.deletion_token)
        return response

    def answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Let `post` check the key, which may be in the form. Other methods are refused as everywhere."""
        try:
            return self.post(request) if request.method == "POST" else super().answer(request)
        except AddressRateLimited as refused:
            refused.code = KeyRateLimited.code  # uploaders show the code of an error
            raise


def current_answer(uploaded: Uploaded) -> dict[str, Any]:
    file = uploaded.file
    return _CURRENT.to_representation(CurrentUpload(file, url=addresses.file_url(file)))


def earlier_answer(uploaded: Uploaded) -> dict[str, Any]:
    file = uploaded.file
    links = EarlierUpload(file, url=addresses.page_url(file), raw_url=addresses.file_url(file))
    return _EARLIER.to_representation(links)
