"""GET /uploads/<path>: the bytes, the headers that keep them harmless, ranges, and the demo's files."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.test import Client, override_settings
from django.utils import timezone
from PIL import Image
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from dashboard.profile import media
from imagehost.storing import previews
from lookup.editing import uploads
from lookup.editing.uploads import Kind
from lookup.models import Asset
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AssetFactory
from tests.imagehost import media_corpus

pytestmark = pytest.mark.django_db

CONTENT = media_corpus.sample("png-rgb").content


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The store of this module, in the place of one for each test."""
    directory = tmp_path_factory.mktemp("store")
    options = {"BACKEND": "imagehost.storing.storage.FolderStorage", "OPTIONS": {"location": directory}}
    with override_settings(STORAGES={**settings.STORAGES, "uploads": options}, IMAGEHOST_INCOMING=directory):
        yield directory


@pytest.fixture(autouse=True)
def store_directory(store: Path) -> Path:
    return store / "uploads"


@pytest.fixture(scope="module")
def asset(store: Path, module_db: None) -> Asset:
    user = UserFactory.create()
    return media.store(user=user, kind=Kind.IMAGE, upload=ContentFile(CONTENT, "me.png"), by=user)


def body(response: Any) -> bytes:
    """`response`: of the test client, which Django gives no public type."""
    return b"".join(response.streaming_content)


def test_a_file_is_public_cached_for_ever_and_runs_no_script(
    client: Client, asset: Asset, store_directory: Path
) -> None:
    response = client.get(f"/uploads/{asset.path}")
    assert body(response) == (store_directory / asset.path).read_bytes()
    del response.headers["X-Request-Id"]
    assert dict(response.headers) == {
        "Content-Type": "image/png",
        "Content-Disposition": "inline",
        "Content-Length": str(asset.size),
        "ETag": f'"{asset.pk}"',
        "Last-Modified": response.headers["Last-Modified"],
        "Accept-Ranges": "bytes",
        "Cache-Control": "public, max-age=31536000, immutable",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Access-Control-Allow-Origin": "*",
        "Vary": "Sec-Fetch-Dest",
        "Referrer-Policy": "no-referrer",
    }
    assert not response.cookies


@pytest.mark.embedded
def test_a_file_takes_one_query_and_no_session(client: Client, asset: Asset, django_assert_num_queries: Any) -> None:
    client.cookies["sessionid"] = "x" * 32
    with django_assert_num_queries(1):
        body(client.get(f"/uploads/{asset.path}"))


def test_one_part_of_a_file_can_be_asked_for(client: Client, asset: Asset, store_directory: Path) -> None:
    path, whole = f"/uploads/{asset.path}", (store_directory / asset.path).read_bytes()
    response = client.get(path, headers={"Range": "bytes=0-9"})
    assert (response.status_code, body(response), response.headers["Content-Length"]) == (206, whole[:10], "10")
    assert response.headers["Content-Range"] == f"bytes 0-9/{asset.size}"
    response = client.get(path, headers={"Range": "bytes=999999-"})
    assert (response.status_code, response.headers["Content-Range"]) == (416, f"bytes */{asset.size}")


def test_a_part_is_sent_only_of_the_version_that_the_browser_has(client: Client, asset: Asset) -> None:
    """RFC 9110 §13.1.5."""
    path, changed_at = f"/uploads/{asset.path}", client.head(f"/uploads/{asset.path}").headers["Last-Modified"]
    for condition, status in (
        (f'"{asset.pk}"', 206),
        (changed_at, 206),
        ('"other"', 200),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 200),
        ("nonsense", 200),
    ):
        response = client.get(path, headers={"Range": "bytes=0-9", "If-Range": condition})
        assert (response.status_code, len(body(response))) == (status, 10 if status == 206 else asset.size), condition


def test_a_browser_that_has_the_file_gets_304(client: Client, asset: Asset) -> None:
    response = client.get(f"/uploads/{asset.path}", headers={"If-None-Match": f'"{asset.pk}"'})
    assert (response.status_code, response.content) == (304, b"")
    assert "Content-Length" not in response.headers
    other = client.get(f"/uploads/{asset.path}", headers={"If-Match": '"other"'})
    assert other.status_code == 412


