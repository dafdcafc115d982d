"""The OpenAPI description of the upload, the gallery and the folders."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiResponse,
    PolymorphicProxySerializer,
    extend_schema,
)
from rest_framework import serializers

from accounts import openapi as shared
from accounts.errors import KeyNotFound, KeyRateLimited
from accounts.plans import ALLOWANCES, Plan
from imagehost import media
from imagehost.errors import (
    Busy,
    FileTooLarge,
    FolderExists,
    FolderNotFound,
    InvalidBody,
    InvalidLimit,
    InvalidMime,
    InvalidOffset,
    NoFile,
    QuotaExceeded,
    Unauthorized,
    UploadFailed,
    UploadsUnavailable,
)
from imagehost.folders.listing import MAX_LIMIT
from imagehost.serializers import (
    CountedFolderSerializer,
    EarlierUploadSerializer,
    FileSerializer,
    FolderChangesSerializer,
    FolderSerializer,
    NewFolderSerializer,
    UploadSerializer,
)
from infrastructure.requests.errors import ApiError

_FORM = {
    "type": "object",
    "required": ["file"],
    "properties": {
        "key": {
            "type": "string",
            "description": "Earlier form: the key, before the file. A large file needs it there, or in a header.",
        },
        "file": {
            "type": "string",
            "format": "binary",
            "description": f"One file: {', '.join(type_.mime for type_ in media.ALL)}.",
        },
    },
}
_CURRENT_EXAMPLE = OpenApiExample(
    "Current form",
    value={
        "ok": True,
        "url": "https://i.example.org/k3Zq9RtB.png",
        "id": "1b4e28ba-2fa1-4d2b-883f-0016d3cca427",
        "fileName": "k3Zq9RtB",
        "fileExtension": "png",
        "fileSize": 48213,
        "mime": "image/png",
    },
    response_only=True,
    status_codes=["200"],
)
_EARLIER_EXAMPLE = OpenApiExample(
    "Earlier form",
    value={
        "status": "success",
        "url": "https://example.org/files/k3Zq9RtB",
        "rawUrl": "https://i.example.org/k3Zq9RtB.png",
        "data": {
            "file": "k3Zq9RtB.png",
            "fileName": "k3Zq9RtB",
            "fileExtension": "png",
            "fileSize": 48213,
            "fileOriginal": "Screenshot.png",
            "fileWidth": 1920,
            "fileHeight": 1080,
        },
    },
    response_only=True,
    status_codes=["200"],
)
TAGS = ["Image host: gallery and folders"]
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
_CONFLICT = OpenApiResponse(
    shared.ErrorSerializer,
    description="One of your folders has this name.",
    examples=[OpenApiExample("FolderExists", value=FolderExists().body())],
)


class UploadErrorSerializer(serializers.Serializer[ApiError]):
    error = serializers.CharField(help_text="For people.")
    code = serializers.CharField(help_text="For programs.")


def _error(description: str, *errors: ApiError) -> OpenApiResponse:
    """Return the errors of one status, each as an example."""
    examples = [
        OpenApiExample(f"{type(error).__name__}{number}", value=error.body()) for number, error in enumerate(errors, 1)
    ]
    return OpenApiResponse(UploadErrorSerializer, description=description, examples=examples)


def _key_errors() -> list[Unauthorized]:
    """Return the problems of a key, which share one code."""
    instances = [error() if isinstance(error, type) else error for error in shared.KEY_ERRORS]
    return [Unauthorized(error.error) for error in instances if error.status != 429]


upload = extend_schema(
    operation_id="upload_file",
    summary="Upload an image or a video",
    description=(
        "With the key in the header `X-API-Key` the answer has the current form, with the key in the header `key` or "
        "in the form the earlier one. The owner's folder rules choose the folder. The header `X-Deletion-Url` of the "
        "answer links to a page that deletes the file."
    ),
    tags=["Image host"],
    auth=[{"apiKey": []}, {}],  # type: ignore[list-item]  # the second: none, for the earlier form
    parameters=[
        OpenApiParameter("key", OpenApiTypes.STR, OpenApiParameter.HEADER, description="Earlier form: the key."),
        OpenApiParameter(
            "X-Deletion-Url",
            OpenApiTypes.URI,
            OpenApiParameter.HEADER,
            response=[200],
            description="A link to a page that deletes the file, without signing in.",
        ),
    ],
    request={"multipart/form-data": _FORM},
    responses={
        200: OpenApiResponse(
            PolymorphicProxySerializer(
                component_name="UploadResult",
                serializers=[UploadSerializer, EarlierUploadSerializer],
                resource_type_field_name=None,
            ),
            examples=[_CURRENT_EXAMPLE, _EARLIER_EXAMPLE],
        ),
        400: _error("There is no file, or it cannot be accepted.", NoFile(), InvalidMime(), QuotaExceeded()),
        401: _error(
            "The key is missing, unknown, disabled, expired or used up, or lacks the permission.", *_key_errors()
        ),
        413: _error("The file is larger than the plan allows.", FileTooLarge(ALLOWANCES[Plan.FREE].max_file_size)),
        500: _error("The file could not be stored. You can send the same request again.", UploadFailed()),
        **shared.error_responses(*shared.COMMON_ERRORS, KeyRateLimited(seconds_left=42)),
        503: _error("Nothing was stored. You can send the same request again.", UploadsUnavailable(), Busy()),
    },
)


class _PageSerializer(serializers.Serializer[Any]):
    """A page of files."""

    files = FileSerializer(many=True)
    total = serializers.IntegerField(help_text="The number of files on all pages.")
    limit = serializers.IntegerField(help_text="As applied.", min_value=1, max_value=MAX_LIMIT, allow_null=True)
    offset = serializers.IntegerField(help_text="As sent.", min_value=0, allow_null=True)


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


def _answers(
    status: int, form: type[serializers.Serializer[Any]], example: dict[str, Any], *errors: Any
) -> dict[int, OpenApiResponse]:
    """Return the successful answer and the errors, which are classes."""
    shown = OpenApiExample("Done", value=example, response_only=True, status_codes=[str(status)])
    rest = [error for error in errors if error is not FolderExists]
    answers = {
        status: OpenApiResponse(form, examples=[shown]),
        **({409: _CONFLICT} if FolderExists in errors else {}),
        **shared.error_responses(*rest, _UNAUTHORIZED, _RATE_LIMITED, *shared.COMMON_ERRORS),
    }
    return dict(sorted(answers.items()))


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
    description="Your folder rules put files into it.",
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
    description="Fields that the body leaves out stay unchanged. A folder that becomes private loses its password.",
    tags=TAGS,
    parameters=[_FOLDER_ID],
    request={"application/json": FolderChangesSerializer},
    examples=[OpenApiExample("Rename", value={"folderName": "Pictures"}, request_only=True)],
    responses=_answers(200, FolderAnswerSerializer, {"folder": _COUNTED}, InvalidBody, FolderNotFound, FolderExists),
)
delete_folder = extend_schema(
    operation_id="imagehost_delete_folder",
    summary="Delete a folder",
    description="Deletes its rules too. Its files move to the root.",
    tags=TAGS,
    parameters=[_FOLDER_ID],
    responses=_answers(200, DoneSerializer, {"ok": True}, FolderNotFound),
)
