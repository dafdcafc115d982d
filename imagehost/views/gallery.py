"""GET /api/imagehost/gallery."""

from __future__ import annotations

from django.http import HttpResponse

from accounts import authentication
from accounts.api_json import json_bytes, json_response
from accounts.api_view import ApiRequest, ApiView
from accounts.errors import ApiError, KeyRateLimited, KeyRefused
from accounts.models import Permission
from imagehost import listing, openapi
from imagehost.errors import Unauthorized
from imagehost.listing import Files, Page
from imagehost.serializers import FileSerializer
from imagehost.views import reading

_FILE = FileSerializer()


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
        page = reading.page_of(request)
        return json_response(json_bytes(listed(listing.gallery(owner_id=request.caller.owner_id, page=page), page)))


def listed(found: Files, page: Page) -> dict[str, object]:
    """The part of an answer that shows a page of files."""
    files = [_FILE.to_representation(file) for file in found.files]
    return {"files": files, "total": found.total, "limit": page.limit, "offset": page.offset}
