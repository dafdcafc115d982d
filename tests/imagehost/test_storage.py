"""What a store of files promises: the folder and S3 pass the same tests."""

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.exceptions import SuspiciousFileOperation
from django.utils import timezone
from pytest_django import Settings

from imagehost.storing import storage
from imagehost.storing.storage import Bucket, FolderStorage, ObjectMissing, StorageFailed
from imagehost.storing.storage.contract import checked
from tests.imagehost.s3 import fresh_s3_storage
from tests.support.threads import together

KEY = "files/0123456789abcdef0123456789abcdef/Ab3dE6gH.png"
CONTENT = bytes(range(256)) * 4096  # 1 MiB: more than one piece


@pytest.fixture(autouse=True)
def incoming(settings: Settings, tmp_path: Path) -> Path:
    settings.IMAGEHOST_INCOMING = tmp_path / "incoming"
    return storage.incoming_directory()


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.live)])
def bucket(request: pytest.FixtureRequest, tmp_path: Path) -> Bucket:
    return FolderStorage(location=tmp_path / "files") if request.param == "folder" else fresh_s3_storage()


def _keep(bucket: Bucket, key: str = KEY, content: bytes = CONTENT) -> None:
    path = storage.incoming_directory() / "upload"
    path.write_bytes(content)
    bucket.keep(key, path, mime="image/png", download_name="shot.png")
    path.unlink(missing_ok=True)


def _read(bucket: Bucket, key: str = KEY, length: int = len(CONTENT)) -> bytes:
    return b"".join(bucket.read(key, 0, length))


def _keys(bucket: Bucket, prefix: str = "") -> list[str]:
    return sorted(entry.key for entry in bucket.entries(prefix))


def test_many_at_once_are_all_kept(bucket: Bucket, incoming: Path) -> None:
    def keep(number: int) -> None:
        path = incoming / f"upload-{number}"
        path.write_bytes(CONTENT + bytes([number]))
        bucket.keep(f"files/owner/{number:02}.png", path, mime="image/png", download_name="a.png")

    together(4, keep)
    assert _keys(bucket, "files/owner/") == [f"files/owner/{number:02}.png" for number in range(4)]
    for number in range(4):
        assert _read(bucket, f"files/owner/{number:02}.png", len(CONTENT) + 1) == CONTENT + bytes([number])


def test_a_large_file_passes_in_little_memory(bucket: Bucket, incoming: Path) -> None:
    """Linux tells the most memory that a process has had, and forgets it on request (proc(5), clear_refs)."""

    def megabytes(name: str) -> float:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))

    path = incoming / "large"
    path.touch()
    os.truncate(path, 48 * 1024 * 1024)
    bucket.keep_bytes("files/first", b"x", mime="image/png")  # connections and modules are there
    Path("/proc/self/clear_refs").write_text("5")
    before = megabytes("VmRSS")
    bucket.keep(KEY, path, mime="image/png", download_name="a.png")
    for _ in bucket.read(KEY, 0, 48 * 1024 * 1024):
        pass
    with bucket.fetched(KEY):
        pass
    assert megabytes("VmHWM") - before < 16


def test_a_kept_file_is_read_in_pieces_whole_and_in_part(bucket: Bucket) -> None:
    _keep(bucket)
    pieces = list(bucket.read(KEY, 0, len(CONTENT)))
    assert [len(piece) for piece in pieces] == [256 * 1024] * 4
    assert b"".join(pieces) == CONTENT
    for start, length in [(0, 0), (1, 2), (300_000, 400_000), (len(CONTENT) - 1, 1), (5, 0)]:
        assert b"".join(bucket.read(KEY, start, length)) == CONTENT[start : start + length]


def test_what_cannot_be_read_fails_before_the_first_piece(bucket: Bucket) -> None:
    _keep(bucket)
    for start, length in [(0, len(CONTENT) + 1), (len(CONTENT), 1), (len(CONTENT) * 2, 5)]:
        with pytest.raises(StorageFailed):
            bucket.read(KEY, start, length)
    for length in (0, 1):
        with pytest.raises(ObjectMissing):
            bucket.read("files/nobody/nothing.png", 0, length)


def test_reading_can_be_given_up(bucket: Bucket) -> None:
    _keep(bucket)
    bucket.read(KEY, 0, len(CONTENT)).close()  # type: ignore[attr-defined]  # what Django calls when a client has gone
    pieces = bucket.read(KEY, 0, len(CONTENT))
    assert next(pieces) == CONTENT[: 256 * 1024]
    pieces.close()  # type: ignore[attr-defined]  # as above
    assert list(pieces) == []


