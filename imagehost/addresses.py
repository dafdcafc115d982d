"""Where files, their pages and folders are found, as whole URLs."""

from django.conf import settings

from imagehost.models import File, Folder


def file_url(file: File) -> str:
    """The file itself, for everybody who knows its name."""
    return f"{settings.IMAGE_CDN_URL}/{file.file_name}"


def page_url(file: File) -> str:
    """The page that shows the file."""
    return f"{settings.BASE_URL}/files/{file.name}"


def preview_url(file: File) -> str:
    """The small picture of it, once there is one."""
    return f"{settings.BASE_URL}/files/{file.name}/preview.webp"


def card_url(file: File) -> str:
    """The same picture as a PNG, for messengers that show no WebP."""
    return f"{settings.BASE_URL}/files/{file.name}/preview.png"


def deletion_url(file: File, token: str) -> str:
    """Its page deletes the file, without signing in."""
    return f"{settings.BASE_URL}/files/{file.name}/delete/{token}"


def folder_url(folder: Folder) -> str:
    """The page of a public folder."""
    return f"{settings.BASE_URL}/folders/{folder.pk}"
