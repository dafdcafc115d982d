"""Absolute URLs of files, their pages and folders."""

from django.conf import settings

from imagehost.models import Album, File, Folder


def file_url(file: File) -> str:
    """The file itself."""
    return f"{settings.IMAGE_CDN_URL}/{file.file_name}"


def page_url(file: File) -> str:
    """The page that shows the file."""
    return f"{settings.BASE_URL}/files/{file.name}"


def preview_url(file: File) -> str:
    """The file's preview, once there is one."""
    return f"{settings.BASE_URL}/files/{file.name}/preview.webp"


def card_url(file: File) -> str:
    """The preview as a PNG, for messengers that show no WebP."""
    return f"{settings.BASE_URL}/files/{file.name}/preview.png"


def deletion_url(file: File, token: str) -> str:
    """The page that deletes the file without a session."""
    return f"{settings.BASE_URL}/files/{file.name}/delete/{token}"


def folder_url(folder: Folder) -> str:
    """The page of a public folder."""
    return f"{settings.BASE_URL}/folders/{folder.pk}"


def album_url(album: Album) -> str:
    """The public page of an album."""
    return f"{settings.BASE_URL}/files/albums/{album.link}"
