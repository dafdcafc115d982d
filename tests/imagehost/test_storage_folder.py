"""The folder: private, and nothing half-written to be seen. Hosts notice by a mark whether they share it."""

import errno
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.cache import cache
from pytest_django import Settings

from imagehost.storing import storage
from imagehost.storing.storage import FolderStorage, ObjectMissing, StorageFailed
from imagehost.storing.storage.folder import MARKS
from tests.support.threads import together

KEY = "files/owner/Ab3dE6gH.png"


@pytest.fixture
def location(tmp_path: Path) -> Path:
    return tmp_path / "files"


@pytest.fixture
def upload(settings: Settings, tmp_path: Path) -> Path:
    settings.IMAGEHOST_INCOMING = tmp_path / "incoming"
    path = storage.incoming_directory() / "upload"
    path.write_bytes(b"picture")
    path.chmod(0o644)
    return path


def _files(directory: Path) -> list[str]:
    return sorted(path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file())


def _keep(bucket: FolderStorage, path: Path, key: str = KEY) -> None:
    bucket.keep(key, path, mime="image/png", download_name="a.png")


def _modes(location: Path) -> list[int]:
    places = (location, location / "files", location / "files" / "owner", location / KEY)
    return [place.stat().st_mode & 0o777 for place in places]


def test_the_file_is_moved_and_not_copied(location: Path, upload: Path) -> None:
    inode = upload.stat().st_ino
    _keep(FolderStorage(location=location), upload)
    assert (location / KEY).stat().st_ino == inode
    assert not upload.exists()


