"""The OpenAPI description of the upload, the gallery and the folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiResponse,
    PolymorphicProxySerializer,
    extend_schema,
    extend_schema_field,
)
from rest_framework import serializers

from accounts import openapi as shared
from accounts.errors import KeyNotFound, KeyRateLimited
from accounts.plans import ALLOWANCES, Plan
from imagehost import media
from imagehost.errors import (
    Busy,
    CostlyUploads,
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

_EXAMPLES: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("openapi_examples.json").read_text("utf-8"))
_FOLDER, _COUNTED, _FILES = (_EXAMPLES[name] for name in ("folder", "countedFolder", "files"))
TAGS = ["Image host: gallery and folders"]
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
    OpenApiExample("Private", value=_EXAMPLES["newFolder"], request_only=True),
    OpenApiExample("Public, with a password", value=_EXAMPLES["newPublicFolder"], request_only=True),
]
_UNAUTHORIZED, _RATE_LIMITED = Unauthorized(KeyNotFound.error), KeyRateLimited(seconds_left=42)
_CONFLICT = OpenApiResponse(
    shared.ErrorSerializer,
    description="One of your folders has this name.",
    examples=[OpenApiExample("FolderExists", value=FolderExists().body())],
)


@extend_schema_field(OpenApiTypes.BINARY)
class _FileField(serializers.Field[Any, Any, Any, Any]):
    """The bytes of a file."""


class UploadFormSerializer(serializers.Serializer[Any]):  # of a raw schema the body would count as optional
    """The form of an upload."""

    key = serializers.CharField(
        required=False, help_text="Earlier form: the key, before the file. A large file needs it there, or in a header."
    )
    file = _FileField(help_text=f"One file: {', '.join(type_.mime for type_ in media.ALL)}.")


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
    request={"multipart/form-data": UploadFormSerializer},
    responses={
        200: OpenApiResponse(
            PolymorphicProxySerializer(
                component_name="UploadResult",
                serializers=[UploadSerializer, EarlierUploadSerializer],
                resource_type_field_name=None,
            ),
            examples=[
                OpenApiExample(name, value=_EXAMPLES[key], response_only=True, status_codes=["200"])
                for name, key in (("Current form", "upload"), ("Earlier form", "earlierUpload"))
            ],
        ),
        400: _error("There is no file, or it cannot be accepted.", NoFile(), InvalidMime(), QuotaExceeded()),
        401: _error(
            "The key is missing, unknown, disabled, expired or used up, or lacks the permission.", *_key_errors()
        ),
        413: _error("The file is larger than the plan allows.", FileTooLarge(ALLOWANCES[Plan.FREE].max_file_size)),
        500: _error("The file could not be stored. You can send the same request again.", UploadFailed()),
        **shared.error_responses(*shared.COMMON_ERRORS, KeyRateLimited(seconds_left=42), CostlyUploads(42)),
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
        201,
        FolderAnswerSerializer,
        {"folder": {**_COUNTED, "fileCount": 0, "totalSize": 0}},
        InvalidBody,
        FolderExists,
    ),
)
show_folder = extend_schema(
    operation_id="imagehost_folder",
    summary="A folder and its files",
    description="The files newest first.",
    tags=TAGS,
    parameters=[_FOLDER_ID, *_PAGE],
    responses=_answers(
        200,
        FolderPageSerializer,
        {"folder": _FOLDER, **_FILES},
        InvalidLimit,
        InvalidOffset,
        FolderNotFound,
    ),
)
change_folder = extend_schema(
    operation_id="imagehost_change_folder",
    summary="Change a folder",
    description=(
        "Fields that the body leaves out stay unchanged. A folder that becomes private loses its password: pages of "
        "its files then open for everybody who knows their names."
    ),
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
