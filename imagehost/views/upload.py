"""POST /api/imagehost/upload: both forms.

The header `X-API-Key` selects the current form; the header `key` or the field `key` the earlier one.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.api_view import ApiView
from accounts.errors import KeyRateLimited
from accounts.models import Permission
from imagehost import openapi
from imagehost.errors import UploadsUnavailable
from imagehost.models import File
from imagehost.receiving import incoming, uploads
from imagehost.serializers import CurrentUpload, EarlierUpload, EarlierUploadSerializer, UploadSerializer
from infrastructure.requests.api_json import json_bytes, json_response
from infrastructure.requests.errors import AddressRateLimited

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
        response = json_response(json_bytes(answer_of(uploaded.file, is_current=is_current)))
        response.headers["X-Deletion-Url"] = uploaded.file.deletion_url(uploaded.deletion_token)
        return response

    def answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Let `post` check the key, which may be in the form. Other methods are refused as everywhere."""
        try:
            return self.post(request) if request.method == "POST" else super().answer(request)
        except AddressRateLimited as refused:
            refused.code = KeyRateLimited.code  # uploaders show the code of an error
            raise


def answer_of(file: File, *, is_current: bool) -> dict[str, Any]:
    """Return the JSON of a stored file, in the current or the earlier form."""
    if is_current:
        return _CURRENT.to_representation(CurrentUpload(file))
    return _EARLIER.to_representation(EarlierUpload(file))