@pytest.mark.parametrize(("umask", "of_file", "of_directory"), [(0o000, 0o600, 0o700), (0o077, 0o640, 0o750)])
def test_only_the_service_may_read_unless_an_operator_lets_another_server(
    location: Path, upload: Path, umask: int, of_file: int, of_directory: int
) -> None:
    bucket = FolderStorage(location)
    if umask:
        bucket = FolderStorage(location, file_permissions_mode=of_file, directory_permissions_mode=of_directory)
    before = os.umask(umask)
    try:
        _keep(bucket, upload)
        bucket.keep_bytes("files/owner/small", b"x", mime="image/webp")
    finally:
        os.umask(before)
    assert _modes(location) == [of_directory, of_directory, of_directory, of_file]
    assert (location / "files/owner/small").stat().st_mode & 0o777 == of_file
    assert upload.parent.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def another_file_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the incoming directory and the folder."""
    rename = os.replace

    def replace(source: Path, target: Path) -> None:
        if Path(source).parent.name == "incoming":
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        rename(source, target)

    monkeypatch.setattr(os, "replace", replace)


@pytest.mark.usefixtures("another_file_system")
def test_a_file_from_another_file_system_is_copied(location: Path, upload: Path) -> None:
    bucket = FolderStorage(location=location)
    _keep(bucket, upload)
    assert _files(location) == [KEY]
    assert (location / KEY).read_bytes() == b"picture"
    assert _modes(location)[-1] == 0o600


@pytest.mark.usefixtures("another_file_system")
def test_a_copy_that_fails_leaves_nothing(location: Path, upload: Path) -> None:
    (location / "files").mkdir(parents=True)
    (location / "files" / "owner").write_bytes(b"a file where a directory should be")
    with pytest.raises(StorageFailed):
        _keep(FolderStorage(location=location), upload)
    assert _files(location) == ["files/owner"]
    assert upload.read_bytes() == b"picture"


@pytest.mark.parametrize("broken_call", [1, 2, 3, 4])
def test_a_disk_that_fails_leaves_nothing_to_be_seen(
    location: Path, upload: Path, monkeypatch: pytest.MonkeyPatch, broken_call: int
) -> None:
    """Whichever of the file and the directories above it cannot be brought to the disk."""
    calls: list[int] = []
    fsync = os.fsync

    def failing(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == broken_call:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        fsync(descriptor)

    bucket = FolderStorage(location=location)
    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(StorageFailed, match="Input/output error"):
        _keep(bucket, upload)
    assert list(bucket.entries("")) == []
    with pytest.raises(ObjectMissing):
        bucket.read(KEY, 0, 1)


def test_content_reaches_the_disk_before_its_name(
    location: Path, upload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (location / "files" / "owner").mkdir(parents=True)
    order: list[str] = []
    fsync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        order.append(f"fsync {Path(f'/proc/self/fd/{descriptor}').readlink().name}")
        fsync(descriptor)

    def renamed(source: Path, target: Path) -> None:
        order.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    _keep(FolderStorage(location=location), upload)
    assert order == ["fsync upload", "rename", "fsync owner"]


def test_writing_to_the_disk_starts_while_the_rest_comes_in_where_the_file_system_can(
    location: Path, upload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = FolderStorage(location=location)
    reader, writer = os.pipe()  # no file: the system refuses
    with os.fdopen(reader), os.fdopen(writer):
        bucket.prepare(writer, 0, 4)
    advised: list[tuple[int, int, int, int]] = []
    monkeypatch.setattr(os, "posix_fadvise", lambda *values: advised.append(values))
    with upload.open("rb") as file:
        bucket.prepare(file.fileno(), 3, 4)
        assert advised == [(file.fileno(), 3, 4, os.POSIX_FADV_DONTNEED)]


def test_what_a_crash_left_is_no_entry(location: Path) -> None:
    bucket = FolderStorage(location=location)
    bucket.keep_bytes(KEY, b"x", mime="image/png")
    (location / ".parts" / "half").write_bytes(b"x")
    (location / "files" / "owner" / ".hidden").write_bytes(b"x")
    (location / "files" / "owner" / "link.png").symlink_to("/etc/passwd")
    (location / "files" / "loop").symlink_to(location)
    assert [entry.key for entry in bucket.entries("")] == [KEY]


def test_a_file_in_the_way_of_a_directory_stays_as_it_is(location: Path, upload: Path) -> None:
    bucket = FolderStorage(location=location)
    bucket.keep_bytes("files/owner", b"x", mime="image/png")
    with pytest.raises(StorageFailed):
        _keep(bucket, upload)
    assert (location / "files" / "owner").stat().st_mode & 0o777 == 0o600
    assert upload.read_bytes() == b"picture"
    with pytest.raises(ObjectMissing):
        bucket.read(KEY, 0, 1)
    bucket.remove(KEY)


def test_a_directory_is_no_object(location: Path, upload: Path) -> None:
    bucket = FolderStorage(location=location)
    _keep(bucket, upload)
    for act in (lambda: bucket.read("files/owner", 0, 1), lambda: bucket.remove("files/owner")):
        with pytest.raises(StorageFailed):
            act()
    assert _files(location) == [KEY]


def test_entries_may_go_while_they_are_listed(location: Path) -> None:
    bucket = FolderStorage(location=location)
    keys = {f"files/{owner}/{name}.png" for owner in "ab" for name in "ab"}
    for key in keys:
        bucket.keep_bytes(key, b"x", mime="image/png")
    listed = bucket.entries("files/")
    first = next(listed).key
    for key in keys - {first}:
        bucket.remove(key)
    assert list(listed) == []


def test_a_file_that_shrinks_under_its_reader_breaks_off(location: Path) -> None:
    bucket = FolderStorage(location=location)
    bucket.keep_bytes(KEY, b"x" * 600_000, mime="image/png")
    pieces = bucket.read(KEY, 0, 600_000)
    next(pieces)
    os.truncate(location / KEY, 300_000)
    with pytest.raises(StorageFailed, match="Broke off with 300000 bytes to come: it ended there"):
        list(pieces)


def test_sweeping_removes_old_leftovers_alone(settings: Settings, upload: Path, location: Path) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "imagehost": {"BACKEND": "imagehost.storing.storage.FolderStorage", "OPTIONS": {"location": location}},
    }
    storage.bucket().keep_bytes(KEY, b"x", mime="image/png")
    parts = location / ".parts"
    before = datetime(2026, 3, 1, 12, tzinfo=UTC)
    old, young = [upload, parts / "half", location / KEY], [upload.with_name("young"), parts / "young"]
    for path in [*old, *young]:
        path.touch()
        changed = before.timestamp() - (path in old)
        os.utime(path, times=(changed, changed))
    assert storage.sweep(before=before) == 2
    assert [path.exists() for path in [*old, *young]] == [False, False, True, True, True]


def test_entries_of_a_range_look_into_no_other_directory(location: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = FolderStorage(location=location)
    keys = [f"files/{owner}/{number}.png" for owner in "abc" for number in range(2)]
    for key in [*keys, "files/b.png", "files/b/c/d.png"]:
        bucket.keep_bytes(key, b"x", mime="image/png")
    scanned: list[str] = []
    scandir = os.scandir

    def noting(path: Path) -> object:
        scanned.append(Path(path).name)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", noting)
    found = {entry.key for entry in bucket.entries("files/", after="files/a0", until="files/b0")}
    assert found == {*keys[2:4], "files/b.png", "files/b/c/d.png"}
    assert sorted(scanned) == ["b", "c", "files"]  # the c below b
    found = {entry.key for entry in bucket.entries("files/", after="files/b/1.png", until="files/c/0.png")}
    assert found == {"files/b/c/d.png", "files/c/0.png"}


def _shared(*directories: Path) -> list[bool]:
    """What hosts with these folders find, one after the other."""
    return [FolderStorage(location=directory).is_shared(name="files") for directory in directories]


@pytest.mark.embedded
class TestSharing:
    @pytest.fixture(autouse=True)
    def _no_mark_yet(self) -> None:
        cache.delete("files-mark-files")

    def test_hosts_with_one_folder_share_it_by_one_mark_also_when_they_look_at_once(self, location: Path) -> None:
        assert together(6, lambda _: _shared(location)) == [[True]] * 6
        assert _shared(location, location) == [True, True]
        cache.delete("files-mark-files")
        assert _shared(location) == [True]
        assert len(_files(location / MARKS)) == 1
        assert list(FolderStorage(location=location).entries("")) == []

    def test_a_host_with_a_disk_of_its_own_does_not_share_and_renews_no_mark(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first, second = tmp_path / "first", tmp_path / "second"
        assert _shared(first, second, first) == [True, False, True]
        renewed = list[str]()
        monkeypatch.setattr(cache, "touch", lambda key, timeout: renewed.append(key), raising=False)
        assert (_shared(second), renewed) == ([False], [])
        assert (_shared(first), renewed) == ([True], ["files-mark-files"])

    def test_a_folder_that_cannot_be_written_is_an_error(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("no folder")
        with pytest.raises(OSError, match="Not a directory"):
            _shared(tmp_path / "file")
