"""The answer to an upload, current form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rest_framework import serializers

from imagehost.models import File


@dataclass(frozen=True)
class Upload:
    """`url`: of the file itself."""

    file: File
    url: str
    ok: Literal[True] = True


class UploadSerializer(serializers.Serializer[Upload]):
    ok = serializers.BooleanField(help_text="True.")
    url = serializers.URLField(help_text="The file itself, for everybody who knows it.")
    id = serializers.UUIDField(source="file.id")
    fileName = serializers.CharField(source="file.name", help_text="Generated, without extension.")
    fileExtension = serializers.CharField(source="file.extension", help_text="By the content of the file.")
    fileSize = serializers.IntegerField(source="file.size", help_text="Bytes, as stored.")
    mime = serializers.CharField(source="file.mime", help_text="By the content of the file.")
