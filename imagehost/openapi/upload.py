"""What the OpenAPI document says of the upload."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiResponse,
    PolymorphicProxySerializer,
    extend_schema,
)
from rest_framework import serializers

from accounts import openapi
from accounts.errors import ApiError, KeyRateLimited
from accounts.plans import ALLOWANCES, Plan
from imagehost import media
from imagehost.errors import (
    Busy,
    FileTooLarge,
    InvalidMime,
    NoFile,
    QuotaExceeded,
    Unauthorized,
    UploadFailed,
    UploadsUnavailable,
)
from imagehost.serializers import current, earlier


class UploadErrorSerializer(serializers.Serializer[ApiError]):
    error = serializers.CharField(help_text="For people.")
    code = serializers.CharField(help_text="For programs.")


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


def _error(description: str, *errors: ApiError) -> OpenApiResponse:
    """Some errors of one status, each an example."""
    examples = [
        OpenApiExample(f"{type(error).__name__}{number}", value=error.body()) for number, error in enumerate(errors, 1)
    ]
    return OpenApiResponse(UploadErrorSerializer, description=description, examples=examples)


def _key_errors() -> list[Unauthorized]:
    """Each problem of a key in its own words, under the one code."""
    instances = [error() if isinstance(error, type) else error for error in openapi.KEY_ERRORS]
    return [Unauthorized(error.error) for error in instances if error.status != 429]


upload = extend_schema(
    operation_id="upload_file",
    summary="Upload an image or a video",
    description=(
        "The key stands in the header `X-API-Key`, and the answer is the current form. With the key in the header "
        "`key`, or in the form, it is the earlier one. The folder follows from the owner's folder rules. The header "
        "`X-Deletion-Url` of the answer leads to a page that deletes the file."
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
            description="Whoever opens it may delete the file.",
        ),
    ],
    request={"multipart/form-data": _FORM},
    responses={
        200: OpenApiResponse(
            PolymorphicProxySerializer(
                component_name="UploadResult",
                serializers=[current.UploadSerializer, earlier.EarlierUploadSerializer],
                resource_type_field_name=None,
            ),
            examples=[_CURRENT_EXAMPLE, _EARLIER_EXAMPLE],
        ),
        400: _error("There is no file, or none that can be taken.", NoFile(), InvalidMime(), QuotaExceeded()),
        401: _error("The key is missing, unknown, dead, used up, or lacks the permission.", *_key_errors()),
        413: _error("The file is larger than the plan allows.", FileTooLarge(ALLOWANCES[Plan.FREE].max_file_size)),
        500: _error("The file could not be stored. The same request may be sent again.", UploadFailed()),
        **openapi.error_responses(*openapi.COMMON_ERRORS, KeyRateLimited(seconds_left=42)),
        503: _error("Nothing was stored; the same request may be sent again.", UploadsUnavailable(), Busy()),
    },
)
