"""Files with their objects, and readers of the public pages."""

from __future__ import annotations

from typing import Any

from django.test import Client
from PIL import Image
from pytest_django import Settings

from accounts.models import User
from imagehost import media
from imagehost.models import File, Folder, PreviewState
from imagehost.storing import storage
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost.media_corpus.real_images import encoded
from tests.pages.markup import page_of

BASE = "http://127.0.0.1:8000"
CONTENT = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
PREVIEW = encoded(media.WEBP, Image.new("RGB", (8, 8), "teal"))
PASSWORD = "open sesame"


def stored(*, content: bytes = CONTENT, preview: bytes = b"", **values: Any) -> File:
    """A file whose object holds `content`; with `preview`, its preview's holds that. `values`: of FileFactory."""
    state = PreviewState.MADE if preview else PreviewState.WAITING
    file = FileFactory(**{"size": len(content), "preview_state": state, **values})
    storage.bucket().keep_bytes(file.key, content, mime=file.mime)
    if preview:
        storage.bucket().keep_bytes(file.preview_key, preview, mime="image/webp")
    return file


def messenger_tags(response: Any) -> dict[str, str]:
    """The meta tags of the page, by property or name. `response`: as for `page_of`."""
    tags = page_of(response).xpath("//meta[@property or @name]")
    return {tag.get("property") or tag.get("name"): tag.get("content") for tag in tags}


def silent_store(settings: Settings, public_url: str = "") -> None:
    """Keep objects in a store that does not answer."""
    options = {"bucket_name": "files", "endpoint_url": "http://127.0.0.1:1", "access_key": "a", "secret_key": "b"}
    entry = {"BACKEND": "imagehost.storing.storage.S3Storage", "OPTIONS": {**options, "public_url": public_url}}
    settings.STORAGES = {**settings.STORAGES, "imagehost": entry}


def foreign_scripts(response: Any) -> list[Any]:
    """Script elements with text in them, or from another host. `response`: as for `page_of`."""
    found: list[Any] = page_of(response).xpath("//script[text() or not(starts-with(@src, '/static/js/'))]")
    return found


def unlocked(folder_id: str, password: str = PASSWORD) -> Client:
    """A browser that has given the folder's password."""
    client = Client()
    assert client.post(f"/folders/{folder_id}", {"password": password}).status_code == 303
    return client


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def locked_folder() -> Folder:
    """With PASSWORD, and one file `Picture1` in it, which has a preview. Ada's."""
    folder = FolderFactory(owner=UserFactory(username="Ada"), name="Secret plans", password=PASSWORD)
    stored(folder=folder, name="Picture1", original_name="blueprint.png", preview=PREVIEW)
    return folder


def statuses(client: Client, folder: Folder) -> dict[str, int]:
    """The status of each address of `locked_folder`."""
    paths = {
        "folder": f"/folders/{folder.pk}",
        "archive": f"/folders/{folder.pk}/files.zip",
        "thumbnail": f"/folders/{folder.pk}/previews/Picture1.webp",
        "page": "/files/Picture1",
        "preview": "/files/Picture1/preview.webp",
        "card": "/files/Picture1/preview.png",
    }
    return {name: client.get(path).status_code for name, path in paths.items()}


LOCKED = {"folder": 403, "archive": 403, "thumbnail": 404, "page": 403, "preview": 404, "card": 404}
OPEN = dict.fromkeys(LOCKED, 200)
