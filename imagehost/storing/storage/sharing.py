"""A check that the hosts that share the cache also share the folder of the files.

A host creates a mark in its folder and caches the mark's name; the other hosts look for the mark, which a host with its
own disk does not have. Each host that finds it renews it; PERIOD after the last renewal a host creates a new mark.
"""

import secrets
from pathlib import Path

from django.core.cache import cache

from imagehost.storing.storage.folder import FolderStorage

MARKS = ".marks"  # in the folder; no key has a leading dot
PERIOD = 30  # seconds; health checks come more often


def is_shared(folder: FolderStorage, *, name: str) -> bool:
    """Return whether other hosts see the folder. `name`: among this service's folders. 2 round trips to the cache.

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
    """Create a mark before its name is in the cache."""
    mark = secrets.token_hex(16)
    marks.mkdir(mode=0o700, parents=True, exist_ok=True)
    Path(marks, mark).touch(mode=0o600)
    return mark


def _remove_others(marks: Path, mark: str | None) -> None:
    for other in marks.iterdir():
        if other.name != mark:
            other.unlink(missing_ok=True)
