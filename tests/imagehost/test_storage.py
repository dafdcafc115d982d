"""What a store of files promises: the folder and S3 pass the same tests."""

import os
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.exceptions import SuspiciousFileOperation
from django.utils import timezone
from pytest_django import Settings

from imagehost import storage
from imagehost.storage import Bucket, FolderStorage, ObjectMissing, StorageFailed
from tests.support.threads import together
from tests.imagehost.s3 import fresh_s3_storage

pytestmark = pytest.mark.once

KEY = "files/0123456789abcdef0123456789abcdef/Ab3dE6gH.png"
CONTENT = bytes(range(256)) * 4096  # 1 MiB: more than one piece


@pytest.fixture(autouse=True)
def incoming(settings: Settings, tmp_path: Path) -> Path:
    settings.IMAGEHOST_INCOMING = tmp_path / "incoming"
    return storage.incoming_directory()


@pytest.fixture(params=["folder", "s3"])
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


def test_a_kept_file_is_read_back(bucket: Bucket) -> None:
    _keep(bucket)
    assert _read(bucket) == CONTENT


def test_content_comes_in_pieces_of_at_most_256_kib(bucket: Bucket) -> None:
    _keep(bucket)
    assert [len(piece) for piece in bucket.read(KEY, 0, len(CONTENT))] == [256 * 1024] * 4


@pytest.mark.parametrize(
    ("start", "length"),
    [(0, 1), (0, 0), (1, 2), (300_000, 400_000), (len(CONTENT) - 1, 1), (0, len(CONTENT)), (5, 0)],
)
def test_a_range_is_read_exactly(bucket: Bucket, start: int, length: int) -> None:
    _keep(bucket)
    assert b"".join(bucket.read(KEY, start, length)) == CONTENT[start : start + length]


@pytest.mark.parametrize(("start", "length"), [(0, len(CONTENT) + 1), (len(CONTENT), 1), (len(CONTENT) * 2, 5)])
def test_a_range_beyond_the_end_fails_before_the_first_piece(bucket: Bucket, start: int, length: int) -> None:
    _keep(bucket)
    with pytest.raises(StorageFailed):
        bucket.read(KEY, start, length)


@pytest.mark.parametrize("length", [0, 1])
def test_a_missing_object_is_told_before_the_first_piece(bucket: Bucket, length: int) -> None:
    with pytest.raises(ObjectMissing):
        bucket.read(KEY, 0, length)


def test_reading_can_be_given_up(bucket: Bucket) -> None:
    _keep(bucket)
    pieces = bucket.read(KEY, 0, len(CONTENT))
    assert next(pieces) == CONTENT[: 256 * 1024]
    pieces.close()  # type: ignore[attr-defined]  # what Django calls when a client has gone
    assert list(pieces) == []


def test_reading_can_be_given_up_before_it_starts(bucket: Bucket) -> None:
    _keep(bucket)
    bucket.read(KEY, 0, len(CONTENT)).close()  # type: ignore[attr-defined]  # as above


def test_the_same_key_again_replaces_the_content(bucket: Bucket) -> None:
    _keep(bucket)
    _keep(bucket, content=b"second")
    assert _read(bucket, length=6) == b"second"
    assert _keys(bucket) == [KEY]


def test_small_content_is_kept_without_a_file(bucket: Bucket) -> None:
    bucket.keep_bytes("previews/1/a.webp", b"preview", mime="image/webp")
    assert _read(bucket, "previews/1/a.webp", 7) == b"preview"


def test_an_empty_object_is_kept(bucket: Bucket) -> None:
    bucket.keep_bytes("previews/1/a.webp", b"", mime="image/webp")
    assert _read(bucket, "previews/1/a.webp", 0) == b""


def test_a_fetched_object_is_a_local_file(bucket: Bucket) -> None:
    _keep(bucket)
    with bucket.fetched(KEY) as path:
        assert path.read_bytes() == CONTENT
    assert _read(bucket) == CONTENT


def test_nothing_is_left_of_a_fetched_object(bucket: Bucket, incoming: Path) -> None:
    _keep(bucket)
    with pytest.raises(RuntimeError), bucket.fetched(KEY):
        raise RuntimeError("the caller's own")
    assert list(incoming.iterdir()) == []


def test_a_missing_object_cannot_be_fetched(bucket: Bucket, incoming: Path) -> None:
    with pytest.raises(ObjectMissing), bucket.fetched(KEY):
        pass
    assert list(incoming.iterdir()) == []


def test_a_removed_object_is_gone(bucket: Bucket) -> None:
    _keep(bucket)
    _keep(bucket, KEY.replace("Ab3", "Cd4"))
    bucket.remove(KEY)
    assert _keys(bucket) == [KEY.replace("Ab3", "Cd4")]
    with pytest.raises(ObjectMissing):
        bucket.read(KEY, 0, 1)


