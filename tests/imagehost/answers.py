"""Calls of the gallery and of the folder endpoints, by two users with an account key each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.test import Client

from accounts.models import Permission, User
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.imagehost.uploading import ADDRESS, Answer

Json = dict[str, Any]  # Any: a JSON value
SECRET, OTHER_SECRET = "the-account-key-of-the-tests", "the-account-key-of-another-user"
GALLERY, FOLDERS = "/api/imagehost/gallery", "/api/imagehost/folders"

NOT_FOUND = (404, {"error": "Folder not found.", "code": "FOLDER_NOT_FOUND"})
EXISTS = (409, {"error": "There is a folder of this name already.", "code": "FOLDER_EXISTS"})
LIMIT_INVALID = (400, {"error": "limit must be a whole number from 1 to 100.", "code": "INVALID_LIMIT"})
OFFSET_INVALID = (400, {"error": "offset must be a whole number of at least 0.", "code": "INVALID_OFFSET"})
NO_OBJECT = (400, {"error": "The body must be a JSON object.", "code": "INVALID_BODY"})


def opal() -> User:
    """The first account of the service, whose uid is 0, with the key SECRET. Her plan allows 60 requests a minute."""
    return _caller("Opal", SECRET)


def ben() -> User:
    """Another user, with the key OTHER_SECRET."""
    return _caller("Ben", OTHER_SECRET)


def _caller(username: str, secret: str) -> User:
    user = UserFactory(username=username, plan="PREMIUM")
    ApiKeyFactory(owner=user, secret=secret, permissions=[Permission.ACCOUNT.value])
    return user


def gallery(secret: str = SECRET, **query: str | int) -> Answer:
    return call("GET", f"{GALLERY}?{urlencode({'key': secret, **query})}")


def folders(secret: str = SECRET) -> Answer:
    return call("GET", f"{FOLDERS}?{urlencode({'key': secret})}")


def show(folder_id: str, secret: str = SECRET, **query: str | int) -> Answer:
    return call("GET", f"{FOLDERS}/{folder_id}?{urlencode({'key': secret, **query})}")


def create(body: object, secret: str = SECRET) -> Answer:
    return call("POST", f"{FOLDERS}?{urlencode({'key': secret})}", json.dumps(body).encode())


def change(folder_id: str, body: object, secret: str = SECRET) -> Answer:
    return call("PATCH", f"{FOLDERS}/{folder_id}?{urlencode({'key': secret})}", json.dumps(body).encode())


def delete(folder_id: str, secret: str = SECRET) -> Answer:
    return call("DELETE", f"{FOLDERS}/{folder_id}?{urlencode({'key': secret})}")


def invalid(sentence: str) -> tuple[int, Json]:
    return 400, {"error": sentence, "code": "INVALID_BODY"}


def call(
    method: str,
    path: str,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    content_type: str = "application/json",
) -> Answer:
    """The answer is JSON, with the headers of every answer of the API."""
    client = Client(REMOTE_ADDR=ADDRESS, enforce_csrf_checks=True)
    response = client.generic(method, path, body, content_type=content_type, headers=dict(headers or {}))
    assert response.headers["Content-Type"] == "application/json", response.content
    assert response.headers["Content-Length"] == str(len(response.content))
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cache-Control"] == "private, no-store"
    text = response.content.decode()
    return Answer(response.status_code, text, response.headers)