def test_the_same_key_again_replaces_the_content(bucket: Bucket) -> None:
    _keep(bucket)
    _keep(bucket, content=b"second")
    assert _read(bucket, length=6) == b"second"
    bucket.keep_bytes(KEY, b"", mime="image/webp")
    assert _read(bucket, length=0) == b""
    assert _keys(bucket) == [KEY]


def test_a_fetched_object_is_a_local_file_and_nothing_is_left_of_it(bucket: Bucket, incoming: Path) -> None:
    _keep(bucket)
    with pytest.raises(RuntimeError), bucket.fetched(KEY) as path:
        assert path.read_bytes() == CONTENT
        raise RuntimeError("the caller's own")
    with pytest.raises(ObjectMissing), bucket.fetched("files/nobody/nothing.png"):
        pass
    assert list(incoming.iterdir()) == []
    assert _read(bucket) == CONTENT


def test_a_removed_object_is_gone_and_removing_it_again_is_no_error(bucket: Bucket) -> None:
    _keep(bucket)
    other = KEY.replace("Ab3", "Cd4")
    _keep(bucket, other)
    bucket.remove(KEY)
    bucket.remove(KEY)
    assert _keys(bucket) == [other]
    with pytest.raises(ObjectMissing):
        bucket.read(KEY, 0, 1)


def test_a_moved_object_has_its_new_key_alone(bucket: Bucket) -> None:
    _keep(bucket)
    bucket.keep_bytes("quarantine/other.png", b"x", mime="image/png")
    bucket.move(KEY, "quarantine/1.png")
    assert _read(bucket, "quarantine/1.png") == CONTENT
    assert _keys(bucket) == ["quarantine/1.png", "quarantine/other.png"]
    with pytest.raises(ObjectMissing):
        bucket.move(KEY, "quarantine/1.png")
    assert _read(bucket, "quarantine/1.png") == CONTENT


def test_entries_tell_key_size_and_time(bucket: Bucket) -> None:
    before = timezone.now()
    assert _keys(bucket) == []
    _keep(bucket)
    (entry,) = bucket.entries("files/")
    assert (entry.key, entry.size) == (KEY, len(CONTENT))
    assert before - timedelta(seconds=2) < entry.changed_at < timezone.now() + timedelta(seconds=2)


def test_entries_are_those_of_a_prefix(bucket: Bucket) -> None:
    kept = ["files/1/a.png", "files/1/b.png", "files/10/c.png", "previews/1/a.webp"]
    for key in kept:
        bucket.keep_bytes(key, b"x", mime="image/png")
    found = {"": 4, "files/": 3, "files/1": 3, "files/1/": 2, "files/1/a": 1, "files/1/a.png/": 0}
    assert {prefix: _keys(bucket, prefix) for prefix in found} == {
        prefix: kept[:count] for prefix, count in found.items()
    }


NO_KEYS = [
    *("", "/etc/passwd", "..", "../files/a.png", "files/../../a.png", "files/./a.png", "files//a.png", "files/"),
    *("files/.hidden", ".parts/a", "files\\..\\a.png", "files/a\x00.png", "files/a\n.png"),
]


@pytest.mark.parametrize("key", NO_KEYS)
def test_a_key_that_is_no_plain_path_is_refused(key: str) -> None:
    with pytest.raises(SuspiciousFileOperation):
        checked(key)


def test_every_method_checks_its_key(bucket: Bucket, tmp_path: Path) -> None:
    key = "files/../../a.png"
    path = tmp_path / "upload"
    path.write_bytes(b"x")
    acts: tuple[Callable[[], object], ...] = (
        lambda: bucket.keep(key, path, mime="image/png", download_name="a.png"),
        lambda: bucket.keep_bytes(key, b"x", mime="image/png"),
        lambda: bucket.read(key, 0, 1),
        lambda: bucket.fetched(key).__enter__(),
        lambda: bucket.remove(key),
        lambda: bucket.move(key, KEY),
        lambda: bucket.move(KEY, key),
    )
    for act in acts:
        with pytest.raises(SuspiciousFileOperation):
            act()
    with pytest.raises(StorageFailed):
        bucket.keep(KEY, tmp_path / "missing", mime="image/png", download_name="a.png")
    assert path.read_bytes() == b"x"
