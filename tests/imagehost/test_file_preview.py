"""GET /files/{name}/preview.webp and preview.png."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from PIL import Image
from pytest_django import Settings

from imagehost import media, previews, storage
from imagehost.models import PreviewState
from tests.factories.imagehost import FileFactory
from tests.imagehost.media_corpus.real_images import encoded
from tests.imagehost.public_pages import BASE, PREVIEW, messenger_tags, silent_store, stored

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


def test_the_preview_as_a_png_has_the_pixels_that_the_page_names(client: Client) -> None:
    file = stored(content=encoded(media.WEBP, Image.new("RGBA", (1280, 800), (200, 30, 30, 128))), media=media.WEBP)
    previews.make(until=timezone.now() + timedelta(hours=1))
    tags = messenger_tags(client.get(f"/files/{file.name}"))
    path = tags["og:image"].removeprefix(BASE)
    response = client.get(path)
    with Image.open(io.BytesIO(response.content)) as image:
        assert (image.format, image.mode, image.size) == ("PNG", "RGBA", (640, 400))
    assert [tags[f"og:image:{name}"] for name in ("type", "width", "height")] == ["image/png", "640", "400"]
    expected = {"Content-Type": "image/png", "Cache-Control": "public, max-age=3600", "X-Robots-Tag": "noindex"}
    assert {name: response.headers[name] for name in expected} == expected
    assert response.headers["ETag"] != client.get(path.replace(".png", ".webp")).headers["ETag"]
    assert client.get(path, headers={"If-None-Match": response.headers["ETag"]}).status_code == 304


def test_a_preview_that_cannot_be_made_a_png_is_for_later(client: Client) -> None:
    file = stored(preview=b"no picture")
    response = client.get(f"/files/{file.name}/preview.png")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "30")


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
    silent_store(settings)
    response = client.get(f"/files/{file.name}/preview.webp")
    assert response.status_code == 503
    assert (response.headers["Retry-After"], response.headers["Cache-Control"]) == ("30", "no-store")
