"""The bodies of uploads, from the API and from pages: each file is written to the disk as it comes in.

Django's parser reads the form, with a `_Receiver` as its only upload handler. `from_api` takes one file of the owner of
a key, which is in a header or in the form; `from_page` takes many files of the signed-in user.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import FileIO
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn, cast

from django.core.exceptions import (
    BadRequest,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.core.files.uploadhandler import FileUploadHandler, SkipFile, StopUpload
from django.http import HttpRequest, QueryDict
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from django.utils import timezone
from django.utils.http import parse_header_parameters

from accounts import authentication, rate_limits
from accounts.errors import KeyRateLimited, KeyRefused
from accounts.models import Permission
from accounts.plans import ALLOWANCES, LARGEST_BODY, LARGEST_FILE
from imagehost.errors import FileTooLarge, NoFile, TooManyUploads, Unauthorized, UploadFailed, UploadsUnavailable
from imagehost.models import MAX_ORIGINAL_LENGTH
from imagehost.receiving import uploads
from imagehost.receiving.uploads import Incoming, Uploaded, UploadOwner
from imagehost.storing import storage
from infrastructure import limits
from infrastructure.limits import LimitsUnavailable
from infrastructure.requests.errors import ApiError

CHUNK = 256 * 1024  # bytes read and written at a time
PREPARE_EVERY = 8 * 1024 * 1024  # bytes between two calls of `Bucket.prepare`
OVERHEAD = 3 * 1024 * 1024  # of a form without its file: Django reads 2.5 MiB of text fields at most

MAX_FILES = 100  # of a page's form; Django would refuse one more
MULTIPART = "multipart/form-data"

NOT_MULTIPART = "The body must be multipart/form-data, with a boundary."
CUT_OFF = "The form ended too early."
UNREADABLE = "The form cannot be read."
LONG_HEADER = (
    "The head of a part of the form is longer than 1024 bytes. A shorter file name or fewer headers in the part help."
)
BARE_LINES = "The lines of the form must end with CR and LF."
COMPRESSED = "The body must not be compressed: leave out Content-Encoding."
MANY_FIELDS = "The form has too many fields."
LONG_FIELDS = "The form's text fields are too long. Is the file sent without a file name?"
TWO_FILES = "Only one file can be sent at a time, in one field `file`."
KEY_FIRST = "Larger ones need the key before them in the form, or in a header."
ONE_FILE = "Exactly one file is sent at a time, in the field `files`."
TOO_MUCH = f"Not every file was taken: a form may have at most {MAX_FILES} files and {LARGEST_BODY} bytes."

_OF_THE_PARSER = {"Request max total header size exceeded.": LONG_HEADER, CUT_OFF: CUT_OFF}
_END_OF_HEAD = b"\r\n\r\n"
_LONGEST_HEAD = 1024 + len(_END_OF_HEAD)  # bytes, of a part's head that Django's parser takes
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"

logger = logging.getLogger(__name__)

Meta = Mapping[str, Any]  # WSGI's environ


@contextlib.contextmanager
def from_api(meta: Meta, secret: str | None, now: datetime) -> Iterator[tuple[UploadOwner, Incoming]]:
    """Yield the owner of the key, and the part `file` of the form, on disk until the block ends.

    `secret`: of a header; where it is empty, the form has the key. The caller moves away what it keeps. Raises
    Unauthorized, the errors of both limits, NoFile (also for a form that cannot be read), FileTooLarge and UploadFailed
    (the disk), as early as possible: `config.web.request_body` reads the rest of the body.
    """
    with contextlib.closing(_ApiReceiver(_ApiBody(meta), now)) as receiver:
        if secret:
            receiver.authorize(secret)
        else:
            authentication.look_at_address()
        yield receiver.read(meta)


@contextlib.contextmanager
def from_page(request: HttpRequest, owner_id: str) -> Iterator[PageReceiver]:
    """Yield the receiver of the request's form, which must be unread; `PageReceiver.read` reads it.

    When the block ends, the files that were not stored are removed.
    """
    receiver = PageReceiver(request, uploads.owner_of(owner_id, timezone.now()))
    request.upload_handlers = [receiver]
    with contextlib.closing(receiver):
        yield receiver


def kept_name(name: str) -> str:
    """Return `name` as it was before a browser escaped it (HTML, "multipart form data"), cut to 255 characters.

    Its extension stays, as in Django. Line breaks go, as all control characters do.
    """
    name = name.replace("%22", '"').replace("%0D", "").replace("%0A", "") or name
    if len(name) <= MAX_ORIGINAL_LENGTH:
        return name
    suffix = PurePosixPath(name).suffix
    extension = suffix[:MAX_ORIGINAL_LENGTH]
    return name.removesuffix(suffix)[: MAX_ORIGINAL_LENGTH - len(extension)] + extension


class IncomingFile(FileIO):
    """A new file of the incoming directory at `path`; the caller removes it. Raises OSError, as `take` does."""

    def __init__(self) -> None:
        descriptor, path = tempfile.mkstemp(prefix="upload-", dir=storage.incoming_directory())
        super().__init__(descriptor, "wb")
        self.path = Path(path)
        self._size = 0
        self._shown = 0

    def take(self, content: bytes) -> None:
        """Append `content`. The bucket prepares every PREPARE_EVERY bytes while the next one comes in."""
        left = memoryview(content)
        while left:
            left = left[self.write(left) :]  # a disk that fills up writes a part of it
        self._size += len(content)
        if self._size - self._shown >= PREPARE_EVERY:
            storage.bucket().prepare(self.fileno(), self._shown, self._size - self._shown)
            self._shown = self._size


@dataclass
class Received:
    """One file of the form. `path`: None where it was refused. `name`: as it was sent, cut to size."""

    name: str
    path: Path | None = None
    size: int = 0
    is_complete: bool = False
    refusal: ApiError | None = None


class _BodyTooLong(Exception):
    """The body is longer than the largest allowed file and the rest of a form."""


class _Body:
    """The request's body. `announced`: its length in bytes; None: it comes in chunks."""

    def __init__(self, stream: Any, announced: int | None) -> None:
        self.announced = announced
        self._stream = stream
        self._read = 0

    def read(self, size: int) -> bytes:
        left = size if self.announced is None else self.announced - self._read
        if not left:
            return b""
        data: bytes = self._stream.read(min(size, left))
        if not data and self.announced is not None:
            raise MultiPartParserError(CUT_OFF)
        self._read += len(data)
        return data


