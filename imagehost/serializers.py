"""The JSON of the image host: the answer to an upload in both forms, files, folders, changes to a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from imagehost.models import MAX_NAME_LENGTH, MAX_PASSWORD_LENGTH, File, Folder
from lookup.serializers.fields import UnixTime


@dataclass(frozen=True)
class CurrentUpload:
    """A stored file in the current form of the answer."""

    file: File
    ok: Literal[True] = True


class UploadSerializer(serializers.Serializer[CurrentUpload]):
    ok = serializers.BooleanField(help_text="True.")
    url = serializers.URLField(source="file.url", help_text="The file itself.")
    id = serializers.UUIDField(source="file.id")
    fileName = serializers.CharField(source="file.name", help_text="Generated, without extension.")
    fileExtension = serializers.CharField(source="file.extension", help_text="By the content of the file.")
    fileSize = serializers.IntegerField(source="file.size", help_text="Bytes, as stored.")
    mime = serializers.CharField(source="file.mime", help_text="By the content of the file.")


@dataclass(frozen=True)
class EarlierUpload:
    """A stored file in the earlier form of the answer."""

    file: File
    status: str = "success"


class EarlierUploadDataSerializer(serializers.Serializer[File]):
    file = serializers.CharField(source="file_name", help_text="`fileName` with its extension.")
    fileName = serializers.CharField(source="name")
    fileExtension = serializers.CharField(source="extension")
    fileSize = serializers.IntegerField(source="size", help_text="Bytes, as stored.")
    fileOriginal = serializers.CharField(source="original_name", help_text="The name of the uploaded file.")
    fileWidth = serializers.IntegerField(source="width")
    fileHeight = serializers.IntegerField(source="height")


class EarlierUploadSerializer(serializers.Serializer[EarlierUpload]):
    status = serializers.CharField(help_text="`success`.")
    url = serializers.URLField(source="file.page_url", help_text="The page that shows the file.")
    rawUrl = serializers.URLField(source="file.url", help_text="The file itself.")
    data = EarlierUploadDataSerializer(source="file")  # type: ignore[assignment]  # a field called like an attribute


class FolderSerializer(serializers.Serializer[Folder]):
    id = serializers.CharField()
    folderName = serializers.CharField(source="name")
    folderPublic = serializers.BooleanField(source="is_public")
    folderPasswordEnabled = serializers.BooleanField(source="is_password_enabled")
    createdAt = UnixTime(source="created_at", help_text="UNIX seconds.")
    updatedAt = UnixTime(source="updated_at", help_text="UNIX seconds; of the folder's own settings.")


class CountedFolderSerializer(FolderSerializer):
    """A folder with the number and size of its files."""

    fileCount = serializers.IntegerField(source="file_count")
    totalSize = serializers.IntegerField(source="total_size", help_text="Bytes.")


class FileSerializer(serializers.Serializer[File]):
    id = serializers.UUIDField()
    fileName = serializers.CharField(source="name", help_text="Without extension.")
    fileExtension = serializers.CharField(source="extension")
    fileOriginal = serializers.CharField(source="original_name", help_text="The name of the uploaded file.")
    fileSize = serializers.IntegerField(source="size", help_text="Bytes, as stored.")
    uploadAt = UnixTime(source="uploaded_at", help_text="UNIX seconds.")
    favorite = serializers.BooleanField(source="is_favorite")
    folder = FolderSerializer(allow_null=True, help_text="Null: the file is in the root.")
    fileWidth = serializers.IntegerField(source="width", help_text="Pixels.")
    fileHeight = serializers.IntegerField(source="height", help_text="Pixels.")


@extend_schema_field({"type": "boolean"})
class Flag(serializers.Field[bool, Any, bool, bool]):
    """`true` or `false` of JSON. DRF's own field accepts "no", 0 and more."""

    def to_internal_value(self, data: object) -> bool:
        if not isinstance(data, bool):
            raise serializers.ValidationError("Must be true or false.")
        return data


class Text(serializers.Field[str, Any, str, str]):
    """A string, unchanged. DRF's own field accepts numbers too, and trims."""

    def to_internal_value(self, data: object) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("Must be a string.")
        return data


@extend_schema_field({"type": "string", "minLength": 1, "maxLength": MAX_NAME_LENGTH})
class NameText(Text):
    """Described for OpenAPI; `imagehost.folders.folders` checks it."""


@extend_schema_field({"type": "string", "maxLength": MAX_PASSWORD_LENGTH})
class PasswordText(Text):
    """Described for OpenAPI; `imagehost.folders.folders` checks it."""


class FolderChangesSerializer(serializers.Serializer[Any]):
    """Changes to a folder; missing fields stay unchanged."""

    # The sources are the fields of `imagehost.folders.folders.Changes`.
    folderName = NameText(source="name", required=False, help_text="Unique among your folders.")
    folderPublic = Flag(source="is_public", required=False, help_text="Has a public page.")
    folderPasswordEnabled = Flag(source="is_password_enabled", required=False, help_text="Of public folders only.")
    folderPassword = PasswordText(source="password", required=False, help_text="Required when it becomes enabled.")


class NewFolderSerializer(FolderChangesSerializer):
    """A new folder."""

    folderName = NameText(source="name", help_text="Unique among your folders.")
