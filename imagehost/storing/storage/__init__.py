"""The store of the files: a local folder, or S3.

`S3Storage` is imported at its first use: its client takes time and 36 MB that a folder does not need.
"""

import contextlib
import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from django.core.files.storage import storages

from imagehost.storing.storage.contract import Bucket, Entry, ObjectMissing, StorageFailed, incoming_directory
from imagehost.storing.storage.folder import FolderStorage

if TYPE_CHECKING:
    from imagehost.storing.storage.s3 import S3Storage

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
    """Return the store in the settings."""
    return cast("Bucket", storages["imagehost"])


def sweep(*, before: datetime) -> int:
    """Remove files that crashes left incomplete; how many there were.

    Files changed since `before` stay: they may belong to a running upload.
    """
    swept = 0
    for directory in (incoming_directory(), *bucket().part_directories()):
        with contextlib.suppress(FileNotFoundError), os.scandir(directory) as found:
            for file in [Path(entry) for entry in found if entry.is_file(follow_symlinks=False)]:
                with contextlib.suppress(FileNotFoundError):  # moved or removed
                    if file.stat().st_mtime < before.timestamp():
                        file.unlink()
                        swept += 1
    return swept


def __getattr__(name: str) -> Any:
    if name == "S3Storage":
        from imagehost.storing.storage.s3 import S3Storage  # see above

        return S3Storage
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
