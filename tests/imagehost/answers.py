"""Calls of the gallery and of the folder endpoints. Every answer is held against the JSON Schema of its form, as typed
from document 3 and the decisions.

A schema that names `shared.json` finds it beside itself.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django.test import Client
from jsonschema import Draft202012Validator

Json = dict[str, Any]  # Any: a JSON value
SCHEMAS = Path(__file__).parent / "schemas"
SECRET, OTHER_SECRET = "the-account-key-of-the-tests", "the-account-key-of-somebody-else"
ADDRESS = "203.0.113.7"
GALLERY, FOLDERS = "/api/imagehost/gallery", "/api/imagehost/folders"

NOT_FOUND = (404, {"error": "Folder not found.", "code": "FOLDER_NOT_FOUND"})
EXISTS = (409, {"error": "There is a folder of this name already.", "code": "FOLDER_EXISTS"})
LIMIT_INVALID = (400, {"error": "limit must be a whole number from 1 to 100.", "code": "INVALID_LIMIT"})
OFFSET_INVALID = (400, {"error": "offset must be a whole number of at least 0.", "code": "INVALID_OFFSET"})
NO_OBJECT = (400, {"error": "The body must be a JSON object.", "code": "INVALID_BODY"})


@dataclass(frozen=True)
class Answer:
    """What came back. `body`: the JSON in it."""

    status: int
    text: str
    body: Any  # a JSON value
    headers: Mapping[str, str]

    @property
    def whole(self) -> tuple[int, Any]:
        """Any: a JSON value."""
        return self.status, self.body


def gallery(secret: str = SECRET, **query: str | int) -> Answer:
    return call("GET", f"{GALLERY}?{urlencode({'key': secret, **query})}", "gallery")


def folders(secret: str = SECRET) -> Answer:
    return call("GET", f"{FOLDERS}?{urlencode({'key': secret})}", "folders")


def show(folder_id: str, secret: str = SECRET, **query: str | int) -> Answer:
    return call("GET", f"{FOLDERS}/{folder_id}?{urlencode({'key': secret, **query})}", "folder_page")


def create(body: object, secret: str = SECRET) -> Answer:
    return call("POST", f"{FOLDERS}?{urlencode({'key': secret})}", "folder", _sent(body))


def change(folder_id: str, body: object, secret: str = SECRET) -> Answer:
    return call("PATCH", f"{FOLDERS}/{folder_id}?{urlencode({'key': secret})}", "folder", _sent(body))


def delete(folder_id: str, secret: str = SECRET) -> Answer:
    return call("DELETE", f"{FOLDERS}/{folder_id}?{urlencode({'key': secret})}", "done")


def invalid(sentence: str) -> tuple[int, Json]:
    return 400, {"error": sentence, "code": "INVALID_BODY"}


def call(
    method: str,
    path: str,
    form: str,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    content_type: str = "application/json",
) -> Answer:
    """The answer is JSON in `form`, or one of the documented errors."""
    client = Client(REMOTE_ADDR=ADDRESS, enforce_csrf_checks=True)
    response = client.generic(method, path, body, content_type=content_type, headers=dict(headers or {}))
    assert response.headers["Content-Type"] == "application/json", response.content
    assert response.headers["Content-Length"] == str(len(response.content))
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cache-Control"] == "private, no-store"
    text = response.content.decode()
    found = json.loads(text, object_pairs_hook=_once)
    check(form if response.status_code in {200, 201} else "error", found)
    return Answer(response.status_code, text, found, response.headers)


def check(form: str, body: object) -> None:
    """Fails with the first place where `body` is not what the schema says."""
    first = next(_validator(form).iter_errors(body), None)
    assert first is None, f"{form}: {'/'.join(map(str, first.absolute_path))}: {first.message[:1500]}"


@functools.cache
def _validator(form: str) -> Draft202012Validator:
    """References into the shared file become references into the schema itself."""
    schema = json.loads((SCHEMAS / f"{form}.json").read_text().replace('"shared.json#', '"#'))
    shared = json.loads((SCHEMAS / "shared.json").read_text())
    return Draft202012Validator({**schema, "$defs": {**shared["$defs"], **schema.get("$defs", {})}})


def _sent(body: object) -> bytes:
    """Bytes go as they are."""
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def _once(pairs: Sequence[tuple[str, Any]]) -> Json:
    """An object, none of whose keys stands there twice."""
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), names
    return dict(pairs)
