"""Files in a local folder, and a check that the hosts that share the cache also share the folder.

A host creates a mark in its folder and caches the mark's name; the other hosts look for the mark, which a host with its
own disk does not have. Each host that finds it renews it; PERIOD after the last renewal a host creates a new mark.
"""

import contextlib
import errno
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from django.core.cache import cache
from django.core.files.storage import FileSystemStorage
from django.utils.deconstruct import deconstructible

from imagehost.storing.storage.contract import PIECE, Entry, ObjectMissing, Pieces, StorageFailed, checked

_PARTS, MARKS = ".parts", ".marks"  # no key has a leading dot
PERIOD = 30  # seconds; health checks come more often


@deconstructible(path="imagehost.storing.storage.FolderStorage")
class FolderStorage(FileSystemStorage):
    """A Bucket in `location`. An object appears by a rename, after its content has reached the disk.

    Only this user may read the files by default: `file_permissions_mode` and `directory_permissions_mode` allow another
    web server to deliver them.
    """

    def __init__(
        self,
        location: str | os.PathLike[str] | None = None,
        base_url: str | None = None,
        file_permissions_mode: int = 0o600,
        directory_permissions_mode: int = 0o700,
    ) -> None:
        super().__init__(
            location=location,
            base_url=base_url,
            file_permissions_mode=file_permissions_mode,
            directory_permissions_mode=directory_permissions_mode,
        )
        self._file_mode = file_permissions_mode
        self._directory_mode = directory_permissions_mode

    def keep(self, key: str, path: Path, *, mime: str, download_name: str) -> None:
        with _failing(key, missing=StorageFailed), path.open("rb") as file:
            try:
                self._publish(file, path, key)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                self._copy(file, key)

    def prepare(self, descriptor: int, start: int, length: int) -> None:
        """Start writing the bytes to the disk, so that `keep` waits less.

        POSIX_FADV_DONTNEED drops what is on the disk already, and starts writing what is not (mm/fadvise.c of Linux).
        """
        if sys.platform == "linux":
            with contextlib.suppress(OSError):  # not all file systems support it; `keep` syncs all
                os.posix_fadvise(descriptor, start, length, os.POSIX_FADV_DONTNEED)

    def keep_bytes(self, key: str, content: bytes, *, mime: str) -> None:
        with _failing(key, missing=StorageFailed), self._part() as file:
            file.write(content)
            self._publish(file, Path(file.name), key)

    def read(self, key: str, start: int, length: int) -> Pieces:
        with _failing(key):
            file = self._place(key).open("rb", buffering=0)
        size = os.fstat(file.fileno()).st_size
        if start + length > size:
            file.close()
            raise StorageFailed(f"{key} has {size} bytes, {start + length} are asked for")
        file.seek(start)
        return Pieces(file, length, failures=(OSError,))

    @contextlib.contextmanager
    def fetched(self, key: str) -> Iterator[Path]:
        place = self._place(key)
        with _failing(key):
            place.stat()
        yield place

    def move(self, source: str, key: str) -> None:
        origin, place = self._place(source), self._place(key)
        with _failing(source):
            origin.stat()
        with _failing(key):
            self._make_directory(place.parent)
            origin.replace(place)
            _sync_directory(place.parent)
            _sync_directory(origin.parent)

    def remove(self, key: str) -> None:
        with contextlib.suppress(ObjectMissing), _failing(key):
            self._place(key).unlink()

    def entries(self, prefix: str, *, after: str = "", until: str = "") -> Iterator[Entry]:
        folder = prefix.rpartition("/")[0]
        bounds = (after, until)
        for entry in self._walk(Path(self.location, checked(folder)) if folder else Path(self.location), bounds):
            key = self._key(entry)
            with contextlib.suppress(ObjectMissing):  # removed by another process
                if key.startswith(prefix) and after < key and (not until or key <= until):
                    with _failing(key):
                        facts = entry.stat(follow_symlinks=False)
                    yield Entry(key, facts.st_size, datetime.fromtimestamp(facts.st_mtime, UTC))

    def link(
        self, key: str, *, mime: str, download_name: str, is_attachment: bool = False, seconds: int | None = None
    ) -> None:
        return None

    def part_directories(self) -> tuple[Path, ...]:
        return (Path(self.location, _PARTS),)

    def is_shared(self, *, name: str) -> bool:
        """Return whether other hosts see the folder. `name`: among this service's. 2 round trips to the cache.

        OSError where the folder cannot be read or written.
        """
        marks, entry = Path(self.location, MARKS), f"files-mark-{name}"
        mark = cache.get(entry)
        if mark is None:
            mark = secrets.token_hex(16)
            marks.mkdir(mode=0o700, parents=True, exist_ok=True)
            Path(marks, mark).touch(mode=0o600)  # before its name is in the cache
            if not cache.add(entry, mark, timeout=PERIOD):
                Path(marks, mark).unlink(missing_ok=True)
                mark = cache.get(entry)
            for other in marks.iterdir():
                if other.name != mark:
                    other.unlink(missing_ok=True)
        if mark is None or not Path(marks, mark).exists():
            return False
        cache.touch(entry, PERIOD)
        return True

    def _place(self, key: str) -> Path:
        return Path(self.path(checked(key)))

    def _key(self, entry: os.DirEntry[str]) -> str:
        return Path(entry.path).relative_to(self.location).as_posix()

    def _walk(self, directory: Path, bounds: tuple[str, str] = ("", "")) -> Iterator[os.DirEntry[str]]:
        """Yield every file below `directory`, without directories out of bounds; does not follow symbolic links."""
        children: list[os.DirEntry[str]] = []
        with contextlib.suppress(ObjectMissing), _failing(directory), os.scandir(directory) as found:
            children = [child for child in found if not child.name.startswith(".")]
        for child in children:
            if child.is_dir(follow_symlinks=False):
                if _may_hold(f"{self._key(child)}/", *bounds):
                    yield from self._walk(Path(child.path), bounds)
            elif child.is_file(follow_symlinks=False):
                yield child

    def _publish(self, file: IO[bytes], path: Path, key: str) -> None:
        """Rename the file at `path`, open as `file`, to its place; remove it again where the disk fails."""
        place = self._place(key)
        self._make_directory(place.parent)
        file.flush()
        os.fchmod(file.fileno(), self._file_mode)
        os.fsync(file.fileno())
        path.replace(place)
        try:
            _sync_directory(place.parent)
        except OSError:
            place.unlink(missing_ok=True)
            raise

    def _copy(self, source: IO[bytes], key: str) -> None:
        """Copy from another file system."""
        with self._part() as part:
            source.seek(0)
            shutil.copyfileobj(source, part, PIECE)
            self._publish(part, Path(part.name), key)

    @contextlib.contextmanager
    def _part(self) -> Iterator[IO[bytes]]:
        """Yield a new file on this file system, removed at the end unless it was renamed."""
        directory = self.part_directories()[0]
        self._make_directory(directory)
        with tempfile.NamedTemporaryFile(dir=directory, delete=False) as file:
            try:
                yield file.file
            finally:
                Path(file.name).unlink(missing_ok=True)

    def _make_directory(self, directory: Path) -> None:
        """Create the directory with its parents, each synced to its parent before it is used."""
        if directory.is_dir():
            return
        self._make_directory(directory.parent)
        try:
            directory.mkdir(self._directory_mode)
        except FileExistsError:  # by a concurrent upload of the owner; the rename fails where it is a file
            return
        directory.chmod(self._directory_mode)  # for any umask
        _sync_directory(directory.parent)


def _may_hold(directory: str, after: str, until: str) -> bool:
    """Return whether a key that begins with `directory` may be in the bounds."""
    return (after < directory or after.startswith(directory)) and (not until or directory <= until)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _failing(what: str | Path, *, missing: type[StorageFailed] = ObjectMissing) -> Iterator[None]:
    """Raise errors of the system as StorageFailed or `missing`."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise missing(f"{what}: {error}") from error
    except OSError as error:
        raise StorageFailed(f"{what}: {error}") from error
