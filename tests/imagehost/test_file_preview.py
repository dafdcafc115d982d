"""GET /files/{name}/preview.webp. Who may see it is in test_file_page.py and test_folder_password.py."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings

from imagehost import storage
from imagehost.models import PreviewState
from tests.factories.imagehost import FileFactory
from tests.imagehost.public_pages import PREVIEW, stored

pytestmark = pytest.mark.django_db


def test_the_preview_and_its_headers(client: Client) -> None:
    file = stored(preview=PREVIEW)
    response = client.get(f"/files/{file.name}/preview.webp")
    etag = f'"{file.pk.hex}-320x240"'
    assert response.status_code == 200
    assert response.content == PREVIEW
    expected = {
        "Content-Type": "image/webp",
        "Content-Disposition": f"inline; filename=\"{file.name}.webp\"; filename*=UTF-8''{file.name}.webp",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "X-Robots-Tag": "noindex",
        "Cache-Control": "public, max-age=3600",
        "ETag": etag,
    }
    assert {name: response.headers.get(name) for name in expected} == expected
    assert response.cookies == {}

    unchanged = client.get(f"/files/{file.name}/preview.webp", headers={"If-None-Match": etag})
    assert (unchanged.status_code, unchanged.content, unchanged.headers["ETag"]) == (304, b"", etag)
    head = client.head(f"/files/{file.name}/preview.webp")
    assert (head.status_code, head.content, head.headers["Content-Length"]) == (200, b"", str(len(PREVIEW)))


@pytest.mark.parametrize("state", [PreviewState.WAITING, PreviewState.FAILED])
def test_a_preview_that_was_not_made_is_missing(client: Client, state: PreviewState) -> None:
    file = FileFactory(preview_state=state)
    storage.bucket().keep_bytes(file.preview_key, PREVIEW, mime="image/webp")
    assert client.get(f"/files/{file.name}/preview.webp").status_code == 404


def test_a_preview_whose_object_is_gone_is_missing(client: Client) -> None:
    file = FileFactory(preview_state=PreviewState.MADE)
    assert client.get(f"/files/{file.name}/preview.webp").status_code == 404


def test_a_preview_in_a_store_that_does_not_answer_is_for_later(client: Client, settings: Settings) -> None:
    file = FileFactory(preview_state=PreviewState.MADE)
    options = {"bucket_name": "b", "endpoint_url": "http://127.0.0.1:1", "access_key": "a", "secret_key": "b"}
    settings.STORAGES = {
        **settings.STORAGES,
        "imagehost": {"BACKEND": "imagehost.storage.S3Storage", "OPTIONS": options},
    }
    response = client.get(f"/files/{file.name}/preview.webp")
    assert response.status_code == 503
    assert (response.headers["Retry-After"], response.headers["Cache-Control"]) == ("30", "no-store")
