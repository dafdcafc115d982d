"""Where content lies that is on its way in or out."""

from pathlib import Path

from django.conf import settings


def incoming_directory() -> Path:
    """For this user alone. On the file system of the folder storage, so that files are moved; made when missing."""
    directory = Path(settings.IMAGEHOST_INCOMING)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory
