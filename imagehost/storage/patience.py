"""How long a store may pause while it is sent something."""

from typing import TYPE_CHECKING, Any

from botocore.awsrequest import AWSHTTPConnection, AWSHTTPConnectionPool, AWSHTTPSConnection, AWSHTTPSConnectionPool

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client


def let_it_pause(client: "S3Client", seconds: float) -> None:
    """While a body goes out, wait as long for the store as for its answer.

    A new connection keeps its connect timeout until the body is sent: two seconds in which a busy disk does not take
    the next block would break off the upload. botocore has no setting for it and no public way to its connections.
    """

    class Connection(AWSHTTPConnection):
        def connect(self) -> None:
            super().connect()
            self.sock.settimeout(seconds)

    class SecureConnection(AWSHTTPSConnection):
        def connect(self) -> None:
            super().connect()
            self.sock.settimeout(seconds)

    class Pool(AWSHTTPConnectionPool):
        ConnectionCls = Connection

    class SecurePool(AWSHTTPSConnectionPool):
        ConnectionCls = SecureConnection

    session: Any = client._endpoint.http_session  # type: ignore[attr-defined]  # private, and tested
    session._pool_classes_by_scheme.update(http=Pool, https=SecurePool)
