"""The store of the files: a folder of this machine, or S3.

`S3Storage` is imported when it is asked for: its client takes a while and 36 MB that a folder does not need.
"""

import contextlib
import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from django.core.files.storage import storages

from imagehost.storage.contract import Bucket, Entry, ObjectMissing, StorageFailed, incoming_directory
from imagehost.storage.folder import FolderStorage

if TYPE_CHECKING:
    from imagehost.storage.s3 import S3Storage

__all__ = [
    "Bucket",
    "Entry",
    "FolderStorage",
    "ObjectMissing",
    "S3Storage",
    "StorageFailed",
    "bucket",
    "incoming_directory",
    "sweep",
]


def bucket() -> Bucket:
    """The one of the settings."""
    return cast("Bucket", storages["imagehost"])


def sweep(*, before: datetime) -> int:
    """Remove what crashes left half-written: files last changed before `before`. How many there were.

    Anything younger may belong to an upload that is still coming in.
    """
    swept = 0
    for directory in (incoming_directory(), *bucket().part_directories()):
        with contextlib.suppress(FileNotFoundError), os.scandir(directory) as found:
            for file in [Path(entry) for entry in found if entry.is_file(follow_symlinks=False)]:
                with contextlib.suppress(FileNotFoundError):  # finished meanwhile
                    if file.stat().st_mtime < before.timestamp():
                        file.unlink()
                        swept += 1
    return swept


def __getattr__(name: str) -> Any:
    if name == "S3Storage":
        from imagehost.storage.s3 import S3Storage  # above: only where it is used

        return S3Storage
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