class _ApiBody(_Body):
    """A body of limited length. `largest_file`: bytes that its owner may send; of any plan until the owner is known."""

    def __init__(self, meta: Meta) -> None:
        length = meta.get("CONTENT_LENGTH") or ""
        is_chunked = not length and "HTTP_TRANSFER_ENCODING" in meta
        super().__init__(
            meta["wsgi.input"],
            None if is_chunked else int(length) if length.isascii() and length.isdigit() else 0,
        )
        self.largest_file = LARGEST_FILE

    @property
    def is_too_long(self) -> bool:
        """Whether its announced length is enough to show that the file is too large."""
        return self.announced is not None and self.announced > self.largest_file + OVERHEAD

    def read(self, size: int) -> bytes:
        try:
            data = super().read(size)
        except (OSError, BadRequest) as error:
            raise MultiPartParserError(CUT_OFF) from error
        if self._read > self.largest_file + OVERHEAD:
            raise _BodyTooLong
        return data


class _Utf8Heads:
    """The body of a form, whose heads are UTF-8: replacement characters take the place of other bytes in them.

    Old programs send file names in Latin-1 or Shift-JIS. The content of the parts stays as it is. `has_bare_lines`: a
    head begins with only a line feed. `is_cut_off`: a part has begun, and the form has not ended so far.
    """

    def __init__(self, body: Any, boundary: bytes) -> None:
        self._body = body
        self._separator = b"--" + boundary
        self._held_back = b""  # the beginning of a separator or of a head
        self.has_bare_lines = self.is_cut_off = False

    def read(self, size: int) -> bytes:
        while data := self._body.read(size):
            if ready := self._ready(self._held_back + data):
                return ready
        rest, self._held_back = self._held_back, b""
        return rest

    def _ready(self, data: bytes) -> bytes:
        """Return what can be passed on; the rest is held back."""
        ready, position = [], 0
        while (found := data.find(self._separator, position)) >= 0:
            start = found + len(self._separator)
            self.has_bare_lines |= data.startswith(b"\n", start)
            self.is_cut_off = not data.startswith(b"--", start)
            end = data.find(_END_OF_HEAD, start, start + _LONGEST_HEAD)
            if end < 0 and len(data) - start < _LONGEST_HEAD:
                break
            end = max(end, start)  # a head that is too long is left to the parser
            ready += [data[position:start], _in_utf8(data[start:end])]
            position = end
        else:
            found = data.find(b"-", max(position, len(data) - len(self._separator) + 1))
            found = len(data) if found < 0 else found  # nothing is held back: the next bytes are not copied
        self._held_back = data[found:]
        return b"".join([*ready, data[position:found]])


