"""Requests to strangers over TLS: the name that was asked for is the one that the certificate must have."""

from __future__ import annotations

import contextlib
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
import trustme
from urllib3.util import parse_url

from infrastructure import outbound
from infrastructure.outbound import NotSent, post
from tests.support import raw_servers
from tests.support.raw_servers import RawServer, answering

pytestmark = pytest.mark.once
NAME = "hooks.example.com"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@dataclass
class Receiver:
    """`names`: what clients asked for in their handshakes (SNI)."""

    server: RawServer
    names: list[str | None] = field(default_factory=list)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def trusted(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@contextlib.contextmanager
def receiver(certificate: trustme.LeafCert, act: raw_servers.Act | None = None) -> Iterator[Receiver]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    certificate.configure_cert(context)
    names: list[str | None] = []
    context.sni_callback = lambda _connection, name, _context: names.append(name)
    with raw_servers.running(act or answering(OK), context) as server:
        yield Receiver(server, names)


def sent(port: int, tls: ssl.SSLContext | None, *, host: str = NAME) -> outbound.Answer:
    """Send to `host`, whose only address is 127.0.0.1."""
    return post(
        f"https://{host}:{port}/in",
        body=b"secret",
        headers={},
        allows_loopback=True,
        lookup=lambda host, port: ["127.0.0.1"],
        tls=tls,
    )


def test_the_handshake_and_the_request_carry_the_name(authority: trustme.CA, trusted: ssl.SSLContext) -> None:
    with receiver(authority.issue_cert(NAME)) as got:
        for host in (NAME, f"{NAME}.", NAME.upper()):
            assert sent(got.server.port, trusted, host=host).body == b"ok"
        assert got.names == [NAME] * 3
        for request in got.server.requests:
            assert f"\r\nHost: {NAME}:{got.server.port}\r\n".encode() in request
            assert request.endswith(b"secret")


def test_an_address_in_the_url_needs_its_certificate(authority: trustme.CA, trusted: ssl.SSLContext) -> None:
    with receiver(authority.issue_cert("127.0.0.1")) as got:
        assert sent(got.server.port, trusted, host="127.0.0.1").status == 200
        assert got.names == [None]
        with pytest.raises(NotSent, match="certificate"):
            sent(got.server.port, trusted)


def test_of_an_answer_in_single_bytes_only_the_beginning_is_read(
    authority: trustme.CA, trusted: ssl.SSLContext
) -> None:
    """Each is a TLS record, which costs as much as one of 16 KB."""
    count = 5000
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % count
    with receiver(authority.issue_cert(NAME), answering(head, *[b"x"] * count)) as got:
        answer = sent(got.server.port, trusted)
    assert answer.status == 200
    assert 1000 < len(answer.body) < count / 2


def test_the_name_at_the_usual_port_has_no_number() -> None:
    target = outbound._Target(parse_url(f"https://{NAME}/"))
    assert (target.host_header, target.port, target.path) == (NAME, 443, "/")


def test_a_certificate_that_is_wrong_is_refused_before_anything_is_sent(
    authority: trustme.CA, trusted: ssl.SSLContext
) -> None:
    ended = datetime.now(UTC) - timedelta(days=1)
    cases = {
        "other": (authority.issue_cert("other.example.com"), trusted, "Hostname mismatch"),
        "parent": (authority.issue_cert("example.com"), trusted, "Hostname mismatch"),
        "address": (authority.issue_cert("127.0.0.1"), trusted, "Hostname mismatch"),
        "expired": (authority.issue_cert(NAME, not_after=ended), trusted, "expired"),
        "stranger": (trustme.CA().issue_cert(NAME), trusted, "issuer"),
        "the authorities of everyone": (authority.issue_cert(NAME), None, "issuer"),
    }
    for certificate, tls, reason in cases.values():
        with receiver(certificate) as got:
            with pytest.raises(NotSent, match=f"The certificate is not accepted: .*{reason}.*"):
                sent(got.server.port, tls)
            assert (got.server.connections, got.server.requests) == (1, [])


def test_what_is_no_tls_fails() -> None:
    """A mail server speaks first."""
    greeting = raw_servers.saying(b"220 mail.example.com ESMTP\r\n")
    with raw_servers.running(greeting) as server, pytest.raises(NotSent, match="TLS handshake"):
        sent(server.port, None)


def test_a_handshake_that_never_ends_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound, "CONNECT_SECONDS", 0.3)
    started = time.monotonic()
    with raw_servers.running(raw_servers.waiting) as server, pytest.raises(NotSent) as caught:
        sent(server.port, None)
    assert str(caught.value) == outbound.LATE_CONNECTION
    assert 0.3 <= time.monotonic() - started < 5


def test_an_encrypted_answer_in_drips_is_late(
    authority: trustme.CA, trusted: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbound, "SECONDS", 0.5)
    drips = answering(b"HTTP/1.1 200 OK\r\n", b"X", 0.05, endlessly=True)
    started = time.monotonic()
    with receiver(authority.issue_cert(NAME), drips) as got, pytest.raises(NotSent) as caught:
        sent(got.server.port, trusted)
    assert str(caught.value) == outbound.LATE_ANSWER
    assert 0.5 <= time.monotonic() - started < 5


def test_a_name_that_leads_to_loopback_is_refused_though_its_certificate_is_valid(
    authority: trustme.CA, trusted: ssl.SSLContext
) -> None:
    with receiver(authority.issue_cert(NAME)) as got:
        with pytest.raises(NotSent, match="not public"):
            post(
                f"https://{NAME}:{got.server.port}/",
                body=b"",
                headers={},
                allows_loopback=False,
                lookup=lambda host, port: ["127.0.0.1"],
                tls=trusted,
            )
        assert got.server.connections == 0
