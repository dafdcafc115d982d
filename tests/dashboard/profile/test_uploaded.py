"""GET /uploads/<path>: the bytes, the headers that keep them harmless, ranges, and the demo's files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from accounts.models import User
from dashboard import media
from lookup.models import Asset
from lookup.uploads import Kind
from tests.factories.lookup import AssetFactory
from tests.imagehost import media_corpus

CONTENT = media_corpus.sample("png-rgb").content


@pytest.fixture
def asset(user: User) -> Asset:
    return media.store(user=user, kind=Kind.IMAGE, upload=ContentFile(CONTENT, "me.png"), by=user)


def body(response: Any) -> bytes:
    """`response`: of the test client, which Django gives no public type."""
    return b"".join(response.streaming_content)


def test_a_file_is_for_everybody_for_ever_and_runs_nothing(client: Client, asset: Asset, store_directory: Path) -> None:
    response = client.get(f"/uploads/{asset.path}")
    assert body(response) == (store_directory / "uploads" / asset.path).read_bytes()
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


def test_one_query_and_no_session(client: Client, asset: Asset, django_assert_num_queries: Any) -> None:
    client.cookies["sessionid"] = "x" * 32
    with django_assert_num_queries(1):
        body(client.get(f"/uploads/{asset.path}"))


@pytest.mark.parametrize(
    ("header", "status", "part", "told"),
    [
        ("bytes=0-9", 206, slice(0, 10), "bytes 0-9/{}"),
        ("bytes=-4", 206, slice(-4, None), None),
        ("bytes=5-", 206, slice(5, None), None),
        ("bytes=0-1,4-5", 200, slice(None), ""),
        ("lines=1-2", 200, slice(None), ""),
    ],
)
def test_parts_of_a_file(
    header: str, status: int, part: slice, told: str | None, client: Client, asset: Asset, store_directory: Path
) -> None:
    whole = (store_directory / "uploads" / asset.path).read_bytes()
    response = client.get(f"/uploads/{asset.path}", headers={"Range": header})
    assert (response.status_code, body(response)) == (status, whole[part])
    assert response.headers["Content-Length"] == str(len(whole[part]))
    if told is not None:
        assert response.headers.get("Content-Range", "") == told.format(len(whole))


def test_a_part_that_is_not_there(client: Client, asset: Asset) -> None:
    response = client.get(f"/uploads/{asset.path}", headers={"Range": "bytes=999999-"})
    assert (response.status_code, response.headers["Content-Range"]) == (416, f"bytes */{asset.size}")


def test_a_browser_that_has_the_file_is_told_so(client: Client, asset: Asset) -> None:
    response = client.get(f"/uploads/{asset.path}", headers={"If-None-Match": f'"{asset.pk}"'})
    assert (response.status_code, response.content) == (304, b"")
    assert "Content-Length" not in response.headers
    other = client.get(f"/uploads/{asset.path}", headers={"If-Match": '"other"'})
    assert other.status_code == 412


def test_head_has_no_body(client: Client, asset: Asset) -> None:
    response = client.head(f"/uploads/{asset.path}")
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["Content-Length"] == str(asset.size)


def test_a_file_is_not_written_to(client: Client, asset: Asset) -> None:
    response = client.post(f"/uploads/{asset.path}")
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["", "x", "a/b.png", "../settings.py", "a/../b", "%2e%2e/x", "a//b", "demo/", "demo", "x" * 500]
)
def test_what_is_no_upload_is_not_found(path: str, client: Client) -> None:
    response = client.get(f"/uploads/{path}")
    assert response.status_code == 404
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_an_asset_that_somebody_else_keeps_is_not_found(user: User, client: Client) -> None:
    AssetFactory.create(owner=user, path="elsewhere/1.png")
    assert client.get("/uploads/elsewhere/1.png").status_code == 404


@pytest.mark.django_db
def test_files_of_the_demo_come_with_the_service(client: Client) -> None:
    response = client.get("/uploads/demo/avatar-9.svg")
    assert (response.status_code, response.headers["Location"]) == (302, "/static/uploads/demo/avatar-9.svg")


def test_an_object_that_is_missing_is_not_found(client: Client, asset: Asset, store_directory: Path) -> None:
    (store_directory / "uploads" / asset.path).unlink()
    assert client.get(f"/uploads/{asset.path}").status_code == 404


def test_a_store_that_fails_is_told(client: Client, asset: Asset, store_directory: Path) -> None:
    path = store_directory / "uploads" / asset.path
    path.unlink()
    path.mkdir()
    response = client.get(f"/uploads/{asset.path}")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
