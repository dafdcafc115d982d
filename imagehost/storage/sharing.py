"""Whether the hosts that share the cache share the folder of the files, too.

One of them puts a mark into its folder, and the name of the mark into the cache; the others look for it. A host with a
disk of its own does not find it. Who finds it renews it; PERIOD after the last of them, another host makes a new one.
"""

import secrets
from pathlib import Path

from django.core.cache import cache

from imagehost.storage.folder import FolderStorage

MARKS = ".marks"  # in the folder; no key has a leading dot
PERIOD = 30  # seconds; health checks come more often


def is_shared(folder: FolderStorage, *, name: str) -> bool:
    """`name` tells the folder from others of this service. 2 round trips to the cache.

    OSError where the folder cannot be read or written.
    """
    marks, entry = Path(folder.location, MARKS), f"files-mark-{name}"
    mark = cache.get(entry)
    if mark is None:
        mark = _new_mark(marks)
        if not cache.add(entry, mark, timeout=PERIOD):
            Path(marks, mark).unlink(missing_ok=True)
            mark = cache.get(entry)
        _remove_others(marks, mark)
    if mark is None or not Path(marks, mark).exists():
        return False
    cache.touch(entry, PERIOD)
    return True


def _new_mark(marks: Path) -> str:
    """There before anybody can look for it."""
    mark = secrets.token_hex(16)
    marks.mkdir(mode=0o700, parents=True, exist_ok=True)
    Path(marks, mark).touch(mode=0o600)
    return mark


def _remove_others(marks: Path, mark: str | None) -> None:
    for other in marks.iterdir():
        if other.name != mark:
            other.unlink(missing_ok=True)
