"""Buckets on the S3 server of the tests."""

import atexit
import contextlib
import copy
import functools
import secrets
from collections.abc import Iterator
from typing import Any

from imagehost.storing.storage import S3Storage
from tests.support import object_store
from tests.support.object_store import ObjectStore


@functools.cache
def server() -> ObjectStore:
    """The bed's; without the bed, one of this process's own."""
    if store := object_store.given():
        return store
    until_exit = contextlib.ExitStack()
    store = until_exit.enter_context(object_store.running())
    atexit.register(until_exit.close)
    return store


def options(store: ObjectStore, **changes: Any) -> dict[str, Any]:
    """OPTIONS of an S3Storage on a bucket that does not exist yet."""
    return {
        "bucket_name": f"bucket-{secrets.token_hex(8)}",
        "endpoint_url": store.endpoint_url,
        "access_key": store.access_key,
        "secret_key": store.secret_key,
        "region_name": "us-east-1",
        "proxies": {},  # none of the machine's
        **changes,
    }


def fresh_s3_storage() -> S3Storage:
    """A storage on an empty bucket of its own, with the client that the whole process shares."""
    storage = copy.copy(_first())
    storage.bucket_name = options(server())["bucket_name"]
    storage.client.create_bucket(Bucket=storage.bucket_name)
    return storage


@contextlib.contextmanager
def own_s3_storage(store: ObjectStore, **changes: Any) -> Iterator[S3Storage]:
    """A storage with a client of its own, on a bucket that does not exist yet. `changes` are options."""
    storage = S3Storage(**options(store, **changes))
    try:
        yield storage
    finally:
        storage.client.close()


@functools.cache
def _first() -> S3Storage:
    storage = S3Storage(**options(server()))
    atexit.register(storage.client.close)  # making a client takes a quarter of a second
    return storage
