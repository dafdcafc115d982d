"""GET /files/{name}. Its preview is in test_file_preview.py, passwords of folders in test_folder_password.py."""

from __future__ import annotations

import datetime as dt
import io
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from PIL import Image
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from imagehost import media
from imagehost.media import MediaType
from imagehost.models import PreviewState, State
from imagehost.pages import file_pages
from imagehost.storing import files, previews, storage
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost import objects
from tests.imagehost.media_corpus.real_images import encoded
from tests.imagehost.public_pages import BASE, PREVIEW, messenger_tags, silent_store, stored
from tests.lookup import statements
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db

MEGABYTE = 1024 * 1024


def test_the_page_of_a_picture(client: Client) -> None:
    owner = UserFactory(username="Ada", display_name="Ada L.")
    moment = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)
    file = FileFactory(owner=owner, original_name="my holiday.png", size=1_300_000, uploaded_at=moment)

    response = client.get(f"/files/{file.name}")

    page = page_of(response)
    assert response.status_code == 200
    assert problems_of(response) == []
    (image,) = page.xpath("//main//img")
    assert dict(image.attrib) == {
        "src": f"/media/{file.name}.png",
        "alt": "my holiday.png",
        "width": "640",
        "height": "480",
    }
    assert page.findtext(".//h1") == page.findtext(".//title").split(" · ")[0] == "my holiday.png"
    assert [chip.text for chip in page.xpath("//ul[@class='chips']/li")] == [
        "PNG",
        "1.2\xa0MB",
        "640 \N{MULTIPLICATION SIGN} 480 px",
    ]
    assert page.xpath("//main//p[@class='meta']/a/@href") == ["/Ada"]
    assert page.xpath("//main//bdi/text()") == ["Ada L."]
    assert page.xpath("//main//time/@datetime") == ["2026-03-05T12:00:00+00:00"]
    assert page.xpath("//div[@class='actions']/a/@href") == [
        f"/media/{file.name}.png?download=1",
        f"/media/{file.name}.png",
    ]


def test_the_page_of_a_video_plays_it(client: Client) -> None:
    file = FileFactory(media=media.MP4, duration_ms=3_723_400, preview_state=PreviewState.MADE)
    response = client.get(f"/files/{file.name}")
    page = page_of(response)
    assert problems_of(response) == []
    (video,) = page.xpath("//main//video")
    assert dict(video.attrib) == {
        "src": f"/media/{file.name}.mp4",
        "controls": "",
        "playsinline": "",
        "preload": "metadata",
        "width": "640",
        "height": "480",
        "aria-label": "holiday.mp4",
        "poster": f"/files/{file.name}/preview.webp",
    }
    assert page.xpath("//main//img") == []
    assert "1:02:03" in [chip.text for chip in page.xpath("//ul[@class='chips']/li")]
    assert "media-src 'self'" in response.headers["Content-Security-Policy"]


def test_a_duration_is_read_like_a_clock() -> None:
    clocks = {0: "0:01", 59_600: "1:00", 3_599_000: "59:59", 3_600_000: "1:00:00", None: ""}
    assert {duration_ms: file_pages.clock(duration_ms) for duration_ms in clocks} == clocks


def test_the_tags_of_a_picture_for_messengers(client: Client) -> None:
    file = FileFactory(owner=UserFactory(username="Ada"), preview_state=PreviewState.MADE)
    url = f"{BASE}/media/{file.name}.png"
    summary = "1000 bytes, 640 by 480 pixels, uploaded by Ada"
    response = client.get(f"/files/{file.name}")
    assert messenger_tags(response) == {
        "viewport": "width=device-width, initial-scale=1",
        "color-scheme": "light dark",
        "robots": "noindex",
        "description": summary,
        "theme-color": "#1b5e4b",
        "og:site_name": "Hearth",
        "og:type": "website",
        "og:url": f"{BASE}/files/{file.name}",
        "og:title": "holiday.png",
        "og:description": summary,
        "og:image": url,
        "og:image:type": "image/png",
        "og:image:width": "640",
        "og:image:height": "480",
        "og:image:alt": "holiday.png",
        "twitter:card": "summary_large_image",
        "twitter:title": "holiday.png",
        "twitter:description": summary,
        "twitter:image": url,
        "twitter:image:alt": "holiday.png",
    }