def test_only_get_and_head_are_allowed(client: Client, asset: Asset) -> None:
    response = client.head(f"/uploads/{asset.path}")
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["Content-Length"] == str(asset.size)
    response = client.post(f"/uploads/{asset.path}")
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("path", ["", "a/b.png", "../settings.py", "%2e%2e/x", "a//b", "demo/", "x" * 500])
def test_other_paths_are_not_found(path: str, client: Client) -> None:
    response = client.get(f"/uploads/{path}")
    assert response.status_code == 404
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_a_file_in_another_store_is_not_found_and_files_of_the_demo_come_with_the_service(client: Client) -> None:
    AssetFactory.create(path="elsewhere/1.png")
    assert client.get("/uploads/elsewhere/1.png").status_code == 404
    AssetFactory.create(path="demo/avatar-9.svg")
    response = client.get("/uploads/demo/avatar-9.svg")
    assert (response.status_code, response.headers["Location"]) == (302, "/static/uploads/demo/avatar-9.svg")


@pytest.mark.parametrize("name", ["webp-alpha", "avif-alpha"])
def test_a_picture_is_a_png_for_messengers_made_once_and_removed_with_it(
    name: str, client: Client, store_directory: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    user = UserFactory.create()
    upload = ContentFile(media_corpus.sample(name).content, "me")
    asset = media.store(user=user, kind=Kind.IMAGE, upload=upload, by=user)
    response = client.get(f"/uploads/{asset.path}/card.png")
    with Image.open(io.BytesIO(response.content)) as image:
        assert (image.format, image.mode, image.size) == ("PNG", "RGBA", (asset.width, asset.height))
    assert (response.headers["Content-Type"], response.headers["X-Content-Type-Options"]) == ("image/png", "nosniff")
    kept = store_directory / f"{asset.path}.card.png"
    kept.write_bytes(b"kept")
    assert client.get(f"/uploads/{asset.path}/card.png").content == b"kept"
    unchanged = client.get(f"/uploads/{asset.path}/card.png", headers={"If-None-Match": response.headers["ETag"]})
    assert unchanged.status_code == 304
    uploads.sweep(now=timezone.now() + timedelta(days=1, minutes=1))
    assert kept.exists()  # its picture is there: it is no leftover
    with django_capture_on_commit_callbacks(execute=True):
        uploads.release(asset.pk)
    assert not kept.exists()
    assert client.get(f"/uploads/{asset.path}/card.png").status_code == 404


def test_a_png_for_messengers_waits_for_a_place_and_is_made_by_one_request(
    client: Client, store_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = UserFactory.create()
    upload = ContentFile(media_corpus.sample("webp-alpha").content, "me")
    asset = media.store(user=user, kind=Kind.IMAGE, upload=upload, by=user)
    monkeypatch.setattr(previews, "PAGE_SECONDS", 0.01)
    path, kept = f"/uploads/{asset.path}/card.png", store_directory / f"{asset.path}.card.png"
    with contextlib.ExitStack() as places:
        for _ in range(previews.AT_ONCE):
            assert previews._card_places.acquire(timeout=30)
            places.callback(previews._card_places.release)
        refused = client.get(path)
        assert (refused.status_code, refused.headers["Retry-After"], kept.exists()) == (503, "5", False)
    acquire = previews._card_places.acquire

    def acquire_when_another_request_is_done(*, timeout: float) -> bool:
        kept.write_bytes(b"kept")
        return acquire(timeout=timeout)

    monkeypatch.setattr(previews._card_places, "acquire", acquire_when_another_request_is_done)
    assert client.get(path).content == b"kept"


def test_what_messengers_show_has_no_other_form(client: Client, asset: Asset) -> None:
    assert client.get(f"/uploads/{asset.path}/card.png").status_code == 404
    assert client.get("/uploads/nobody/1.webp/card.png").status_code == 404
    for path in ("/uploads/a%00b/1.webp/card.png", "/uploads/a%00b/1.webp"):
        assert client.get(path).content == b"There is no such file.\n"


def test_a_picture_of_another_store_is_shown_to_messengers_as_it_is(client: Client, settings: Settings) -> None:
    settings.UPLOAD_CDN_URL = "https://cdn.example"
    AssetFactory.create(path="elsewhere/1.webp", mime="image/webp")
    AssetFactory.create(path="elsewhere/1.png")
    response = client.get("/uploads/elsewhere/1.webp/card.png")
    assert (response.status_code, response.headers["Location"]) == (302, "https://cdn.example/elsewhere/1.webp")
    assert client.get("/uploads/elsewhere/1.png/card.png").status_code == 404


def test_a_missing_object_is_not_found_and_a_failing_store_asks_for_patience(
    client: Client, asset: Asset, store_directory: Path
) -> None:
    path = store_directory / asset.path
    content = path.read_bytes()
    path.unlink()
    assert client.get(f"/uploads/{asset.path}").status_code == 404
    path.mkdir()
    response = client.get(f"/uploads/{asset.path}")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
    path.rmdir()
    path.write_bytes(content)
