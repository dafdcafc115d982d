"""What S3 gets with each object, and the links to it; S3 that refuses, dies or falls silent is StorageFailed."""

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
import time_machine
from pytest_django import Settings

from imagehost.storing import storage
from imagehost.storing.storage import S3Storage, StorageFailed
from tests.imagehost.s3 import answering, fresh_s3_storage, options, own_s3_storage, relaying, server, silence
from tests.support.object_store import ObjectStore

pytestmark = pytest.mark.live

KEY = "files/0123456789abcdef0123456789abcdef/Ab3dE6gH.png"
NAME = 'Möwe "1"\r\n.png'
CONTENT = bytes(range(256)) * 16_384  # 4 MiB: more than the buffers on the way
DISPOSITION = "inline; filename=\"Mowe _1_.png\"; filename*=UTF-8''M%C3%B6we%20_1_.png"


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


def _heads(bucket: S3Storage, key: str = KEY) -> dict[str, object]:
    """What the store tells a reader."""
    names = ("ContentType", "CacheControl", "ContentDisposition", "ContentLength")
    answer = bucket.client.head_object(Bucket=bucket.bucket_name, Key=key)
    return {name: answer.get(name) for name in names}


def test_a_kept_file_carries_the_headers_of_its_delivery(upload: Path) -> None:
    bucket = fresh_s3_storage()
    bucket.cache_seconds = 600
    bucket.keep(KEY, upload, mime="image/png", download_name=NAME)
    assert _heads(bucket) == {
        "ContentType": "image/png",
        "CacheControl": "public, max-age=600, immutable",
        "ContentDisposition": DISPOSITION,
        "ContentLength": len(CONTENT),
    }
    assert upload.read_bytes() == CONTENT


def test_no_cache_may_keep_a_preview() -> None:
    bucket = fresh_s3_storage()
    bucket.keep_bytes("previews/1/a.webp", b"picture", mime="image/webp")
    heads = _heads(bucket, "previews/1/a.webp")
    assert list(heads.values()) == ["image/webp", "private, no-store", None, 7]


def test_an_object_is_one_put_without_chunks(upload: Path) -> None:
    """A store that knows no checksum trailers takes it, and no part of a multipart upload can be left."""
    bucket = fresh_s3_storage()
    sent: list[tuple[str, set[str]]] = []

    def look(request: Any, **_: Any) -> None:  # botocore's own, untyped
        names = {name.lower() for name in request.headers}
        sent.append((request.method, names & {"content-length", "transfer-encoding", "x-amz-trailer"}))

    bucket.client.meta.events.register("before-send.s3", look)
    try:
        _keep(bucket, upload)
    finally:
        bucket.client.meta.events.unregister("before-send.s3", look)
    assert sent == [("PUT", {"content-length"})]


def test_a_forked_process_has_connections_of_its_own() -> None:
    """The embedded default stores its demo data, then forks its programs."""
    connections: list[int] = []

    def watch(count: int) -> bool:
        connections.append(threading.get_ident())  # a thread for each connection
        return True

    with (
        relaying(_port(server()), upward=watch) as port,
        own_s3_storage(_at(port), bucket_name=fresh_s3_storage().bucket_name) as bucket,
    ):
        bucket.keep_bytes("files/1/parent.png", b"x", mime="image/png")
        child = os.fork()
        if child == 0:
            try:
                bucket.keep_bytes("files/1/child.png", b"x", mime="image/png")
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert {entry.key for entry in bucket.entries("files/")} == {"files/1/parent.png", "files/1/child.png"}
    assert len(set(connections)) == 2


def test_entries_go_on_after_the_first_page() -> None:
    bucket = fresh_s3_storage()
    keys = [f"files/1/{number:04}.png" for number in range(5)]
    for key in keys:
        bucket.keep_bytes(key, b"x", mime="image/png")

    def limit(params: dict[str, Any], **_: Any) -> None:
        params["query_string"]["max-keys"] = "2"  # 5 objects in place of 1,001

    bucket.client.meta.events.register("before-call.s3.ListObjectsV2", limit)
    try:
        assert [entry.key for entry in bucket.entries("files/")] == keys
    finally:
        bucket.client.meta.events.unregister("before-call.s3.ListObjectsV2", limit)


def test_two_storages_share_a_bucket_by_location(upload: Path) -> None:
    outer = fresh_s3_storage()
    with own_s3_storage(server(), bucket_name=outer.bucket_name, location="inner") as inner:
        _keep(inner, upload)
        assert [entry.key for entry in inner.entries("files/")] == [KEY]
        assert b"".join(inner.read(KEY, 0, 7)) == CONTENT[:7]
        assert [entry.key for entry in outer.entries("")] == [f"inner/{KEY}"]
        inner.remove(KEY)
    assert list(outer.entries("")) == []


def test_a_signed_link_delivers_the_object_for_an_hour(upload: Path) -> None:
    bucket = fresh_s3_storage()
    _keep(bucket, upload)
    answer = requests.get(str(bucket.link(KEY, mime="image/avif", download_name=NAME)), timeout=10)
    assert (answer.status_code, answer.content) == (200, CONTENT)
    assert answer.headers["Content-Type"] == "image/avif"
    assert answer.headers["Content-Disposition"] == DISPOSITION
    with time_machine.travel(timedelta(seconds=-3590), tick=True):
        late = str(bucket.link(KEY, mime="image/png", download_name="a.png"))
    with time_machine.travel(timedelta(seconds=-3601), tick=True):
        too_late = str(bucket.link(KEY, mime="image/png", download_name="a.png"))
    assert requests.get(late, timeout=10).status_code == 200
    assert requests.get(too_late, timeout=10).status_code == 403
    assert parse_qs(urlsplit(late).query)["X-Amz-Expires"] == ["3600"]


