"""Where files lie: both stores, the disk, and the examination of uploads."""

import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import requests
from django.core.files.storage import storages

from config.doctor import Finding, failure, ok, warning
from config.operations import readiness
from imagehost.examining import probing
from imagehost.examining.prober import confinement
from imagehost.storing.storage import Bucket, FolderStorage, incoming_directory

SECONDS = 5  # for an answer of the store's public side
GIBIBYTE = 2**30
LEAST_FREE = GIBIBYTE  # less is a failure: an upload of the largest plan takes a quarter of it
LITTLE_FREE = 0.1  # of the disk and of its inodes; less is a warning
LEAST_INODES = 1000
_PIXEL = bytes.fromhex(  # a PNG of one pixel
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d4944415478da63fccff0bf1e00068403034b87d4"
    "c60000000049454e44ae426082"
)


def stores() -> Iterator[Finding]:
    """Write, move, list, read and remove an object in each store, as uploads and quarantine do."""
    for alias, variable in (("imagehost", "FILES_DIR"), ("uploads", "UPLOADS_DIR")):
        store = cast("Bucket", storages[alias])
        if not isinstance(store, FolderStorage):
            yield from _round_trip(store, "S3_BUCKET")
            return  # both lie in it
        yield from _round_trip(store, f"{variable} {store.location}")
    if wrong := readiness.files():
        yield failure(wrong, "Mount one file system on every host (docs/operations.md).")
    if _folders()[0].stat().st_dev != incoming_directory().stat().st_dev:
        yield warning("INCOMING_DIR is on another disk: each upload is copied", "Put both on one file system.")


def _folders() -> list[Path]:
    """Return the folders of both stores; none where they are buckets."""
    stored = (storages[alias] for alias in ("imagehost", "uploads"))
    return [Path(store.location) for store in stored if isinstance(store, FolderStorage)]


def _round_trip(store: Bucket, where: str) -> Iterator[Finding]:
    name = secrets.token_hex(8)
    written, moved, content = f"doctor/{name}", f"doctor/{name}.moved", secrets.token_bytes(32)
    try:
        store.keep_bytes(written, content, mime="application/octet-stream")
        store.move(written, moved)
        listed = [entry.key for entry in store.entries("doctor/")]
        read = b"".join(store.read(moved, 0, len(content)))
        # Whether it can be read without the signature of a link. A folder has no links.
        link = store.link(moved, mime="application/octet-stream", download_name="doctor")
        is_public = link is not None and requests.get(link.partition("?")[0], timeout=SECONDS, allow_redirects=False).ok
    finally:
        store.remove(written)
        store.remove(moved)
        if isinstance(store, FolderStorage):
            with contextlib.suppress(OSError):  # another run's object is in it
                Path(store.location, "doctor").rmdir()
    if moved not in listed or read != content:
        yield failure(f"{where}: what was written is not what is there", "Look whether this host writes elsewhere.")
    elif is_public:
        fix = "Make it private; with S3_PUBLIC_URL only keys below files/ are public (docs/operations.md)."
        yield failure(f"{where}: every object is public", fix)
    else:
        yield ok(f"{where}: written, moved, listed, read, removed")


def disks() -> Iterator[Finding]:
    """Check each file system once."""
    seen: set[int] = set()
    for wanted in [*_folders(), incoming_directory(), Path(tempfile.gettempdir())]:
        folder = next(path for path in (wanted, *wanted.parents) if path.exists())  # made with the first file
        device = folder.stat().st_dev
        if device in seen:
            continue
        seen.add(device)
        usage = shutil.disk_usage(folder)
        text = f"{folder}: {usage.free / GIBIBYTE:.1f} of {usage.total / GIBIBYTE:.1f} GB are free"
        fix = "Make room, or move the folder to a larger disk: uploads fail once it is full."
        if usage.free < LEAST_FREE:
            yield failure(text, fix)
        else:
            yield warning(text, fix) if usage.free < LITTLE_FREE * usage.total else ok(text)
        yield from _inodes(folder)


def _inodes(folder: Path) -> Iterator[Finding]:
    """Check inodes, of which each file and folder takes one. File systems that make them as needed name none."""
    found = os.statvfs(folder)
    if found.f_files and found.f_favail < LITTLE_FREE * found.f_files:
        text = f"{folder}: {found.f_favail} of {found.f_files} inodes are free"
        fix = "Remove small files, or make the file system anew with more inodes: no file can be added without one."
        yield failure(text, fix) if found.f_favail < LEAST_INODES else warning(text, fix)


def examination() -> Iterator[Finding]:
    """Examine one pixel as an upload: in a process of its own, which may call for nothing."""
    with tempfile.NamedTemporaryFile(dir=incoming_directory()) as file:
        file.write(_PIXEL)
        file.flush()
        try:
            found = probing.probe(Path(file.name))
        except (probing.InvalidMedia, probing.ProberFailed) as error:
            yield failure(
                f"a picture could not be examined: {error}", "Read the log: the examining process did not start."
            )
            return
    if confinement.can_filter():
        yield ok(f"{found.mime} was recognized in a process whose system calls are filtered")
    else:
        fix = "Take Linux on x86_64 or aarch64, and let containers use seccomp."
        yield warning("uploads are examined without a filter of system calls", fix)
