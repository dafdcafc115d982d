"""POST /api/imagehost/upload: both forms.

The header `X-API-Key` asks for the current form; the header `key`, or else the form's field `key`, for the earlier one.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts import authentication, limits
from accounts.api_json import json_bytes, json_response
from accounts.api_view import ApiView
from accounts.errors import AddressRateLimited, KeyRateLimited, KeyRefused
from accounts.models import Permission
from accounts.plans import ALLOWANCES, LARGEST_FILE
from imagehost import addresses, incoming, uploads
from imagehost.errors import Unauthorized, UploadsUnavailable
from imagehost.openapi import upload as openapi
from imagehost.serializers import current, earlier
from imagehost.uploads import Incoming, Uploaded

_CURRENT, _EARLIER = current.UploadSerializer(), earlier.EarlierUploadSerializer()


class Upload(ApiView):
    permission = Permission.IMAGEHOST_UPLOAD
    unavailable = UploadsUnavailable

    @openapi.upload
    def post(self, request: HttpRequest) -> HttpResponse:
        is_current = bool(request.META.get("HTTP_X_API_KEY"))
        secret = request.META.get("HTTP_X_API_KEY") or request.META.get("HTTP_KEY")
        door = Door(timezone.now())
        if secret:
            door.open(secret)
        else:
            refuse_over_limit()
        with incoming.received(request.META, door) as file:
            uploaded = door.store(file)
        answer = current_answer(uploaded) if is_current else earlier_answer(uploaded)
        response = json_response(json_bytes(answer))
        response.headers["X-Deletion-Url"] = addresses.deletion_url(uploaded.file, uploaded.deletion_token)
        return response

    def answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """The key may stand in the form: `post` looks at it. Other methods are refused as everywhere."""
        try:
            return self.post(request) if request.method == "POST" else super().answer(request)
        except AddressRateLimited as refused:
            refused.code = KeyRateLimited.code  # uploaders show the code of every error
            raise


class Door:
    """Who uploads, once a key has said it, and what their plan allows (`incoming.Door`). `now`: when the key counts."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._owner_id: str | None = None
        self._allowance = min(ALLOWANCES.values(), key=lambda allowance: allowance.max_file_size)

    @property
    def is_open(self) -> bool:
        return self._owner_id is not None

    @property
    def most(self) -> int:
        return self._allowance.max_file_size

    @property
    def greatest(self) -> int:
        return LARGEST_FILE

    def open(self, secret: str | None) -> None:
        """Count the request and check its key. Raises Unauthorized, and the errors of both limits."""
        try:
            caller = authentication.check(secret, permission=Permission.IMAGEHOST_UPLOAD, now=self._now)
        except KeyRateLimited:
            raise
        except KeyRefused as refused:
            raise Unauthorized(refused.error) from refused
        self._allowance = uploads.allowance_of(caller.owner_id, self._now)
        self._owner_id = caller.owner_id

    def store(self, file: Incoming) -> Uploaded:
        """Keep the file for whoever was let in. Raises what `uploads.store` does."""
        if self._owner_id is None:
            raise Unauthorized
        return uploads.store(
            owner_id=self._owner_id,
            incoming=file,
            allowance=self._allowance,
            now=timezone.now(),  # a slow upload ends long after its key was checked
        )


def refuse_over_limit() -> None:
    """Refuse an address that is over its limit before anything is written for it; the key, in the form, comes later.

    Counts nothing. Raises AddressRateLimited.
    """
    if seconds_left := limits.peek(authentication.address_window()):
        raise authentication.address_limited(seconds_left)


def current_answer(uploaded: Uploaded) -> dict[str, Any]:
    """Any: a JSON value."""
    file = uploaded.file
    return _CURRENT.to_representation(current.Upload(file, url=addresses.file_url(file)))


def earlier_answer(uploaded: Uploaded) -> dict[str, Any]:
    """Any: a JSON value."""
    file = uploaded.file
    links = earlier.Upload(file, url=addresses.page_url(file), raw_url=addresses.file_url(file))
    return _EARLIER.to_representation(links)