def _in_utf8(head: bytes) -> bytes:
    """Return the head in UTF-8. The second byte of a character in Shift-JIS may be a backslash, which would end a
    folder's name."""
    text = head.decode(errors="replace")
    return text.replace(f"{_UNKNOWN}\\", _UNKNOWN).encode() if text.encode() != head else head


class _Form(MultiPartParser):
    """Django's parser, which leaves entities of HTML in file names as they are."""

    def sanitize_file_name(self, file_name: str) -> str | None:
        """Return the name without folders and control characters; None where nothing of it is left."""
        last = file_name.replace("\\", "/").rpartition("/")[2]
        name = "".join(char for char in last if char.isprintable())
        return None if name in {"", ".", ".."} else name


class _Receiver(FileUploadHandler):
    """Writes the files of one field to the disk, each up to `max_size` bytes."""

    chunk_size = CHUNK

    def __init__(self, request: HttpRequest | None, max_size: int) -> None:
        super().__init__(request)
        self._max_size = max_size
        self._received: list[Received] = []
        self._output: IncomingFile | None = None  # not `file`, which Django closes when it skips another part

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        received = self._received[-1]
        received.size += len(raw_data)
        if received.size > self._max_size:
            limits.REFUSED.labels("plan-file-size").inc()
            self._refuse(FileTooLarge(self._max_size))
        try:
            if self._output is not None:
                self._output.take(raw_data)
        except OSError as error:
            self._refuse_for_the_disk(error)

    def file_complete(self, file_size: int) -> None:
        """End the part where the next one begins, or the form ends."""
        self._close_output()
        self._received[-1].is_complete = True

    def close(self) -> None:
        """Remove the files that were not stored."""
        try:
            self._close_output()
        finally:
            for received in self._received:
                self._remove(received)

    def _begin(self) -> None:
        """Open a file for the newest part."""
        try:
            self._output = IncomingFile()
        except OSError as error:
            self._refuse_for_the_disk(error)
        self._received[-1].path = self._output.path

    def _refuse(self, error: ApiError) -> NoReturn:
        """Remove what came of the newest file, and skip the rest of it."""
        self._close_output()
        self._remove(self._received[-1])
        self._received[-1].refusal = self._received[-1].refusal or error
        raise SkipFile

    def _refuse_for_the_disk(self, error: OSError) -> NoReturn:
        logger.error("An upload cannot be written to the incoming directory: %s.", error)
        self._refuse(UploadFailed())

    def _close_output(self) -> None:
        if self._output is not None:
            self._output.close()
            self._output = None

    def _remove(self, received: Received) -> None:
        if received.path is not None:
            received.path.unlink(missing_ok=True)
            received.path = None


