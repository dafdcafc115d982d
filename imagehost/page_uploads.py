"""The files of a form on a page, whose sender is signed in: each goes to the disk as it comes in, and nowhere else.

Django's parser does the parsing, with this as its one upload handler. A file that is refused does not take the others
along.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from django.core.files.uploadhandler import FileUploadHandler, SkipFile, StopUpload
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParser, MultiPartParserError

from accounts import limits
from accounts.errors import ApiError
from accounts.limits import LimitsUnavailable
from accounts.plans import LARGEST_BODY, Allowance
from imagehost import uploads
from imagehost.errors import FileTooLarge, NoFile, UploadFailed, UploadsUnavailable
from imagehost.incoming import CHUNK, CUT_OFF, kept_name
from imagehost.incoming_file import IncomingFile
from imagehost.uploads import Incoming, Uploaded

FIELD = "files"
MOST_FILES = 100  # of a form; Django would refuse one more

ONE_FILE = "Exactly one file is sent at a time, in the field `files`."
TOO_MUCH = f"Not every file was taken: a form may have at most {MOST_FILES} files and {LARGEST_BODY} bytes."

logger = logging.getLogger(__name__)


class TooManyUploads(ApiError):
    """The user has sent as many files as `limits.PAGE_UPLOADS` allows."""

    status = 429
    code = "RATE_LIMITED"

    def __init__(self, seconds_left: int) -> None:
        super().__init__(seconds_left)
        self.seconds_left = seconds_left
        self.error = f"At most {limits.PAGE_UPLOADS.amount} files a minute. Try again in {seconds_left} s."

    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.seconds_left)}


@dataclass
class Received:
    """One file of the form. `path`: where it lies, None where it is refused. `name`: as it was sent, cut to size."""

    name: str
    path: Path | None = None
    size: int = 0
    refusal: ApiError | None = None


class _Body:
    """The request's body. `length`: in bytes, as announced. Any: a stream."""

    def __init__(self, stream: Any, length: int) -> None:
        self._stream = stream
        self._left = length

    def read(self, size: int) -> bytes:
        data: bytes = self._stream.read(size)
        self._left -= len(data)
        if not data and self._left > 0:
            raise MultiPartParserError(CUT_OFF)
        return data


class Receiver(FileUploadHandler):
    """Gathers the files of the field `files`; no more of one than a plan allows."""

    chunk_size = CHUNK

    def __init__(self, request: HttpRequest, most: int) -> None:
        super().__init__(request)
        self.is_too_much = False
        self._received: list[Received] = []
        self._most = most
        self._is_parsing = False
        self._output: IncomingFile | None = None

    def read(self) -> Sequence[Received]:
        """The files, in the form's order. `is_too_much` says afterwards that there were more."""
        if self.request is not None:
            len(self.request.POST)  # parses the form, if nobody has done so
        return self._received

    def handle_raw_input(
        self,
        input_data: Any,
        META: dict[str, Any],  # noqa: N803 - Django's name for it
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> Any:
        """Parses the form in Django's place, which would take a body that broke off for a whole one. Any: Django's."""
        if self._is_parsing:
            return None
        self._is_parsing = True
        self.is_too_much = content_length > LARGEST_BODY
        body: Any = _Body(input_data, content_length)  # has the one method of a stream that the parser calls
        return MultiPartParser(META, body, [self], encoding).parse()

    def new_file(self, field_name: str, file_name: str, *args: Any, **kwargs: Any) -> None:
        """Any: what the part says of its type and length."""
        super().new_file(field_name, file_name, *args, **kwargs)
        self._close()
        self.is_too_much |= len(self._received) >= MOST_FILES
        if self.is_too_much:
            raise StopUpload(connection_reset=True)
        if field_name != FIELD:
            raise SkipFile
        received = Received(kept_name(file_name))
        self._received.append(received)
        try:
            self._output = IncomingFile()
        except OSError as error:
            self._refuse_for_the_disk(received, error)
        received.path, received.refusal = self._output.path, NoFile(CUT_OFF)  # until it has come whole

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        received = self._received[-1]
        received.size += len(raw_data)
        if received.size > self._most:
            self._refuse(received, FileTooLarge(self._most))
        try:
            if self._output is not None:
                self._output.take(raw_data)
        except OSError as error:
            self._refuse_for_the_disk(received, error)

    def file_complete(self, file_size: int) -> None:
        self._close()
        self._received[-1].refusal = None

    def close(self) -> None:
        """Remove what is left on the disk."""
        self._close()
        for received in self._received:
            if received.path is not None:
                received.path.unlink(missing_ok=True)

    def _refuse(self, received: Received, error: ApiError) -> NoReturn:
        self._close()
        received.refusal = error
        if received.path is not None:
            received.path.unlink(missing_ok=True)
            received.path = None
        raise SkipFile

    def _refuse_for_the_disk(self, received: Received, error: OSError) -> NoReturn:
        logger.error("An upload cannot be written.", exc_info=error)
        self._refuse(received, UploadFailed())

    def _close(self) -> None:
        if self._output is not None:
            self._output.close()
            self._output = None


@contextlib.contextmanager
def receiving(request: HttpRequest, allowance: Allowance) -> Iterator[Receiver]:
    """Take the files of the request's form, which nobody may have read before; `Receiver.read` reads it.

    When the block ends, what was not stored is removed.
    """
    receiver = Receiver(request, allowance.max_file_size)
    request.upload_handlers = [receiver]
    with contextlib.closing(receiver):
        yield receiver


def store(*, owner_id: str, received: Received, allowance: Allowance, now: datetime) -> Uploaded | ApiError:
    """Keep a file that came in, as the API does, or say why not: its refusal, TooManyUploads, those of `uploads`."""
    if received.refusal is not None or received.path is None:
        return received.refusal or UploadFailed()
    incoming = Incoming(received.path, received.size, received.name)
    try:
        _count(owner_id)
        return uploads.store(owner_id=owner_id, incoming=incoming, allowance=allowance, now=now)
    except ApiError as refusal:
        return refusal


def _count(owner_id: str) -> None:
    """Each file costs a look at its content."""
    try:
        seconds_left = limits.hit(limits.PAGE_UPLOADS.of(owner_id))
    except LimitsUnavailable:
        logger.exception("The limit store does not answer.")
        raise UploadsUnavailable from None
    if seconds_left:
        raise TooManyUploads(seconds_left)
