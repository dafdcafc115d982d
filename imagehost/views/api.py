"""Endpoints of the API: upload, gallery, folders.

An upload with the header `X-API-Key` gets the current form of the answer; with the header or the field `key`, the
earlier one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from rest_framework import serializers

from accounts import authentication
from accounts.api_view import ApiRequest, ApiView
from accounts.errors import KeyRateLimited, KeyRefused
from accounts.http import single_parameter
from accounts.models import Permission
from imagehost import openapi
from imagehost.errors import InvalidBody, InvalidLimit, InvalidOffset, Unauthorized, UploadsUnavailable
from imagehost.folders import folders, listing
from imagehost.folders.folders import Changes
from imagehost.folders.listing import MAX_LIMIT, Files, Page
from imagehost.receiving import incoming, uploads
from imagehost.serializers import (
    CountedFolderSerializer,
    CurrentUpload,
    EarlierUpload,
    EarlierUploadSerializer,
    FileSerializer,
    FolderChangesSerializer,
    FolderSerializer,
    NewFolderSerializer,
    UploadSerializer,
)
from infrastructure.requests import request_context
from infrastructure.requests.api_json import json_bytes, json_response
from infrastructure.requests.errors import AddressRateLimited, ApiError

MAX_BODY = 64 * 1024  # bytes
_LIMIT = re.compile(r"[0-9]{1,3}")
_OFFSET = re.compile(r"[0-9]{1,1000}")
_CURRENT, _EARLIER = UploadSerializer(), EarlierUploadSerializer()
_FILE, _FOLDER, _COUNTED = FileSerializer(), FolderSerializer(), CountedFolderSerializer()


class Upload(ApiView):
    permission = Permission.IMAGEHOST_UPLOAD
    unavailable = UploadsUnavailable

    @openapi.upload
    def post(self, request: HttpRequest) -> HttpResponse:
        current_key = request.META.get("HTTP_X_API_KEY")
        with incoming.from_api(request.META, current_key or request.META.get("HTTP_KEY"), timezone.now()) as given:
            owner, file = given
            uploaded = uploads.store(owner, file, now=timezone.now())  # a slow upload ends long after the key check
        if current_key:
            body = _CURRENT.to_representation(CurrentUpload(uploaded.file))
        else:
            body = _EARLIER.to_representation(EarlierUpload(uploaded.file))
        response = json_response(json_bytes(body))
        response.headers["X-Deletion-Url"] = uploaded.file.deletion_url(uploaded.deletion_token)
        return response

    def answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Let `post` check the key, which may be in the form. Other methods are refused as everywhere."""
        try:
            return self.post(request) if request.method == "POST" else super().answer(request)
        except AddressRateLimited as refused:
            refused.code = KeyRateLimited.code  # uploaders show the code of an error
            raise


class AccountKeyView(ApiView):
    """Every refusal of a key is 401 UNAUTHORIZED with its own words; a limit stays 429."""

    permission = Permission.ACCOUNT
    credential = authentication.earlier_credential

    def refusal(self, error: ApiError) -> ApiError:
        is_key_error = isinstance(error, KeyRefused) and not isinstance(error, KeyRateLimited)
        return Unauthorized(error.error) if is_key_error else error


class Gallery(AccountKeyView):
    @openapi.gallery
    def get(self, request: ApiRequest) -> HttpResponse:
        page = page_of(request)
        return json_response(json_bytes(_listed(listing.gallery(owner_id=request.caller.owner_id, page=page), page)))


class FolderList(AccountKeyView):
    @openapi.list_folders
    def get(self, request: ApiRequest) -> HttpResponse:
        found = listing.folders(owner_id=request.caller.owner_id)
        return json_response(json_bytes({"folders": [_COUNTED.to_representation(folder) for folder in found]}))

    @openapi.create_folder
    def post(self, request: ApiRequest) -> HttpResponse:
        changes = changes_of(request, NewFolderSerializer)
        folder = folders.create(owner_id=request.caller.owner_id, changes=changes, now=timezone.now())
        return _shown(request.caller.owner_id, folder.pk, status=201)