class PageReceiver(_Receiver):
    """Takes all parts named `files`. Refusing one file does not refuse the rest."""

    def __init__(self, request: HttpRequest, owner: UploadOwner) -> None:
        super().__init__(request, owner.allowance.max_file_size)
        self._owner = owner
        self.is_too_much = False
        self._is_parsing = False

    def read(self) -> Sequence[Received]:
        """Return the files in the form's order. `is_too_much` is True afterwards where there were more."""
        if self.request is not None:
            len(self.request.POST)  # parses the form once
        return self._received

    def store(self, received: Received, *, lifetime: timedelta | None = None) -> Uploaded | ApiError:
        """Store a file as the API does, or return why it is refused."""
        if received.path is None or not received.is_complete:
            return received.refusal or NoFile(CUT_OFF)
        try:
            if seconds_left := limits.hit(rate_limits.PAGE_UPLOADS.of(self._owner.pk)):
                return TooManyUploads(seconds_left)
            file = Incoming(received.path, received.size, received.name, lifetime)
            return uploads.store(self._owner, file, now=timezone.now())
        except LimitsUnavailable:
            logger.exception("The limit store does not answer.")
            return UploadsUnavailable()
        except ApiError as refusal:
            return refusal

    def handle_raw_input(
        self,
        input_data: Any,
        META: dict[str, Any],  # noqa: N803 - Django's name for it
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> Any:
        """Parse the form instead of Django, which would accept a body that broke off as complete."""
        if self._is_parsing:
            return None
        self._is_parsing = True
        self.is_too_much = content_length > LARGEST_BODY
        body: Any = _Utf8Heads(_Body(input_data, content_length), cast("bytes", boundary))  # has the one method needed
        return _Form(META, body, [self], encoding).parse()

    def new_file(self, field_name: str, file_name: str, *args: Any, **kwargs: Any) -> None:
        super().new_file(field_name, file_name, *args, **kwargs)
        self._close_output()
        self.is_too_much |= len(self._received) >= MAX_FILES
        if self.is_too_much:
            raise StopUpload(connection_reset=True)
        if field_name != "files":
            raise SkipFile
        self._received.append(Received(kept_name(file_name)))
        self._begin()


class _ApiReceiver(_Receiver):
    """Takes one part named `file`. Where the form has the key, a refusal before it is answered after it.

    Until the owner is known, a file may have the size of the smallest plan.
    """

    def __init__(self, body: _ApiBody, now: datetime) -> None:
        super().__init__(None, min(allowance.max_file_size for allowance in ALLOWANCES.values()))
        self._body, self._now = body, now
        self._owner: UploadOwner | None = None
        self._heads: _Utf8Heads | None = None
        self._parser: _Form | None = None
        self._refusal: ApiError | None = None

    def authorize(self, secret: str | None) -> UploadOwner:
        """Count the request; return the owner of its key. Raises Unauthorized, also for None; the errors of both
        limits."""
        try:
            caller = authentication.check(secret, permission=Permission.IMAGEHOST_UPLOAD, now=self._now)
        except KeyRateLimited:
            raise
        except KeyRefused as refused:
            raise Unauthorized(refused.error) from refused
        self._owner = uploads.owner_of(caller.owner_id, self._now)
        self._max_size = self._body.largest_file = self._owner.allowance.max_file_size
        return self._owner

    def read(self, meta: Meta) -> tuple[UploadOwner, Incoming]:
        """Parse the form. In every case the key is checked, or its error raised."""
        refusal = self._parse(meta)
        owner, before = self._owner, self._max_size
        if owner is None:
            owner = self.authorize(self._key())
            if isinstance(self._refusal, FileTooLarge) and self._max_size > before:
                self._refusal.error += f" {KEY_FIRST}"
        if refusal := self._refusal or refusal:
            if isinstance(refusal, FileTooLarge):
                limits.REFUSED.labels("plan-file-size").inc()
            raise refusal
        received = next(iter(self._received), Received(""))
        if received.path is None or not received.is_complete:
            raise self._no_file(meta)
        return owner, Incoming(received.path, received.size, received.name)

    def new_file(self, field_name: str, file_name: str, *args: Any, **kwargs: Any) -> None:
        """Begin a part with a file name."""
        if field_name != "file":
            raise SkipFile
        if self._owner is None and ((key := self._key()) or self._body.is_too_long):
            self.authorize(key)
        if self._received:
            self._refuse(NoFile(TWO_FILES))
        self._received.append(Received(kept_name(file_name)))
        if self._body.is_too_long:
            self._refuse(FileTooLarge(self._max_size))
        self._begin()

    def _parse(self, meta: Meta) -> ApiError | None:
        """Parse the form. Return the error of the form as a whole."""
        kind, _, parameters = meta.get("CONTENT_TYPE", "").partition(";")
        if kind.strip().lower() != MULTIPART:
            return NoFile(NOT_MULTIPART)
        meta = {**meta, "CONTENT_TYPE": f"{MULTIPART};{parameters}"}  # Django compares it case-sensitively
        length = 1 if self._body.announced is None else self._body.announced  # Django only checks that it is not 0
        try:
            _, options = parse_header_parameters(meta["CONTENT_TYPE"])
            self._heads = _Utf8Heads(self._body, options.get("boundary", "").encode())
            body = cast("Any", self._heads)  # has the one method of a stream that the parser calls
            self._parser = _Form({**meta, "CONTENT_LENGTH": length}, body, [self])
        except (MultiPartParserError, ValueError, TypeError):  # the last two: of the content type's parameters
            return NoFile(NOT_MULTIPART)
        if self._owner is not None and self._body.is_too_long:
            return FileTooLarge(self._max_size)
        try:
            self._parser.parse()
        except _BodyTooLong:
            if self._owner is None:
                self.authorize(self._key())
            self._refusal = FileTooLarge(self._max_size)
        except (TooManyFieldsSent, TooManyFilesSent):
            return NoFile(MANY_FIELDS)
        except RequestDataTooBig:
            return NoFile(LONG_FIELDS)
        except MultiPartParserError as error:
            sentence = _OF_THE_PARSER.get(str(error), UNREADABLE)
            return NoFile(sentence) if sentence == CUT_OFF else self._no_file(meta, sentence)
        except (SuspiciousOperation, TypeError):  # TypeError: before Python 3.14, for both `filename*` and `filename*1`
            logger.info("The form of an upload cannot be read.", exc_info=True)
            return NoFile(UNREADABLE)
        return None

    def _no_file(self, meta: Meta, otherwise: str = "") -> NoFile:
        """Return why a form that was read has no file: what is wrong with the whole of it, else `otherwise`."""
        if meta.get("HTTP_CONTENT_ENCODING"):
            return NoFile(COMPRESSED)
        if self._heads is not None and self._heads.has_bare_lines:
            return NoFile(BARE_LINES)
        return NoFile(CUT_OFF if self._heads is not None and self._heads.is_cut_off else otherwise)

    def _key(self) -> str | None:
        """Return the first field `key` so far that is not empty.

        Django's parser keeps the fields in a private attribute, the only access to fields before the file. It is
        missing before the parser starts, and for an empty body.
        """
        fields = cast("QueryDict", getattr(self._parser, "_post", QueryDict()))
        return next(filter(None, fields.getlist("key")), None)

    def _refuse(self, error: ApiError) -> NoReturn:
        """Stop writing. Before authorization the parser goes on, as the key may follow the file."""
        self.close()
        self._refusal = self._refusal or error
        if self._owner is not None:
            raise self._refusal
        raise SkipFile
