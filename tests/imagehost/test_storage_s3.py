"""What S3 gets with each object, and the links to it."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
import time_machine

from imagehost.storing.storage import S3Storage, StorageFailed
from tests.imagehost.s3 import fresh_s3_storage, options, own_s3_storage, server

pytestmark = pytest.mark.live

KEY = "files/0123456789abcdef0123456789abcdef/Ab3dE6gH.png"
NAME = 'Möwe "1"\r\n.png'
DISPOSITION = "inline; filename=\"Mowe _1_.png\"; filename*=UTF-8''M%C3%B6we%20_1_.png"


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    path = tmp_path / "upload"
    path.write_bytes(b"picture")
    return path


def _heads(storage: S3Storage, key: str = KEY) -> dict[str, object]:
    """What the store tells a reader."""
    names = ("ContentType", "CacheControl", "ContentDisposition", "ContentLength")
    answer = storage.client.head_object(Bucket=storage.bucket_name, Key=key)
    return {name: answer.get(name) for name in names}


def test_a_kept_file_carries_the_headers_of_its_delivery(upload: Path) -> None:
    storage = fresh_s3_storage()
    storage.cache_seconds = 600
    storage.keep(KEY, upload, mime="image/png", download_name=NAME)
    assert _heads(storage) == {
        "ContentType": "image/png",
        "CacheControl": "public, max-age=600, immutable",
        "ContentDisposition": DISPOSITION,
        "ContentLength": 7,
    }
    assert upload.read_bytes() == b"picture"


def test_no_cache_may_keep_a_preview() -> None:
    storage = fresh_s3_storage()
    storage.keep_bytes("previews/1/a.webp", b"picture", mime="image/webp")
    heads = _heads(storage, "previews/1/a.webp")
    assert (heads["ContentType"], heads["CacheControl"], heads["ContentDisposition"]) == (
        "image/webp",
        "private, no-store",
        None,
    )


def test_an_object_is_one_put_without_chunks(upload: Path) -> None:
    """A store that knows no checksum trailers takes it, and no part of a multipart upload can be left."""
    storage = fresh_s3_storage()
    sent: list[tuple[str, set[str]]] = []

    def look(request: Any, **_: Any) -> None:  # botocore's own, untyped
        names = {name.lower() for name in request.headers}
        sent.append((request.method, names & {"content-length", "transfer-encoding", "x-amz-trailer"}))

    storage.client.meta.events.register("before-send.s3", look)
    try:
        storage.keep(KEY, upload, mime="image/png", download_name="a.png")
    finally:
        storage.client.meta.events.unregister("before-send.s3", look)
    assert sent == [("PUT", {"content-length"})]


def test_entries_go_on_after_the_first_page() -> None:
    storage = fresh_s3_storage()
    keys = [f"files/1/{number:04}.png" for number in range(5)]
    for key in keys:
        storage.keep_bytes(key, b"x", mime="image/png")

    def limit(params: dict[str, Any], **_: Any) -> None:
        params["query_string"]["max-keys"] = "2"  # 5 objects in place of 1,001

    storage.client.meta.events.register("before-call.s3.ListObjectsV2", limit)
    try:
        assert [entry.key for entry in storage.entries("files/")] == keys
    finally:
        storage.client.meta.events.unregister("before-call.s3.ListObjectsV2", limit)


def test_two_storages_share_a_bucket_by_location(upload: Path) -> None:
    outer = fresh_s3_storage()
    with own_s3_storage(server(), bucket_name=outer.bucket_name, location="inner") as inner:
        inner.keep(KEY, upload, mime="image/png", download_name="a.png")
        assert [entry.key for entry in inner.entries("files/")] == [KEY]
        assert b"".join(inner.read(KEY, 0, 7)) == b"picture"
        assert [entry.key for entry in outer.entries("")] == [f"inner/{KEY}"]
        inner.remove(KEY)
    assert list(outer.entries("")) == []


def test_a_signed_link_delivers_the_object(upload: Path) -> None:
    storage = fresh_s3_storage()
    storage.keep(KEY, upload, mime="image/png", download_name="earlier.png")
    answer = requests.get(str(storage.link(KEY, mime="image/avif", download_name=NAME)), timeout=10)
    assert (answer.status_code, answer.content) == (200, b"picture")
    assert answer.headers["Content-Type"] == "image/avif"
    assert answer.headers["Content-Disposition"] == DISPOSITION


def test_a_signed_link_is_good_for_an_hour(upload: Path) -> None:
    storage = fresh_s3_storage()
    storage.keep(KEY, upload, mime="image/png", download_name="a.png")
    with time_machine.travel(timedelta(seconds=-3590), tick=True):
        late = str(storage.link(KEY, mime="image/png", download_name="a.png"))
    with time_machine.travel(timedelta(seconds=-3601), tick=True):
        too_late = str(storage.link(KEY, mime="image/png", download_name="a.png"))
    assert requests.get(late, timeout=10).status_code == 200
    assert requests.get(too_late, timeout=10).status_code == 403
    assert parse_qs(urlsplit(late).query)["X-Amz-Expires"] == ["3600"]


def test_a_public_bucket_has_plain_links() -> None:
    for public_url in ("https://cdn.example.org/i", "https://cdn.example.org/i/"):
        storage = S3Storage(**options(server(), public_url=public_url))
        link = storage.link("files/1/ä b.png", mime="image/png", download_name="a.png")
        assert link == "https://cdn.example.org/i/files/1/%C3%A4%20b.png"


def test_options_of_an_operator_stand_beside_ours() -> None:
    storage = S3Storage(**options(server(), connect_timeout=7, addressing_style="path", checksums="when_supported"))
    config: Any = storage.client_config  # botocore names its attributes at run time
    assert (config.connect_timeout, config.read_timeout, config.retries, config.signature_version, config.s3) == (
        7,
        20,
        {"mode": "standard", "total_max_attempts": 2},
        "s3v4",
        {"addressing_style": "path"},
    )
    assert (config.request_checksum_calculation, config.response_checksum_validation) == ("when_supported",) * 2


def test_a_bucket_that_is_not_there_is_no_missing_object() -> None:
    """Reconciliation would otherwise take every row for a lost file."""
    storage = fresh_s3_storage()
    storage.bucket_name = "no-such-bucket"
    for act in (
        lambda: storage.read(KEY, 0, 0),
        lambda: storage.read(KEY, 0, 1),
        lambda: list(storage.entries("")),
        lambda: storage.remove(KEY),
    ):
        with pytest.raises(StorageFailed) as failure:
            act()
        assert type(failure.value) is StorageFailed


def test_entries_of_a_range_are_asked_for_as_one_and_must_come_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = fresh_s3_storage()
    keys = [f"files/{owner}/{number}.png" for owner in "abc" for number in range(2)]
    for key in keys:
        storage.keep_bytes(key, b"x", mime="image/png")
    assert [entry.key for entry in storage.entries("files/", after="files/a0", until="files/b0")] == keys[2:4]
    assert [entry.key for entry in storage.entries("files/", after="files/b/1.png")] == keys[4:]
    assert [entry.key for entry in storage.entries("files/", until="files/a/1.png")] == keys[:2]
    listed = list(storage.entries("files/"))
    monkeypatch.setattr(storage, "_listed", lambda prefix, after: iter(listed[::-1]))
    with pytest.raises(StorageFailed, match=r"does not list files/c/0\.png in the order of its keys"):
        list(storage.entries("files/", until="files/d0"))
