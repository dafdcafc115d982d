"""How ShareX reads a custom uploader file, sends a file with it, and reads the answer.

From its documented format and its behaviour: versions, names, the `{function:argument}` syntax, and that values of
headers and arguments go through the parser of file names as well, which replaces what begins with `%`.
"""

from __future__ import annotations

import http.client
import json
import mimetypes
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

BOUNDARY = "-" * 20 + "8dd0b1f3c5a7e90"
# As it names types by a file's ending: what it does not know is a stream of bytes.
TYPES = {".avif": "application/octet-stream", ".m4v": "video/x-m4v"}


class Refused(Exception):
    """What ShareX says of an upload that failed."""


@dataclass(frozen=True)
class Answer:
    """Of the server. Header names in lower case."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(frozen=True)
class Result:
    """What ShareX keeps of an upload: it copies `url`, shows `thumbnail_url`, opens `deletion_url`."""

    url: str
    thumbnail_url: str
    deletion_url: str


@dataclass(frozen=True)
class CustomUploader:
    """`item`: the members of the file; any: texts, and texts by name."""

    item: Mapping[str, Any]

    def upload(self, file_name: str, content: bytes) -> Result:
        """Raises Refused with what the person gets to see."""
        answer = self.send(file_name, content)
        if not 200 <= answer.status < 300:
            raise Refused(self._parsed("ErrorMessage", answer))
        return Result(*(self._parsed(member, answer) for member in ("URL", "ThumbnailURL", "DeletionURL")))

    def send(self, file_name: str, content: bytes) -> Answer:
        parts = urlsplit(_with_scheme(parse(self.item["RequestURL"])))
        headers = {name: parse(_file_named(value)) for name, value in self.item.get("Headers", {}).items()}
        headers |= {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "User-Agent": "ShareX/18.0.1"}
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=30)
        try:
            connection.request(self.item["RequestMethod"], parts.path, self.body(file_name, content), headers)
            response = connection.getresponse()
            named = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, named, response.read().decode())
        finally:
            connection.close()

    def body(self, file_name: str, content: bytes) -> bytes:
        """Arguments first, then the file."""
        arguments = {name: parse(_file_named(value)) for name, value in self.item.get("Arguments", {}).items()}
        texts = [f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}' for name, value in arguments.items()]
        ending = f".{file_name.rpartition('.')[2]}".lower()
        mime = TYPES.get(ending) or mimetypes.guess_type(file_name)[0] or "application/octet-stream"
        field = self.item["FileFormName"]
        head = f'Content-Disposition: form-data; name="{field}"; filename="{file_name}"\r\nContent-Type: {mime}\r\n\r\n'
        pieces = [*(text.encode() for text in texts), head.encode() + content]
        return (
            b"".join(b"--%b\r\n%b\r\n" % (BOUNDARY.encode(), piece) for piece in pieces)
            + f"--{BOUNDARY}--\r\n".encode()
        )

    def _parsed(self, member: str, answer: Answer) -> str:
        return parse(self.item.get(member, ""), answer)


def read(text: str) -> CustomUploader:
    return CustomUploader(json.loads(text))


def parse(text: str, answer: Answer | None = None) -> str:
    """The text with its `{functions}` replaced. `\\` takes the next character as it is; `|` or `}` outside end it."""
    return _parse(text, 0, answer, is_function=False)[0]


def _parse(text: str, at: int, answer: Answer | None, *, is_function: bool) -> tuple[str, int]:
    """The parsed text from `at` on, and where it ended."""
    found, arguments = "", list[str]()
    while at < len(text):
        character = text[at]
        if character == "\\" and at + 1 < len(text):
            at, found = at + 2, found + text[at + 1]
        elif character == "{":
            value, at = _parse(text, at + 1, answer, is_function=True)
            at, found = at + 1, found + value
        elif character == "}" or (character == "|" and not is_function):
            break
        elif is_function and character in ":|":
            argument, at = _parse(text, at + 1, answer, is_function=False)
            arguments.append(argument)
        else:
            at, found = at + 1, found + character
    return (_call(found, arguments, answer), at) if is_function else (found, at)


def _call(name: str, arguments: list[str], answer: Answer | None) -> str:
    functions: dict[str, Callable[[Answer, str], str]] = {
        "json": lambda given, path: _json(given.text, path),
        "header": lambda given, header: given.headers.get(header.lower(), ""),
        "response": lambda given, _: given.text,
    }
    if answer is None or name.lower() not in functions:
        raise Refused(f"Invalid function name: {name}")
    return functions[name.lower()](answer, arguments[0] if arguments else "")


def _json(text: str, path: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        raise Refused("Invalid response content") from None
    for name in path.split("."):
        value = value.get(name, "") if isinstance(value, dict) else ""
    return str(value)


def _file_named(text: str) -> str:
    """The parser of file names: `%y` becomes the year, `%rn` a digit, and so on."""
    return re.sub(r"%[a-zA-Z]+", "<replaced>", text)


def _with_scheme(url: str) -> str:
    return url if "://" in url else f"http://{url}"