def test_a_public_bucket_has_plain_links() -> None:
    for public_url in ("https://cdn.example.org/i", "https://cdn.example.org/i/"):
        bucket = S3Storage(**options(server(), public_url=public_url))
        link = bucket.link("files/1/ä b.png", mime="image/png", download_name="a.png")
        assert link == "https://cdn.example.org/i/files/1/%C3%A4%20b.png"


def test_options_of_an_operator_stand_beside_ours() -> None:
    bucket = S3Storage(**options(server(), connect_timeout=7, addressing_style="path", checksums="when_supported"))
    config: Any = bucket.client_config  # botocore names its attributes at run time
    assert (config.connect_timeout, config.read_timeout, config.retries, config.signature_version, config.s3) == (
        7,
        20,
        {"mode": "standard", "total_max_attempts": 2},
        "s3v4",
        {"addressing_style": "path"},
    )
    assert (config.request_checksum_calculation, config.response_checksum_validation) == ("when_supported",) * 2


def test_entries_of_a_range_are_asked_for_as_one_and_must_come_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = fresh_s3_storage()
    keys = [f"files/{owner}/{number}.png" for owner in "abc" for number in range(2)]
    for key in keys:
        bucket.keep_bytes(key, b"x", mime="image/png")
    assert [entry.key for entry in bucket.entries("files/", after="files/a0", until="files/b0")] == keys[2:4]
    assert [entry.key for entry in bucket.entries("files/", after="files/b/1.png")] == keys[4:]
    assert [entry.key for entry in bucket.entries("files/", until="files/a/1.png")] == keys[:2]
    contents = bucket.client.list_objects_v2(Bucket=bucket.bucket_name)["Contents"]
    backwards = SimpleNamespace(paginate=lambda **_: [{"Contents": contents[::-1]}])
    monkeypatch.setattr(bucket.client, "get_paginator", lambda _: backwards)
    with pytest.raises(StorageFailed, match=r"does not list files/c/0\.png in the order of its keys"):
        list(bucket.entries("files/", until="files/d0"))


def _assert_all_fail(bucket: S3Storage, path: Path) -> None:
    """No object is missing: reconciliation would take every row for a lost file."""
    acts: tuple[Callable[[], object], ...] = (
        lambda: _keep(bucket, path),
        lambda: bucket.keep_bytes(KEY, b"x", mime="image/webp"),
        lambda: bucket.read(KEY, 0, 0),
        lambda: bucket.read(KEY, 0, 1),
        lambda: bucket.fetched(KEY).__enter__(),
        lambda: bucket.remove(KEY),
        lambda: list(bucket.entries("")),
    )
    for act in acts:
        with pytest.raises(StorageFailed) as failure:
            act()
        assert failure.type is StorageFailed
    assert path.read_bytes() == CONTENT


def test_a_bucket_that_is_not_there_and_a_wrong_secret_are_failures(upload: Path) -> None:
    known = fresh_s3_storage()
    with own_s3_storage(replace(server(), secret_key="wrong"), bucket_name=known.bucket_name) as stranger:
        _assert_all_fail(stranger, upload)
    assert list(known.entries("")) == []
    known.bucket_name = "no-such-bucket"
    _assert_all_fail(known, upload)


def _at(port: int) -> ObjectStore:
    """The same keys, spoken to elsewhere."""
    return replace(server(), endpoint_url=f"http://127.0.0.1:{port}")


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
        relaying(_port(server()), upward=pause) as port,
        own_s3_storage(_at(port), bucket_name=known.bucket_name, connect_timeout=0.1) as bucket,
    ):
        _keep(bucket, content)
    assert counts == sorted(counts)  # of one connection: another one would begin anew
    assert [entry.size for entry in known.entries("")] == [len(CONTENT) * 8]


def _port(store: ObjectStore) -> int:
    return int(store.endpoint_url.rpartition(":")[2])


_BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>"


@pytest.mark.parametrize("said", [None, b"", _BAD_GATEWAY], ids=["silent", "nothing at all", "proxy"])
def test_a_server_that_is_no_store_is_a_failure(upload: Path, said: bytes | None) -> None:
    no_store = silence() if said is None else answering(said)
    with no_store as port, own_s3_storage(_at(port), read_timeout=0.1, total_max_attempts=1) as bucket:
        _assert_all_fail(bucket, upload)


@pytest.mark.parametrize(("is_cut", "why"), [(True, "to come"), (False, "Read timeout")])
def test_an_answer_that_breaks_off_or_stalls_is_a_failure(upload: Path, incoming: Path, is_cut: bool, why: str) -> None:
    known = fresh_s3_storage()
    _keep(known, upload)
    upload.unlink()
    released = threading.Event()

    def watch(count: int) -> bool:
        return count < 1_000_000 or (not is_cut and not released.wait(30))

    with (
        relaying(_port(server()), downward=watch) as port,
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
