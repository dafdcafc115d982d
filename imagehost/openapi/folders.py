"""What the OpenAPI document says of the gallery and the folders."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers

from accounts import openapi
from accounts.errors import KeyNotFound, KeyRateLimited
from imagehost.errors import FolderExists, FolderNotFound, InvalidBody, InvalidLimit, InvalidOffset, Unauthorized
from imagehost.listing import MAX_LIMIT, MAX_OFFSET
from imagehost.serializers.files import (
    CountedFolderSerializer,
    FileSerializer,
    FolderChangesSerializer,
    FolderSerializer,
    NewFolderSerializer,
)

TAGS = ["Image host: gallery and folders"]


class _PageSerializer(serializers.Serializer[Any]):
    """A page of files. Any: views put it together."""

    files = FileSerializer(many=True)
    total = serializers.IntegerField(help_text="How many there are on all pages.")
    limit = serializers.IntegerField(help_text="As applied.", min_value=1, max_value=MAX_LIMIT, allow_null=True)
    offset = serializers.IntegerField(help_text="As applied.", min_value=0, max_value=MAX_OFFSET, allow_null=True)


class GallerySerializer(_PageSerializer):
    """All files of a user."""


class FolderPageSerializer(_PageSerializer):
    """A folder and the files in it."""

    folder = FolderSerializer()


class FolderListSerializer(serializers.Serializer[Any]):
    folders = CountedFolderSerializer(many=True)


class FolderAnswerSerializer(serializers.Serializer[Any]):
    folder = CountedFolderSerializer()


class DoneSerializer(serializers.Serializer[Any]):
    ok = serializers.BooleanField()


_FOLDER = {
    "id": "5b0f6a3c9d2e4f7a8b1c2d3e4f5a6b7c",
    "folderName": "Screenshots",
    "folderPublic": True,
    "folderPasswordEnabled": False,
    "createdAt": 1780000000,
    "updatedAt": 1780000600,
}
_COUNTED = {**_FOLDER, "fileCount": 1, "totalSize": 48213}
_FILES = {
    "files": [
        {
            "id": "1f0c7c4e-6d0b-4a57-9a4f-0d5c7e2b9a13",
            "fileName": "k3VbQx9Z",
            "fileExtension": "png",
            "fileOriginal": "holiday.png",
            "fileSize": 48213,
            "uploadAt": 1780000300,
            "favorite": False,
            "folder": _FOLDER,
            "fileWidth": 1920,
            "fileHeight": 1080,
        }
    ],
    "total": 1,
    "limit": MAX_LIMIT,
    "offset": 0,
}
_PAGE = [
    OpenApiParameter(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": MAX_LIMIT},
        description="Maximum files to return.",
    ),
    OpenApiParameter(
        "offset", {"type": "integer", "minimum": 0, "default": 0}, description="Files to skip, the newest first."
    ),
]
_FOLDER_ID = OpenApiParameter("folder_id", str, OpenApiParameter.PATH, description="The folder's `id`.")
_BODY_EXAMPLES = [
    OpenApiExample("Private", value={"folderName": "Screenshots"}, request_only=True),
    OpenApiExample(
        "Public, with a password",
        value={
            "folderName": "Holiday",
            "folderPublic": True,
            "folderPasswordEnabled": True,
            "folderPassword": "sea and sun",
        },
        request_only=True,
    ),
]
_UNAUTHORIZED, _RATE_LIMITED = Unauthorized(KeyNotFound.error), KeyRateLimited(seconds_left=42)


def _answers(
    status: int, form: type[serializers.Serializer[Any]], example: dict[str, Any], *errors: Any
) -> dict[int, OpenApiResponse]:
    """The answer that is hoped for, and the errors; Any: JSON, and error classes."""
    shown = OpenApiExample("Done", value=example, response_only=True, status_codes=[str(status)])
    others = [error for error in errors if error is not FolderExists]
    answers = {
        status: OpenApiResponse(form, examples=[shown]),
        **({409: _CONFLICT} if FolderExists in errors else {}),
        **openapi.error_responses(*others, _UNAUTHORIZED, _RATE_LIMITED, *openapi.COMMON_ERRORS),
    }
    return dict(sorted(answers.items()))


_CONFLICT = OpenApiResponse(
    openapi.ErrorSerializer,
    description="One of your folders has this name.",
    examples=[OpenApiExample("FolderExists", value=FolderExists().body())],
)

gallery = extend_schema(
    operation_id="imagehost_gallery",
    summary="List your uploads",
    description="All of your files, newest first.",
    tags=TAGS,
    parameters=_PAGE,
    responses=_answers(200, GallerySerializer, _FILES, InvalidLimit, InvalidOffset),
)
list_folders = extend_schema(
    operation_id="imagehost_folders",
    summary="List your folders",
    description="Oldest first, each with the number and the size of its files.",
    tags=TAGS,
    responses=_answers(200, FolderListSerializer, {"folders": [_COUNTED]}),
)
create_folder = extend_schema(
    operation_id="imagehost_create_folder",
    summary="Create a folder",
    description="Files get into it by your folder rules.",
    tags=TAGS,
    request={"application/json": NewFolderSerializer},
    examples=_BODY_EXAMPLES,
    responses=_answers(
        201, FolderAnswerSerializer, {"folder": {**_COUNTED, "fileCount": 0, "totalSize": 0}}, InvalidBody, FolderExists
    ),
)
show_folder = extend_schema(
    operation_id="imagehost_folder",
    summary="A folder and its files",
    description="The files newest first.",
    tags=TAGS,
    parameters=[_FOLDER_ID, *_PAGE],
    responses=_answers(
        200, FolderPageSerializer, {"folder": _FOLDER, **_FILES}, InvalidLimit, InvalidOffset, FolderNotFound
    ),
)
change_folder = extend_schema(
    operation_id="imagehost_change_folder",
    summary="Change a folder",
    description="What the body leaves out stays. A folder that becomes private loses its password.",
    tags=TAGS,
    parameters=[_FOLDER_ID],
    request={"application/json": FolderChangesSerializer},
    examples=[OpenApiExample("Rename", value={"folderName": "Pictures"}, request_only=True)],
    responses=_answers(200, FolderAnswerSerializer, {"folder": _COUNTED}, InvalidBody, FolderNotFound, FolderExists),
)
delete_folder = extend_schema(
    operation_id="imagehost_delete_folder",
    summary="Delete a folder",
    description="Its rules go with it. Its files stay, and move to the root.",
    tags=TAGS,
    parameters=[_FOLDER_ID],
    responses=_answers(200, DoneSerializer, {"ok": True}, FolderNotFound),
)
