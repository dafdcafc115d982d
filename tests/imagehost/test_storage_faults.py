"""S3 that refuses, dies or falls silent: always StorageFailed, and all is well again afterwards."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_django import Settings

from imagehost.storing import storage
from imagehost.storing.storage import S3Storage, StorageFailed
from tests.imagehost import faulty_connections
from tests.imagehost.s3 import fresh_s3_storage, own_s3_storage, server
from tests.support.object_store import ObjectStore

pytestmark = pytest.mark.live

KEY = "files/owner/Ab3dE6gH.png"
CONTENT = bytes(range(256)) * 16_384  # 4 MiB: more than the buffers on the way


@pytest.fixture(autouse=True)
def incoming(settings: Settings, tmp_path: Path) -> Path:
    settings.IMAGEHOST_INCOMING = tmp_path / "incoming"
    return storage.incoming_directory()


@pytest.fixture
def upload(incoming: Path) -> Path:
    path = incoming / "upload"
    path.write_bytes(CONTENT)
    return path


def _keep(bucket: S3Storage, path: Path, key: str = KEY) -> None:
    bucket.keep(key, path, mime="image/png", download_name="a.png")


def _read(bucket: S3Storage, key: str = KEY) -> bytes:
    return b"".join(bucket.read(key, 0, len(CONTENT)))


def _everything(bucket: S3Storage, path: Path) -> dict[str, Callable[[], object]]:
    return {
        "keep": lambda: _keep(bucket, path),
        "keep_bytes": lambda: bucket.keep_bytes(KEY, b"x", mime="image/webp"),
        "read": lambda: bucket.read(KEY, 0, 1),
        "fetched": lambda: bucket.fetched(KEY).__enter__(),
        "remove": lambda: bucket.remove(KEY),
        "entries": lambda: list(bucket.entries("")),
    }


def _at(port: int, store: ObjectStore | None = None) -> ObjectStore:
    """The same keys, spoken to elsewhere."""
    known = store or server()
    return ObjectStore(f"http://127.0.0.1:{port}", known.access_key, known.secret_key)


def test_a_wrong_secret_is_refused(upload: Path) -> None:
    known = fresh_s3_storage()
    stranger_to = replace(server(), secret_key="wrong")
    with own_s3_storage(stranger_to, bucket_name=known.bucket_name) as stranger:
        outcomes = {name: _raised_by(act) for name, act in _everything(stranger, upload).items()}
    assert outcomes == dict.fromkeys(outcomes, StorageFailed)
    assert list(known.entries("")) == []


def test_a_store_may_pause_while_it_is_sent_a_file(incoming: Path) -> None:
    """Longer than connecting may take, as a busy disk does. More content than the buffers on the way hold."""
    content = incoming / "large"
    content.write_bytes(CONTENT * 8)
    counts: list[int] = []

    def pause(count: int) -> bool:
        counts.append(count)
        if 1_000_000 < count < 1_000_000 + 65_536:
            threading.Event().wait(0.5)
        return True

    known = fresh_s3_storage()
    with (
        faulty_connections.relaying(_port(server()), upward=pause) as port,
        own_s3_storage(_at(port), bucket_name=known.bucket_name, connect_timeout=0.1) as bucket,
    ):
        _keep(bucket, content)
    assert counts == sorted(counts)  # of one connection: another one would begin anew
    assert [entry.size for entry in known.entries("")] == [len(CONTENT) * 8]


def _port(store: ObjectStore) -> int:
    return int(store.endpoint_url.rpartition(":")[2])


@contextlib.contextmanager
def _no_store(kind: str) -> Iterator[int]:
    """The port of a server that is no store."""
    bad_gateway = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>"
    with (
        faulty_connections.silence()
        if kind == "silent"
        else faulty_connections.answering(bad_gateway if kind == "proxy" else b"") as port
    ):
        yield port


@pytest.mark.parametrize("kind", ["silent", "nothing at all", "proxy"])
def test_a_server_that_is_no_store_is_a_failure(upload: Path, kind: str) -> None:
    with _no_store(kind) as port, own_s3_storage(_at(port), read_timeout=0.1, total_max_attempts=1) as bucket:
        outcomes = {name: _raised_by(act) for name, act in _everything(bucket, upload).items()}
    assert outcomes == dict.fromkeys(outcomes, StorageFailed)
    assert upload.read_bytes() == CONTENT


@pytest.mark.parametrize(("is_cut", "why"), [(True, "to come"), (False, "Read timeout")])
def test_an_answer_that_breaks_off_or_stalls_is_a_failure(upload: Path, incoming: Path, is_cut: bool, why: str) -> None:
    known = fresh_s3_storage()
    _keep(known, upload)
    upload.unlink()
    released = threading.Event()

    def watch(count: int) -> bool:
        return count < 1_000_000 or (not is_cut and not released.wait(30))

    with (
        faulty_connections.relaying(_port(server()), downward=watch) as port,
        own_s3_storage(_at(port), bucket_name=known.bucket_name, read_timeout=0.3) as bucket,
    ):
        try:
            pieces = bucket.read(KEY, 0, len(CONTENT))
            assert next(pieces) == CONTENT[: 256 * 1024]
            with pytest.raises(StorageFailed, match=rf"Broke off with .*{why}"):
                list(pieces)
            assert list(pieces) == []
            with pytest.raises(StorageFailed, match=why), bucket.fetched(KEY):
                pass
        finally:
            released.set()
    assert list(incoming.iterdir()) == []


def _raised_by(act: Callable[[], object]) -> type[Exception] | None:
    try:
        act()
    except StorageFailed as failure:
        return type(failure)
    return None
