"""Where files are kept, the image host's and those of profiles: folders, or a bucket of an S3-compatible store."""

from pathlib import Path
from typing import Any

from config import env


def options(directory: Path, *, variable: str, is_read_by_group: bool = False) -> dict[str, Any]:
    """An entry of Django's STORAGES. S3_BUCKET decides; with it come endpoint, region and credentials.

    `directory`: the folder, where the environment's `variable` names no other one; in a bucket, keys tell them apart.
    `is_read_by_group`: another web server, whose user is in this one's group, sends what lies in the folder.
    """
    bucket = env.text("S3_BUCKET", "")
    if not bucket:
        location = Path(env.text(variable, str(directory))).resolve()
        modes = {"file_permissions_mode": 0o640, "directory_permissions_mode": 0o750} if is_read_by_group else {}
        return {"BACKEND": "imagehost.storage.FolderStorage", "OPTIONS": {"location": location, **modes}}
    # Some stores refuse the checksums that the client adds on its own.
    checksums = env.choice("S3_CHECKSUMS", "when_required", ("when_required", "when_supported"))
    return {
        "BACKEND": "imagehost.storage.S3Storage",
        "OPTIONS": {
            "bucket_name": bucket,
            "endpoint_url": env.text("S3_ENDPOINT_URL", "") or None,  # None: the one of the region
            "region_name": env.text("S3_REGION", "us-east-1"),
            "access_key": env.text("S3_ACCESS_KEY"),
            "secret_key": env.text("S3_SECRET_KEY"),
            "addressing_style": env.choice("S3_ADDRESSING_STYLE", "path", ("path", "virtual", "auto")),
            "checksums": checksums,
            "public_url": env.base_url("S3_PUBLIC_URL", ""),
        },
    }
