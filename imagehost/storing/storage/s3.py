"""Files in an S3-compatible store."""

import contextlib
import io
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.utils.deconstruct import deconstructible
from storages.backends.s3 import S3Storage as StockS3Storage
from storages.utils import setting
from urllib3.exceptions import HTTPError

from imagehost.names import disposition
from imagehost.storing.storage.contract import (
    Entry,
    ObjectMissing,
    Pieces,
    StorageFailed,
    checked,
    incoming_directory,
)

if TYPE_CHECKING:  # types-boto3 is not there in production
    from types_boto3_s3 import S3Client
    from types_boto3_s3.type_defs import GetObjectOutputTypeDef, ListObjectsV2RequestPaginateTypeDef

LINK_SECONDS = 3600
_MISSING = {"NoSuchKey", "NoSuchVersion", "404"}  # not NoSuchBucket, which is a wrong setting
# While a body is read, urllib3 and the socket may raise their own exceptions.
_FAILURES = (ClientError, BotoCoreError, HTTPError, OSError)


@deconstructible(path="imagehost.storing.storage.S3Storage")
class S3Storage(StockS3Storage):
    """A Bucket on S3: each object is one PUT, streamed from the disk, and therefore atomic.

    Options in addition to django-storages': `public_url` (of the bucket, such as the CDN's origin; without it links are
    signed), `cache_seconds`, `connect_timeout`, `read_timeout` (seconds), `total_max_attempts`,
    `checksums` ("when_required" or "when_supported").
    """

    client_config: Config
    public_url: str | None
    cache_seconds: int
    connect_timeout: float
    read_timeout: float
    total_max_attempts: int
    checksums: Literal["when_required", "when_supported"]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        ours = Config(
            connect_timeout=self.connect_timeout,
            read_timeout=self.read_timeout,
            retries={"mode": "standard", "total_max_attempts": self.total_max_attempts},
            request_checksum_calculation=self.checksums,
            response_checksum_validation=self.checksums,
            max_pool_connections=50,
        )
        self.client_config = ours.merge(self.client_config)
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        """Start without a client. Two processes that write to one connection mix their requests, and a forked process
        may have copied a held lock."""
        self._client: S3Client | None = None
        self._client_lock = threading.Lock()

    def get_default_settings(self) -> dict[str, Any]:
        return {
            **super().get_default_settings(),
            "signature_version": setting("AWS_S3_SIGNATURE_VERSION", "s3v4"),  # links too, on any region
            "public_url": None,
            "cache_seconds": setting("IMAGE_CACHE_SECONDS", 3600),
            "connect_timeout": 2,
            "read_timeout": 20,
            "total_max_attempts": 2,
            "checksums": "when_required",  # boto3's default trailers break other S3 servers
        }

    @property
    def client(self) -> "S3Client":
        """The process's client: it is thread-safe, and threads share its connections."""
        with self._client_lock:
            if self._client is None:
                with _failing("S3"):
                    client: S3Client = self._create_session().client(
                        "s3",
                        region_name=self.region_name,
                        use_ssl=self.use_ssl,
                        endpoint_url=self.endpoint_url,
                        config=self.client_config,
                        verify=self.verify,
                    )
                    _set_body_timeout(client, self.read_timeout)
                    self._client = client
            return self._client

    def keep(self, key: str, path: Path, *, mime: str, download_name: str) -> None:
        with _failing(key), path.open("rb") as body:
            self._put(
                key,
                body,
                size=path.stat().st_size,
                ContentType=mime,
                CacheControl=f"public, max-age={self.cache_seconds}, immutable",  # a name has one content
                ContentDisposition=disposition(download_name),
            )

    def prepare(self, descriptor: int, start: int, length: int) -> None:
        """Do nothing: the file is read from the page cache and removed, so it need not reach the disk."""

    def keep_bytes(self, key: str, content: bytes, *, mime: str) -> None:
        with _failing(key):
            self._put(key, content, size=len(content), ContentType=mime, CacheControl="private, no-store")

    def read(self, key: str, start: int, length: int) -> Pieces:
        if not length:
            self._look_for(key)
            return Pieces(io.BytesIO(), 0, failures=())
        with _failing(key):
            answer = self._get(key, Range=f"bytes={start}-{start + length - 1}")
        is_the_range = not start or answer.get("ContentRange", "").startswith(f"bytes {start}-")
        if answer["ContentLength"] < length or not is_the_range:
            answer["Body"].close()
            raise StorageFailed(
                f"{key}: {length} bytes from {start} on are asked for; {answer['ContentLength']} came, of "
                f"{answer.get('ContentRange', 'the beginning')}"
            )
        return Pieces(answer["Body"], length, failures=_FAILURES)

    @contextlib.contextmanager
    def fetched(self, key: str) -> Iterator[Path]:
        with contextlib.ExitStack() as until_then:
            with _failing(key):
                copy = tempfile.NamedTemporaryFile(dir=incoming_directory(), prefix="fetched-")  # noqa: SIM115 - next
                until_then.enter_context(copy)
                answer = self._get(key)
                with contextlib.closing(Pieces(answer["Body"], answer["ContentLength"], failures=_FAILURES)) as pieces:
                    copy.writelines(pieces)
                copy.flush()
            yield Path(copy.name)

    def move(self, source: str, key: str) -> None:
        """Move the object by a copy in the store, with its type and headers."""
        name = self._name(source)
        with _failing(source):
            self.client.copy_object(
                Bucket=self.bucket_name,
                Key=self._name(key),
                CopySource={"Bucket": self.bucket_name, "Key": name},
                **self._parameters(),
            )
            self.client.delete_object(Bucket=self.bucket_name, Key=name)

    def remove(self, key: str) -> None:
        with contextlib.suppress(ObjectMissing), _failing(key):
            self.client.delete_object(Bucket=self.bucket_name, Key=self._name(key))

    def entries(self, prefix: str, *, after: str = "", until: str = "") -> Iterator[Entry]:
        """Yield entries, listed by pages of a thousand; an error may come between two pages."""
        above = f"{self.location}/" if self.location else ""
        asked: ListObjectsV2RequestPaginateTypeDef = {"Bucket": self.bucket_name, "Prefix": above + prefix}
        if after:
            asked["StartAfter"] = above + after
        pages, last = iter(self.client.get_paginator("list_objects_v2").paginate(**asked)), after
        while True:
            with _failing(prefix):
                page = next(pages, None)
            if page is None:
                return
            for found in page.get("Contents", ()):
                key = found["Key"].removeprefix(above)
                if (after or until) and key <= last:
                    raise StorageFailed(f"{prefix}: the store does not list {key} in the order of its keys.")
                if until and key > until:
                    return
                last = key
                yield Entry(key, found["Size"], found["LastModified"])

    def link(
        self, key: str, *, mime: str, download_name: str, is_attachment: bool = False, seconds: int | None = None
    ) -> str | None:
        """Return a link under `public_url`, which has no end, or one signed for an hour."""
        if self.public_url:
            return None if seconds is not None else f"{self.public_url.rstrip('/')}/{quote(self._name(key))}"
        caching = {} if seconds is None else {"ResponseCacheControl": "private, no-cache"}
        with _failing(key):
            return self.client.generate_presigned_url(
                "get_object",
                Params={
                    "Bucket": self.bucket_name,
                    "Key": self._name(key),
                    "ResponseContentType": mime,
                    "ResponseContentDisposition": disposition(download_name, attachment=is_attachment),
                    **caching,
                },
                ExpiresIn=LINK_SECONDS if seconds is None else min(seconds, LINK_SECONDS),
            )

    def part_directories(self) -> tuple[Path, ...]:
        return ()

    def _look_for(self, key: str) -> None:
        """Check that the object exists by its first byte: HEAD does not tell a missing bucket from a missing object."""
        with _failing(key):
            try:
                with contextlib.closing(self._get(key, Range="bytes=0-0")["Body"]) as body:
                    body.read(1)
            except ClientError as error:
                if error.response["Error"]["Code"] != "InvalidRange":  # of an empty object
                    raise

    def _name(self, key: str) -> str:
        """Return the object's name in the bucket, below the option `location`."""
        name: str = self._normalize_name(checked(key))
        return name

    def _put(self, key: str, body: IO[bytes] | bytes, *, size: int, **headers: str) -> None:
        """Store the body as the object. Its known length avoids chunks."""
        self.client.put_object(
            Bucket=self.bucket_name, Key=self._name(key), Body=body, ContentLength=size, **self._parameters(**headers)
        )

    def _parameters(self, **headers: str) -> dict[str, Any]:
        """Return the parameters of a new object, with the options of the settings."""
        acl = {"ACL": self.default_acl} if self.default_acl else {}
        return {**acl, **self.object_parameters, **headers}

    def _get(self, key: str, **parameters: str) -> "GetObjectOutputTypeDef":
        wanted: dict[str, Any] = {"Bucket": self.bucket_name, "Key": self._name(key), **parameters}
        return self.client.get_object(**wanted)


@contextlib.contextmanager
def _failing(what: str) -> Iterator[None]:
    """Raise errors of the client as StorageFailed or ObjectMissing."""
    try:
        yield
    except ClientError as error:
        missing = error.response.get("Error", {}).get("Code") in _MISSING
        raise (ObjectMissing if missing else StorageFailed)(f"{what}: {error}") from error
    except _FAILURES as error:
        raise StorageFailed(f"{what}: {error}") from error


def _set_body_timeout(client: "S3Client", seconds: float) -> None:
    """Wait `seconds` for the store while a body is sent, as for its answer.

    A new connection keeps its connect timeout of two seconds until the body is sent, and a busy disk of the store would
    break off the upload. botocore has no setting for it and no public access to its connections.
    """

    def patient(connection: Any) -> Any:  # botocore is untyped
        class Connection(connection):
            def connect(self) -> None:
                super().connect()
                self.sock.settimeout(seconds)

        return Connection

    session: Any = client._endpoint.http_session  # type: ignore[attr-defined]  # private, and tested
    for scheme, pool in session._pool_classes_by_scheme.items():
        session._pool_classes_by_scheme[scheme] = type("Pool", (pool,), {"ConnectionCls": patient(pool.ConnectionCls)})
