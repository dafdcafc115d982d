"""Uploads: forms put together by hand, byte by byte, and what is answered to them.

After every upload the incoming directory must be empty, whatever the answer was.
"""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import pytest
from django.conf import settings
from django.test import Client
from PIL import Image

from accounts.models import Permission, User
from accounts.plans import ALLOWANCES, Allowance, Plan
from imagehost.models import File
from imagehost.receiving import incoming, uploads
from tests.factories.accounts import ApiKeyFactory, UserFactory

PATH = "/api/imagehost/upload"
SECRET = "the-upload-key-of-the-tests"
BOUNDARY = "boundary-of-the-tests"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"
ADDRESS = "203.0.113.7"
FORMS = ("current", "earlier header", "earlier field", "earlier field behind the file")
"""Where the key stands."""
NO_FILE = "No file attached. Send multipart/form-data with the file in the field `file`."


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    headers: Mapping[str, str]

    @property
    def body(self) -> Any:
        """A JSON value."""
        return json.loads(self.text)

    @property
    def whole(self) -> tuple[int, Any]:
        return self.status, self.body

    @property
    def outcome(self) -> tuple[int, str]:
        """The status, and the code of an error."""
        return self.status, self.body.get("code", "")


@dataclass(frozen=True)
class Delivered:
    """An answer of a file's own URL, read to its end. `headers`: without the id of the request."""

    status: int
    content: bytes
    headers: Mapping[str, str]


def get(path: str, method: str = "GET", headers: Mapping[str, str] | None = None) -> Delivered:
    """Ask for a file."""
    client = Client(enforce_csrf_checks=True)
    response: Any = client.generic(method, path, headers=dict(headers or {}))  # it has no public type
    assert not response.cookies
    content = b"".join(response.streaming_content) if response.streaming else response.content
    fields = dict(response.headers)
    assert len(fields.pop("X-Request-Id")) == 16
    return Delivered(response.status_code, content, fields)


def uploader(secret: str = SECRET, **columns: Any) -> User:
    """A user with a key that can upload, and nothing else."""
    user: User = UserFactory(**columns)
    ApiKeyFactory(owner=user, secret=secret, permissions=[Permission.IMAGEHOST_UPLOAD.value])
    return user


def allow(monkeypatch: pytest.MonkeyPatch, *, file: int, storage: int = 1_000_000, premium_file: int = 0) -> None:
    """Set what the plans give. Premium and ImageHost: `premium_file`, or the same."""
    premium = Allowance(premium_file or file, storage)
    allowances = dict.fromkeys(ALLOWANCES, premium) | {Plan.FREE: Allowance(file, storage)}
    for module in (uploads, incoming):
        monkeypatch.setattr(module, "ALLOWANCES", allowances)


@functools.cache
def png(width: int = 40, height: int = 30) -> bytes:
    return encoded("PNG", width, height)


def encoded(kind: str, width: int = 40, height: int = 30) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(content, kind)
    return content.getvalue()


def part(name: str, content: bytes | str, *, filename: str | None = None, head: str = "") -> bytes:
    """One part; `filename` makes it a file. `head`: further lines of its head, each with its line end."""
    of_file = "" if filename is None else f'; filename="{filename}"\r\nContent-Type: image/png'
    start = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{of_file}\r\n{head}\r\n'
    return start.encode() + (content.encode() if isinstance(content, str) else content) + b"\r\n"


END = f"--{BOUNDARY}--\r\n".encode()


def form_of(content: bytes, *, form: str = "current", secret: str = SECRET, filename: str = "picture.png") -> bytes:
    """The body of an upload in one of FORMS."""
    key, file = part("key", secret), part("file", content, filename=filename)
    return {"earlier field": key + file, FORMS[3]: file + key}.get(form, file) + END


def headers_of(form: str, secret: str = SECRET) -> dict[str, str]:
    return {"current": {"X-API-Key": secret}, "earlier header": {"key": secret}}.get(form, {})


def upload(content: bytes, *, form: str = "current", secret: str = SECRET, filename: str = "picture.png") -> Answer:
    return post(form_of(content, form=form, secret=secret, filename=filename), headers_of(form, secret))


class Stream(Protocol):
    """A body that is read as it comes."""

    def read(self, size: int = ..., /) -> bytes: ...

    def readline(self, size: int = ..., /) -> bytes: ...


IN_HEADER: Mapping[str, str] = MappingProxyType({"X-API-Key": SECRET})


def post(
    body: bytes | Stream,
    headers: Mapping[str, str] = IN_HEADER,
    *,
    length: str | int | None = "of the body",
    content_type: str = MULTIPART,
    address: str = ADDRESS,
    query: str = "",
    is_alone: bool = True,
) -> Answer:
    """Send a body as it is. `length`: what the header says of it; None: it comes in chunks, without that header.

    `is_alone`: no other upload runs, so that nothing is left in the incoming directory.
    """
    if length == "of the body" and isinstance(body, bytes):
        length = len(body)
    environ: dict[str, Any] = {  # WSGI's values have no type
        "wsgi.input": io.BytesIO(body) if isinstance(body, bytes) else body,
        "CONTENT_TYPE": content_type,
        "QUERY_STRING": query,
        **({"HTTP_TRANSFER_ENCODING": "chunked"} if length is None else {"CONTENT_LENGTH": str(length)}),
    }
    client = Client(enforce_csrf_checks=True, REMOTE_ADDR=address)
    response = client.generic("POST", PATH, headers=dict(headers), **environ)
    assert response.headers["Content-Type"] == "application/json", response.content
    assert response.headers["Content-Length"] == str(len(response.content))
    assert response.headers["Cache-Control"] == "private, no-store"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert not {"Set-Cookie", "Access-Control-Allow-Origin"} & set(response.headers)
    assert response.status_code == 200 or "X-Deletion-Url" not in response.headers
    assert not (is_alone and list(Path(settings.IMAGEHOST_INCOMING).glob("*")))
    return Answer(response.status_code, response.content.decode(), dict(response.headers))


class Zeros:
    """A form whose file is `size` zero bytes, which are nowhere until they are read. `length`: of the form."""

    def __init__(self, size: int, *, form: str = "current") -> None:
        before, after = form_of(b"~", form=form).split(b"~")
        self.length = len(before) + size + len(after)
        self._before, self._size, self._after = io.BytesIO(before), size, io.BytesIO(after)

    def read(self, size: int = -1, /) -> bytes:
        if data := self._before.read(size):
            return data
        zeros = min(size, self._size)
        self._size -= zeros
        return bytes(zeros) if zeros else self._after.read(size)

    readline = read


def nothing_is_left(bucket_directory: Path) -> bool:
    """Whether there is neither an object nor a row of a file."""
    return not [path for path in bucket_directory.rglob("*") if path.is_file()] and not File.objects.exists()