def test_removing_again_is_no_error(bucket: Bucket) -> None:
    _keep(bucket)
    bucket.remove(KEY)
    bucket.remove(KEY)
    bucket.remove("files/nobody/nothing.png")


def test_entries_tell_key_size_and_time(bucket: Bucket) -> None:
    before = timezone.now()
    _keep(bucket)
    (entry,) = bucket.entries("files/")
    assert (entry.key, entry.size) == (KEY, len(CONTENT))
    assert before - timedelta(seconds=2) < entry.changed_at < timezone.now() + timedelta(seconds=2)


def test_an_empty_store_has_no_entries(bucket: Bucket) -> None:
    assert _keys(bucket) == []
    assert _keys(bucket, "files/") == []


@pytest.mark.parametrize(
    ("prefix", "keys"),
    [
        ("", ["files/1/a.png", "files/1/b.png", "files/10/c.png", "previews/1/a.webp"]),
        ("files/", ["files/1/a.png", "files/1/b.png", "files/10/c.png"]),
        ("files/1", ["files/1/a.png", "files/1/b.png", "files/10/c.png"]),
        ("files/1/", ["files/1/a.png", "files/1/b.png"]),
        ("files/1/a", ["files/1/a.png"]),
        ("files/1/a.png/", []),
        ("files/2/", []),
    ],
)
def test_entries_are_those_of_a_prefix(bucket: Bucket, prefix: str, keys: list[str]) -> None:
    for key in ("files/1/a.png", "files/1/b.png", "files/10/c.png", "previews/1/a.webp"):
        bucket.keep_bytes(key, b"x", mime="image/png")
    assert _keys(bucket, prefix) == keys


@pytest.mark.parametrize(
    "key",
    [
        "",
        "/etc/passwd",
        "..",
        "../files/a.png",
        "files/../../a.png",
        "files/./a.png",
        "files//a.png",
        "files/",
        "files/.hidden",
        ".parts/a",
        "files\\..\\a.png",
        "files/a\x00.png",
        "files/a\n.png",
    ],
)
def test_a_key_that_is_no_plain_path_is_refused(bucket: Bucket, key: str, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(b"x")
    with pytest.raises(SuspiciousFileOperation):
        bucket.keep(key, path, mime="image/png", download_name="a.png")
    with pytest.raises(SuspiciousFileOperation):
        bucket.keep_bytes(key, b"x", mime="image/png")
    with pytest.raises(SuspiciousFileOperation):
        bucket.read(key, 0, 1)
    with pytest.raises(SuspiciousFileOperation), bucket.fetched(key):
        pass
    with pytest.raises(SuspiciousFileOperation):
        bucket.remove(key)
    assert path.read_bytes() == b"x"


def test_a_file_that_is_not_there_cannot_be_kept(bucket: Bucket, tmp_path: Path) -> None:
    with pytest.raises(StorageFailed):
        bucket.keep(KEY, tmp_path / "missing", mime="image/png", download_name="a.png")
    assert _keys(bucket) == []


def test_many_at_once_are_all_kept(bucket: Bucket, incoming: Path) -> None:
    def keep(number: int) -> None:
        path = incoming / f"upload-{number}"
        path.write_bytes(CONTENT + bytes([number]))
        bucket.keep(f"files/owner/{number:02}.png", path, mime="image/png", download_name="a.png")

    together(8, keep)
    assert _keys(bucket, "files/owner/") == [f"files/owner/{number:02}.png" for number in range(8)]
    for number in range(8):
        assert _read(bucket, f"files/owner/{number:02}.png", len(CONTENT) + 1) == CONTENT + bytes([number])


def test_a_large_file_passes_in_little_memory(bucket: Bucket, incoming: Path) -> None:
    """Linux tells the most memory that a process has had, and forgets it on request (proc(5), clear_refs)."""

    def megabytes(name: str) -> float:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))

    path = incoming / "large"
    path.touch()
    os.truncate(path, 64 * 1024 * 1024)
    bucket.keep_bytes("files/first", b"x", mime="image/png")  # connections and modules are there
    Path("/proc/self/clear_refs").write_text("5")
    before = megabytes("VmRSS")
    bucket.keep(KEY, path, mime="image/png", download_name="a.png")
    for _ in bucket.read(KEY, 0, 64 * 1024 * 1024):
        pass
    with bucket.fetched(KEY):
        pass
    assert megabytes("VmHWM") - before < 16


def test_the_bucket_is_the_one_of_the_settings(settings: Settings, tmp_path: Path) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "imagehost": {"BACKEND": "imagehost.storage.FolderStorage", "OPTIONS": {"location": tmp_path / "here"}},
    }
    storage.bucket().keep_bytes(KEY, b"x", mime="image/png")
    assert (tmp_path / "here" / KEY).read_bytes() == b"x"


def test_the_module_has_no_other_lazy_names() -> None:
    with pytest.raises(AttributeError, match=re.escape("module 'imagehost.storage' has no attribute 'Glacier'")):
        storage.Glacier  # noqa: B018