class FolderDetail(AccountKeyView):
    @openapi.show_folder
    def get(self, request: ApiRequest, folder_id: str) -> HttpResponse:
        page = page_of(request)
        folder, found = listing.folder_with_files(owner_id=request.caller.owner_id, folder_id=folder_id, page=page)
        return json_response(json_bytes({"folder": _FOLDER.to_representation(folder), **_listed(found, page)}))

    @openapi.change_folder
    def patch(self, request: ApiRequest, folder_id: str) -> HttpResponse:
        changes = changes_of(request, FolderChangesSerializer)
        owner_id = request.caller.owner_id
        folders.change(owner_id=owner_id, folder_id=folder_id, changes=changes, now=timezone.now())
        return _shown(owner_id, folder_id)

    @openapi.delete_folder
    def delete(self, request: ApiRequest, folder_id: str) -> HttpResponse:
        folders.delete(owner_id=request.caller.owner_id, folder_id=folder_id)
        return json_response(json_bytes({"ok": True}))


def page_of(request: HttpRequest) -> Page:
    """Return `limit` and `offset`, else the first hundred. Raises InvalidLimit, InvalidOffset.

    The offset is answered as sent; it has at most 1000 digits.
    """
    limit = single_parameter(request.GET, "limit", str(MAX_LIMIT))
    if limit is None or not _LIMIT.fullmatch(limit) or not 1 <= int(limit) <= MAX_LIMIT:
        raise InvalidLimit
    offset = single_parameter(request.GET, "offset", "0")
    if offset is None or not _OFFSET.fullmatch(offset):
        raise InvalidOffset
    return Page(int(limit), int(offset))


def changes_of(request: HttpRequest, form: type[serializers.Serializer[Any]]) -> Changes:
    """Return the changes to a folder in the body, read by `form`. Raises InvalidBody."""
    body = _object_of(request)
    reader = form(data=body)
    unknown = sorted(set(body) - set(reader.fields))
    if unknown:
        name = unknown[0][:64].encode("unicode_escape").decode()  # a client sent it: cut, and made ASCII
        raise InvalidBody(f"{name}: Is no field of a folder.")
    if not reader.is_valid():
        name, problems = next(iter(reader.errors.items()))
        raise InvalidBody(f"{name}: {problems[0]}")
    return Changes(**reader.validated_data)


def _object_of(request: HttpRequest) -> dict[str, Any]:
    """Return the JSON object in the body, for any Content-Type."""
    try:
        body = request_context.Request.of(request).body(MAX_BODY)  # in chunks, too, which Django does not read
    except (ValueError, EOFError, OSError):
        raise InvalidBody("The body did not arrive whole.") from None
    if len(body) > MAX_BODY:
        raise InvalidBody(f"The body is longer than {MAX_BODY} bytes.")
    try:
        value = json.loads(body.decode("utf-8-sig"), object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError):  # nested too deeply
        raise InvalidBody from None
    if not isinstance(value, dict):
        raise InvalidBody
    return value


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object. Raises InvalidBody for a duplicate key: readers differ in which one counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidBody("The body has a key twice.")
    return found


def _no_number(name: str) -> None:
    """Refuse NaN and the infinities, which Python reads and JSON does not have (RFC 8259 §6)."""
    raise ValueError(name)


def _listed(found: Files, page: Page) -> dict[str, object]:
    """Return the part of an answer that shows a page of files."""
    files = [_FILE.to_representation(file) for file in found.files]
    return {"files": files, "total": found.total, "limit": page.limit, "offset": page.offset}


def _shown(owner_id: str, folder_id: str, status: int = 200) -> HttpResponse:
    """Return the answer with the folder as it is now."""
    folder = listing.folder(owner_id=owner_id, folder_id=folder_id)
    return json_response(json_bytes({"folder": _COUNTED.to_representation(folder)}), status=status)