def test_the_tags_of_a_video_for_messengers(client: Client, settings: Settings) -> None:
    settings.IMAGE_CDN_URL, settings.BASE_URL = "https://cdn.example", "https://host.example"
    file = FileFactory(media=media.MP4, preview_state=PreviewState.MADE)
    response = client.get(f"/files/{file.name}")
    url, preview = f"https://cdn.example/{file.name}.mp4", f"https://host.example/files/{file.name}/preview.png"
    expected = {
        "og:type": "video.other",
        "og:url": f"https://host.example/files/{file.name}",
        "og:image": preview,
        "og:image:secure_url": preview,
        "og:image:type": "image/png",
        "og:image:width": "320",
        "og:image:height": "240",
        "og:video": url,
        "og:video:secure_url": url,
        "og:video:type": "video/mp4",
        "og:video:width": "640",
        "og:video:height": "480",
        "twitter:card": "player",
        "twitter:image": preview,
        "twitter:player": url,
        "twitter:player:width": "640",
        "twitter:player:height": "480",
        "twitter:player:stream": url,
        "twitter:player:stream:content_type": "video/mp4",
    }
    assert {name: value for name, value in messenger_tags(response).items() if name in expected} == expected


def test_a_video_that_is_not_https_claims_no_player_and_no_secure_url(client: Client) -> None:
    file = FileFactory(media=media.MP4)
    found = messenger_tags(client.get(f"/files/{file.name}"))
    assert found["og:video"] == f"{BASE}/media/{file.name}.mp4"
    assert found["twitter:card"] == "summary"
    assert [name for name in found if "player" in name or "secure" in name or "image" in name] == []


PICTURES: list[tuple[MediaType, int, PreviewState, str | None]] = [
    (media.PNG, 8 * MEGABYTE, PreviewState.MADE, "/media/Picture1.png"),
    (media.JPEG, 1000, PreviewState.WAITING, "/media/Picture1.jpg"),
    (media.GIF, 1000, PreviewState.WAITING, "/media/Picture1.gif"),
    (media.PNG, 8 * MEGABYTE + 1, PreviewState.MADE, "/files/Picture1/preview.png"),
    (media.PNG, 8 * MEGABYTE + 1, PreviewState.WAITING, None),
    (media.WEBP, 1000, PreviewState.MADE, "/files/Picture1/preview.png"),
    (media.AVIF, 1000, PreviewState.MADE, "/files/Picture1/preview.png"),
    (media.AVIF, 1000, PreviewState.WAITING, None),
    (media.WEBM, 1000, PreviewState.MADE, "/files/Picture1/preview.png"),
]


def test_what_messengers_do_not_show_is_shown_by_a_png_of_its_preview() -> None:
    for type_, size, preview, picture in PICTURES:
        values = {"name": "Picture1", "media": type_, "size": size, "preview_state": preview}
        found = file_pages.picture_of(FileFactory.build(owner=None, **values))
        assert (found and found.url) == (f"{BASE}{picture}" if picture else None)


HIDDEN: list[dict[str, Any]] = [
    {"state": State.PENDING},
    {"state": State.DELETED},
    {"name": "aaaaaaaa"},
    {"owner__is_active": False, "owner__banned_at": timezone.now()},
]


def test_a_file_that_is_not_delivered_has_neither_page_nor_preview(client: Client) -> None:
    missing = client.get("/files/BBBBBBBB")
    for values in HIDDEN:
        file = FileFactory(**{"preview_state": PreviewState.MADE, **values})
        name = "AAAAAAAA" if file.name == "aaaaaaaa" else file.name
        response = client.get(f"/files/{name}")
        assert (response.status_code, response.content) == (404, missing.content)
        assert client.get(f"/files/{name}/preview.webp").status_code == 404


def test_a_file_in_a_private_folder_has_a_page_that_does_not_name_the_folder(client: Client) -> None:
    folder = FolderFactory(name="Secret plans")
    file = stored(folder=folder, preview=PREVIEW)
    for _ in range(2):
        response = client.get(f"/files/{file.name}")
        assert response.status_code == 200
        assert b"Secret plans" not in response.content
        assert folder.pk.encode() not in response.content
        client.force_login(folder.owner)
    preview = client.get(f"/files/{file.name}/preview.webp")
    assert (preview.content, preview.headers["Cache-Control"]) == (PREVIEW, "private, no-store")


