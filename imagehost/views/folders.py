"""GET and POST /api/imagehost/folders; GET, PATCH and DELETE /api/imagehost/folders/{id}."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils import timezone

from accounts.api_json import json_bytes, json_response
from accounts.api_view import ApiRequest
from imagehost import folders, listing, openapi
from imagehost.serializers import (
    CountedFolderSerializer,
    FolderChangesSerializer,
    FolderSerializer,
    NewFolderSerializer,
)
from imagehost.views import reading
from imagehost.views.gallery import AccountKeyView, listed

_FOLDER, _COUNTED = FolderSerializer(), CountedFolderSerializer()


class FolderList(AccountKeyView):
    @openapi.list_folders
    def get(self, request: ApiRequest) -> HttpResponse:
        found = listing.folders(owner_id=request.caller.owner_id)
        return json_response(json_bytes({"folders": [_COUNTED.to_representation(folder) for folder in found]}))

    @openapi.create_folder
    def post(self, request: ApiRequest) -> HttpResponse:
        changes = reading.changes_of(request, NewFolderSerializer)
        folder = folders.create(owner_id=request.caller.owner_id, changes=changes, now=timezone.now())
        return _shown(request.caller.owner_id, folder.pk, status=201)


class FolderDetail(AccountKeyView):
    @openapi.show_folder
    def get(self, request: ApiRequest, folder_id: str) -> HttpResponse:
        page = reading.page_of(request)
        folder, found = listing.folder_with_files(owner_id=request.caller.owner_id, folder_id=folder_id, page=page)
        return json_response(json_bytes({"folder": _FOLDER.to_representation(folder), **listed(found, page)}))

    @openapi.change_folder
    def patch(self, request: ApiRequest, folder_id: str) -> HttpResponse:
        changes = reading.changes_of(request, FolderChangesSerializer)
        owner_id = request.caller.owner_id
        folders.change(owner_id=owner_id, folder_id=folder_id, changes=changes, now=timezone.now())
        return _shown(owner_id, folder_id)

    @openapi.delete_folder
    def delete(self, request: ApiRequest, folder_id: str) -> HttpResponse:
        folders.delete(owner_id=request.caller.owner_id, folder_id=folder_id)
        return json_response(json_bytes({"ok": True}))


def _shown(owner_id: str, folder_id: str, status: int = 200) -> HttpResponse:
    """The folder as it is now."""
    folder = listing.folder(owner_id=owner_id, folder_id=folder_id)
    return json_response(json_bytes({"folder": _COUNTED.to_representation(folder)}), status=status)
