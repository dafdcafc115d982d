"""How ShareX sends a file with a custom uploader file, and reads the answer.

From its documented format and its behavior: of the `{function:argument}` syntax what our files use, and that values of
headers and arguments go through the parser of file names as well, which replaces what begins with `%`.
"""

from __future__ import annotations

import json
import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import requests

BOUNDARY = "-" * 20 + "8dd0b1f3c5a7e90"


class Refused(Exception):
    """What ShareX says of an upload that failed."""


@dataclass(frozen=True)
class Result:
    """What ShareX keeps of an upload: it copies `url`, shows `thumbnail_url`, opens `deletion_url`."""

    url: str
    thumbnail_url: str
    deletion_url: str


def upload(text: str, file_name: str, content: bytes) -> Result:
    """With the uploader file of that text. Raises Refused with what the person gets to see."""
    item: Mapping[str, Any] = json.loads(text)  # texts, and texts by name
    headers = {name: _file_named(value) for name, value in item["Headers"].items()}
    headers |= {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "User-Agent": "ShareX/18.0.1"}
    answer = requests.request(
        item["RequestMethod"], item["RequestURL"], data=_body(item, file_name, content), headers=headers, timeout=30
    )
    if not answer.ok:
        raise Refused(_parsed(item["ErrorMessage"], answer))
    return Result(*(_parsed(item.get(member, ""), answer) for member in ("URL", "ThumbnailURL", "DeletionURL")))


def _body(item: Mapping[str, Any], file_name: str, content: bytes) -> bytes:
    """Arguments first, then the file."""
    arguments = {name: _file_named(value) for name, value in item.get("Arguments", {}).items()}
    texts = [f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}' for name, value in arguments.items()]
    mime = mimetypes.guess_type(file_name)[0] or "application/octet-stream"
    field = item["FileFormName"]
    head = f'Content-Disposition: form-data; name="{field}"; filename="{file_name}"\r\nContent-Type: {mime}\r\n\r\n'
    pieces = [*(text.encode() for text in texts), head.encode() + content]
    parts = b"".join(b"--%b\r\n%b\r\n" % (BOUNDARY.encode(), piece) for piece in pieces)
    return parts + f"--{BOUNDARY}--\r\n".encode()


def _parsed(text: str, answer: requests.Response) -> str:
    """The text with its `{json:path}` and `{header:name}` replaced."""

    def value(found: re.Match[str]) -> str:
        function, argument = found.groups()
        return str(answer.json()[argument] if function == "json" else answer.headers[argument])

    return re.sub(r"\{(json|header):([^}]+)\}", value, text)


def _file_named(text: str) -> str:
    """The parser of file names: `%y` becomes the year, `%rn` a digit, and so on."""
    return re.sub(r"%[a-zA-Z]+", "<replaced>", text)
