"""The answer to an upload, earlier form."""

from __future__ import annotations

from dataclasses import dataclass

from rest_framework import serializers

from imagehost.models import File


@dataclass(frozen=True)
class Upload:
    """`url`: of the file's page. `raw_url`: of the file itself."""

    file: File
    url: str
    raw_url: str
    status: str = "success"


class EarlierUploadDataSerializer(serializers.Serializer[File]):
    file = serializers.CharField(source="file_name", help_text="`fileName` with its extension.")
    fileName = serializers.CharField(source="name")
    fileExtension = serializers.CharField(source="extension")
    fileSize = serializers.IntegerField(source="size", help_text="Bytes, as stored.")
    fileOriginal = serializers.CharField(source="original_name", help_text="The name that the file came with.")
    fileWidth = serializers.IntegerField(source="width")
    fileHeight = serializers.IntegerField(source="height")


class EarlierUploadSerializer(serializers.Serializer[Upload]):
    status = serializers.CharField(help_text="`success`.")
    url = serializers.URLField(help_text="The page that shows the file.")
    rawUrl = serializers.URLField(source="raw_url", help_text="The file itself.")
    data = EarlierUploadDataSerializer(source="file")  # type: ignore[assignment]  # a field called like an attribute
