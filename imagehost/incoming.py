"""Reading an upload's form: its file goes to the disk as it comes in, and nowhere else.

Django's parser does the parsing. Whoever calls is let in by a `Door`: before a byte of the body is read where a header
holds the key, otherwise as soon as the form says it.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, NoReturn, Protocol, cast

from django.core.exceptions import (
    BadRequest,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import QueryDict
from django.http.multipartparser import MultiPartParser, MultiPartParserError

from accounts.errors import ApiError
from imagehost.errors import FileTooLarge, NoFile, UploadFailed
from imagehost.incoming_file import IncomingFile
from imagehost.models.files import MAX_ORIGINAL_LENGTH
from imagehost.uploads import Incoming

CHUNK = 256 * 1024  # bytes read and written at a time
OVERHEAD = 3 * 1024 * 1024  # of a form beside its file: Django reads 2.5 MiB of text fields at most

MULTIPART = "multipart/form-data"

NOT_MULTIPART = "The body must be multipart/form-data, with a boundary."
CUT_OFF = "The form ended too early."
UNREADABLE = "The form cannot be read."
LONG_HEADER = "The head of a part of the form is longer than 1024 bytes. A shorter file name helps."
MANY_FIELDS = "The form has too many fields."
LONG_FIELDS = "The form's text fields are too long. Is the file sent without a file name?"
TWO_FILES = "Only one file can be sent at a time, in one field `file`."
KEY_FIRST = "Larger ones need the key before them in the form, or in a header."

_OF_THE_PARSER = {
    "Request max total header size exceeded.": LONG_HEADER,
    CUT_OFF: CUT_OFF,
}

logger = logging.getLogger(__name__)

Meta = Mapping[str, Any]  # WSGI's environ, whose values have no type


class Door(Protocol):
    """Lets one caller in, whose plan says how large a file may be.

    `most`: bytes of a file, by the caller's plan; what every plan allows until a caller is known. `greatest`: what the
    largest plan allows.
    """

    @property
    def is_open(self) -> bool: ...

    @property
    def most(self) -> int: ...

    @property
    def greatest(self) -> int: ...

    def open(self, secret: str | None) -> None:
        """Check the key; called once. Raises an ApiError for one that may not upload, and for None: there is none."""


@contextlib.contextmanager
def received(meta: Meta, door: Door) -> Iterator[Incoming]:
    """The part `file` of the form, on disk until the block ends; who wants to keep it moves it away.

    Raises what `door` raises, NoFile (for a form that cannot be read, too), FileTooLarge, UploadFailed (the disk), as
    soon as it can say so: what it leaves unread of the body is for `config.request_body`.
    """
    with contextlib.closing(_Receiver(door, _Body(meta, door))) as receiver:
        yield receiver.read(meta)


def kept_name(name: str) -> str:
    """`name` cut to 255 characters; its extension stays, as Django does it."""
    if len(name) <= MAX_ORIGINAL_LENGTH:
        return name
    suffix = PurePosixPath(name).suffix
    extension = suffix[:MAX_ORIGINAL_LENGTH]
    return name.removesuffix(suffix)[: MAX_ORIGINAL_LENGTH - len(extension)] + extension


class _BodyTooLong(Exception):
    """More came than the largest file that may be sent, and all that may stand beside it."""


class _Body:
    """The request's body. `announced`: its length in bytes; None: it comes in chunks, and ends where it ends."""

    def __init__(self, meta: Meta, door: Door) -> None:
        length = meta.get("CONTENT_LENGTH") or ""
        is_chunked = not length and "HTTP_TRANSFER_ENCODING" in meta
        self.announced = None if is_chunked else int(length) if length.isascii() and length.isdigit() else 0
        self._input = meta["wsgi.input"]
        self._door = door
        self._read = 0

    @property
    def is_too_long(self) -> bool:
        """Whether its length alone says that no file in it can be small enough."""
        return self.announced is not None and self.announced > self._most

    def read(self, size: int) -> bytes:
        left = size if self.announced is None else self.announced - self._read
        if not left:
            return b""
        try:
            data: bytes = self._input.read(min(size, left))
        except (OSError, BadRequest) as error:
            raise MultiPartParserError(CUT_OFF) from error
        if not data and self.announced is not None:
            raise MultiPartParserError(CUT_OFF)
        self._read += len(data)
        if self._read > self._most:
            raise _BodyTooLong
        return data

    @property
    def _most(self) -> int:
        return (self._door.most if self._door.is_open else self._door.greatest) + OVERHEAD