def test_a_file_in_a_public_folder_leads_there_without_a_cookie_or_a_shared_cache(client: Client) -> None:
    folder = FolderFactory(name="Holidays", is_public=True)
    response = client.get(f"/files/{FileFactory(folder=folder).name}")
    assert page_of(response).xpath("//a[bdi='Holidays']/@href") == [f"/folders/{folder.pk}"]
    assert response.cookies == {}
    assert response.headers["Cache-Control"] == "private, no-cache"
    assert "Cookie" in response.headers["Vary"]


def test_another_host_and_a_store_that_delivery_redirects_to_are_let_in_by_the_policy(
    client: Client, settings: Settings
) -> None:
    FileFactory(name="Picture1")
    settings.IMAGE_CDN_URL = "https://cdn.example:8443/i"
    for origins in ("https://cdn.example:8443", "https://cdn.example:8443 https://store.example"):
        response = client.get("/files/Picture1")
        policy = response.headers["Content-Security-Policy"].split("; ")
        assert {f"img-src 'self' data: {origins}", f"media-src 'self' {origins}"} <= set(policy)
        assert page_of(response).xpath("//main//img/@src") == ["https://cdn.example:8443/i/Picture1.png"]
        settings.FILE_DELIVERY = "redirect"
        silent_store(settings, public_url="https://store.example/files")


@pytest.mark.embedded
@pytest.mark.parametrize("folder", [None, {"password": "open sesame"}])
def test_the_page_takes_one_query(client: Client, folder: dict[str, Any] | None) -> None:
    file = FileFactory(folder=FolderFactory(**folder) if folder is not None else None)
    asked = statements.names(lambda: client.get(f"/files/{file.name}"))
    assert asked == ["SELECT imagehost_file"]  # the file, with its owner and folder


@pytest.mark.parametrize("below", ["", "/preview.webp"])
def test_the_page_is_for_reading(below: str) -> None:
    response = Client(enforce_csrf_checks=True).post(f"/files/{FileFactory().name}{below}")
    assert response.status_code == 405
    assert response.headers["Allow"] == "GET, HEAD"


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


def test_the_preview_as_a_png_has_the_pixels_that_the_page_names_is_made_once_and_goes_with_its_file(
    client: Client, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
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
    storage.bucket().remove(file.preview_key)  # so that it cannot be made again
    assert client.get(path).content == response.content
    with django_capture_on_commit_callbacks(execute=True):
        files.delete(file=file, by=None)
    assert objects.all_keys() == []


def test_a_png_of_a_preview_waits_for_a_place(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previews, "PAGE_SECONDS", 0.01)
    file = stored(content=encoded(media.WEBP, Image.new("RGB", (1280, 800))), media=media.WEBP)
    previews.make(until=timezone.now() + timedelta(hours=1))
    path = f"/files/{file.name}/preview.png"
    for _ in range(previews.AT_ONCE):
        assert previews._card_places.acquire(timeout=30)
    try:
        assert client.get(path).status_code == 503
    finally:
        for _ in range(previews.AT_ONCE):
            previews._card_places.release()
    assert client.get(path).status_code == 200


@pytest.mark.parametrize("state", PreviewState)
def test_a_preview_that_was_not_made_or_has_no_object_is_missing(client: Client, state: PreviewState) -> None:
    file = FileFactory(preview_state=state)
    if state != PreviewState.MADE:
        storage.bucket().keep_bytes(file.preview_key, PREVIEW, mime="image/webp")
    assert client.get(f"/files/{file.name}/preview.webp").status_code == 404


def test_a_preview_that_is_no_picture_or_whose_store_does_not_answer_is_for_later(
    client: Client, settings: Settings
) -> None:
    file = stored(preview=b"no picture")
    answers = [client.get(f"/files/{file.name}/preview.png")]
    silent_store(settings)
    answers.append(client.get(f"/files/{file.name}/preview.webp"))
    for response in answers:
        assert response.status_code == 503
        assert (response.headers["Retry-After"], response.headers["Cache-Control"]) == ("30", "no-store")