class _Receiver(FileUploadHandler):
    """Takes one part named `file` and nothing else. What it refuses before the door is open is told after."""

    chunk_size = CHUNK

    def __init__(self, door: Door, body: _Body) -> None:
        super().__init__()
        self._door = door
        self._body = body
        self._parser: MultiPartParser | None = None
        self._output: IncomingFile | None = None  # not `file`: Django closes such a one when it skips another part
        self._name = ""
        self._size = 0
        self._is_complete = False
        self._refusal: ApiError | None = None

    def read(self, meta: Meta) -> Incoming:
        """Parse the form. Whatever comes of it, the door was opened, or has raised its error."""
        refusal = self._parse(meta)
        if not self._door.is_open:
            before = self._door.most
            self._door.open(self._key())
            if isinstance(self._refusal, FileTooLarge) and self._door.most > before:
                self._refusal.error += f" {KEY_FIRST}"
        if refusal := self._refusal or refusal:
            raise refusal
        if not self._is_complete or self._output is None:
            raise NoFile
        return Incoming(self._output.path, self._size, self._name)

    def close(self) -> None:
        """Remove what is on the disk."""
        if self._output is None:
            return
        try:
            self._output.close()
        finally:
            self._output.path.unlink(missing_ok=True)

    def new_file(self, field_name: str, file_name: str, *args: Any, **kwargs: Any) -> None:
        """At the start of every part with a file name. Any: what the part says of its type and length."""
        if field_name != "file":
            raise SkipFile
        if not self._door.is_open and ((key := self._key()) or self._body.is_too_long):
            self._door.open(key)
        if self._output is not None or self._refusal is not None:
            self._refuse(NoFile(TWO_FILES))
        if self._body.is_too_long:
            self._refuse(FileTooLarge(self._door.most))
        self._name = kept_name(file_name)
        try:
            self._output = IncomingFile()
        except OSError as error:
            self._refuse_for_the_disk(error)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self._size += len(raw_data)
        if self._size > self._door.most:
            self._refuse(FileTooLarge(self._door.most))
        try:
            if self._output is not None:
                self._output.take(raw_data)
        except OSError as error:
            self._refuse_for_the_disk(error)

    def file_complete(self, file_size: int) -> None:
        """The part ended where the next one begins, or the form ends."""
        self._is_complete = True

    def _parse(self, meta: Meta) -> ApiError | None:
        """What is wrong with the form as a whole."""
        kind, _, parameters = meta.get("CONTENT_TYPE", "").partition(";")
        if kind.strip().lower() != MULTIPART:
            return NoFile(NOT_MULTIPART)
        meta = {**meta, "CONTENT_TYPE": f"{MULTIPART};{parameters}"}  # Django compares it as it is written
        length = 1 if self._body.announced is None else self._body.announced  # Django only asks whether there is any
        try:
            body = cast("Any", self._body)  # has the one method of a stream that the parser calls
            self._parser = MultiPartParser({**meta, "CONTENT_LENGTH": length}, body, [self])
        except (MultiPartParserError, ValueError, TypeError):  # the last two: of the content type's parameters
            return NoFile(NOT_MULTIPART)
        if self._door.is_open and self._body.is_too_long:
            return FileTooLarge(self._door.most)
        try:
            self._parser.parse()
        except _BodyTooLong:
            if not self._door.is_open:
                self._door.open(self._key())
            self._refusal = FileTooLarge(self._door.most)
        except (TooManyFieldsSent, TooManyFilesSent):
            return NoFile(MANY_FIELDS)
        except RequestDataTooBig:
            return NoFile(LONG_FIELDS)
        except MultiPartParserError as error:
            return NoFile(_OF_THE_PARSER.get(str(error), UNREADABLE))
        except (SuspiciousOperation, TypeError):  # TypeError: Python's, where `filename*` and `filename*1` both stand
            logger.info("The form of an upload cannot be read.", exc_info=True)
            return NoFile(UNREADABLE)
        return None

    def _key(self) -> str | None:
        """The first field `key` so far that holds anything.

        Django's parser gathers the fields in an attribute that is none of its interface; there is no other way to those
        that stand before the file. Before it starts, and for an empty body, it has none.
        """
        fields = cast("QueryDict", getattr(self._parser, "_post", QueryDict()))
        return next(filter(None, fields.getlist("key")), None)

    def _refuse(self, error: ApiError) -> NoReturn:
        """Write no more. With the door open that is all; otherwise the key may still come behind the file."""
        self.close()
        self._refusal = self._refusal or error
        if self._door.is_open:
            raise self._refusal
        raise SkipFile

    def _refuse_for_the_disk(self, error: OSError) -> NoReturn:
        logger.error("An upload cannot be written.", exc_info=error)
        self._refuse(UploadFailed())
