"""One POST to an address that a stranger chose: public addresses only, no redirect, bounded in time and size.

A name is resolved once. Every address that it has must be public, and the connection goes to one of these addresses
itself, so a name server that gives another answer a second later changes nothing. The certificate is checked for the
name. What is sent leaves only after that check. `http_client` calls our own services and knows none of this.
"""

from __future__ import annotations

import functools
import http.client
import io
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from django.conf import settings
from urllib3.exceptions import LocationParseError
from urllib3.util import Url, parse_url

CONNECT_SECONDS = 5.0  # for the name, the connection and the TLS handshake together
SECONDS = 10.0  # for everything, from the start
MOST_BYTES = 256 * 1024  # of the answer's body; the rest is not read
MAX_LENGTH = 512  # characters of a URL
_MOST_RECEIVED = 2 * MOST_BYTES  # head, body and the marks between chunks
_MOST_READS = 2000  # TLS records or segments that this takes; bytes one by one would keep a processor busy
_AT_ONCE = 16 * 1024
_ADDRESSES_TRIED = 4  # of a name that has more
# Names that are looked up at once, also those whose caller has given up. A resolver tries three servers twice,
# 5 seconds each, and a caller waits CONNECT_SECONDS: so many that hang need more callers at once than a worker has.
_LOOKUPS = 256

# The registries of special addresses (RFC 6890 and its updates). `is_global` of Python 3.11 lets some of them pass.
_NOT_PUBLIC_4 = [
    IPv4Network(text)
    for text in (
        "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 "
        "192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 "
        "168.63.129.16/32"  # the host below a machine of Azure: public by its number alone
    ).split()
]
# Outside of this network are loopback, ULA, link-local, multicast, mapped and compatible IPv4 addresses and NAT64.
_UNICAST_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = [
    IPv6Network("2001::/23"),  # protocols: Teredo, benchmarks, ORCHID
    IPv6Network("2001:db8::/32"),  # documentation
    IPv6Network("2002::/16"),  # 6to4: an IPv4 address is inside
    IPv6Network("3fff::/20"),  # documentation
]
_LOOPBACK = [ip_network("127.0.0.0/8"), ip_network("::1/128")]
_LOCALHOST = ["127.0.0.1", "::1"]  # what the name stands for, without asking a name server (RFC 6761 §6.3)

_PRINTABLE = re.compile(r"[\x21-\x5b\x5d-\x7e]*\Z")
_START = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#]+)", re.IGNORECASE)
_NAME = re.compile(r"(?=.{1,253}\Z)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")
_NUMBER = re.compile(r"([0-9]+|0x[0-9a-f]*)\Z")  # a last label that resolvers read as a part of an IPv4 address

Address = IPv4Address | IPv6Address
# Takes a host and a port, returns the addresses in the order of preference. OSError: there is none.
Lookup = Callable[[str, int], Sequence[str]]

NOT_PUBLIC = "The name leads to an address that is not public."
NOT_FOUND = "The name of the host cannot be found."
LATE_NAME = "The name of the host could not be looked up in time."
LATE_CONNECTION = f"There was no connection within {CONNECT_SECONDS:g} seconds."
LATE_ANSWER = f"There was no complete answer within {SECONDS:g} seconds."
BROKEN = "The connection ended before the answer was complete."
NOT_HTTP = "The answer is not valid HTTP."
NO_CONNECTION = "No connection could be made."


class NotSent(Exception):
    """There is no answer. The message is a sentence for the owner of the URL."""


@dataclass(frozen=True)
class Answer:
    """`body`: at most MOST_BYTES, not decompressed. `headers`: their names are in lower case."""

    status: int
    body: bytes
    seconds: float
    headers: Mapping[str, str]


def post(
    url: str,
    *,
    body: bytes,
    headers: Mapping[str, str],
    allows_loopback: bool,
    lookup: Lookup | None = None,
    tls: ssl.SSLContext | None = None,
) -> Answer:
    """Send `body` to `url` and return the answer, of any status. Redirects are answers and are not followed.

    NotSent: the URL is refused, its name leads to an address that is not public, or no complete answer came in time.
    A body over MOST_BYTES is cut. `allows_loopback`: addresses of this machine's loopback pass, too. `lookup` asks the
    name servers, and `tls` holds the authorities that are trusted; tests give others.
    """
    started = time.monotonic()
    problem = problem_of(url, allows_loopback=allows_loopback)
    if problem is not None:
        raise NotSent(problem)
    target = _Target(parse_url(url))
    connect_until = started + CONNECT_SECONDS
    addresses = _addresses(target, lookup or ask_name_servers, connect_until)
    if not all(_may_be_reached(ip_address(address), allows_loopback=allows_loopback) for address in addresses):
        raise NotSent(NOT_PUBLIC)
    with _connected(addresses, target.port, connect_until) as plain:
        context = (tls or _trusted()) if target.is_https else None
        with _encrypted(plain, context, target.host, connect_until) as connection:
            answer = _exchanged(_Wire(connection, started + SECONDS), target, body, headers)
    return Answer(answer.status, answer.body, time.monotonic() - started, answer.headers)


def problem_of(url: str, *, allows_loopback: bool) -> str | None:
    """Return why nothing is sent to `url` and how to mend it, or None. No name is looked up.

    Ports: 443 and those from 1024 on. The others below 1024 belong to other protocols, such as mail and SSH, which this
    service must not be made to call. Those above are common for receivers, and a server of another protocol gets no
    more than the start of a TLS handshake, since the request leaves after the check of the certificate.
    """
    if len(url) > MAX_LENGTH:
        return f"The URL has {len(url)} characters; at most {MAX_LENGTH} are allowed."
    if not _PRINTABLE.match(url):
        return (
            "The URL contains white space, a backslash or a character outside ASCII; percent-encode it, and write a "
            "host in its xn-- form."
        )
    start = _START.match(url)
    if start is None:
        return "Write the whole URL, beginning with https://."
    if "#" in url:
        return "Remove the fragment (everything from # on)."
    if "@" in start["authority"]:
        return "Remove the user name or password before the host."
    try:
        parsed = parse_url(url)
    except LocationParseError:
        parsed = Url()
    if not parsed.host or "%" in start["authority"]:
        return "The host or the port cannot be read; write https://host/path or https://host:port/path."
    return _problem_of_target(_Target(parsed), allows_loopback=allows_loopback)


def _problem_of_target(target: _Target, *, allows_loopback: bool) -> str | None:
    if target.is_loopback and not allows_loopback:
        return "The host is this service's own machine; write one that is public."
    if not target.is_https and not (target.is_loopback and allows_loopback):
        return "Use https; plain http is not encrypted."
    if target.address is not None:
        if not _may_be_reached(target.address, allows_loopback=allows_loopback):
            return "The host is an address that is not public."
    elif not target.is_loopback and (not _NAME.match(target.host) or _NUMBER.match(target.host.rpartition(".")[2])):
        return "The host is not a full name, such as hooks.example.com, or an address."
    if target.port != target.usual_port and not 1024 <= target.port <= 65535:
        return "Use port 443 or one from 1024 to 65535; the others belong to other protocols."
    return None


class _Target:
    """What a URL names. `host`: in lower case, without brackets and the dot at the end."""

    def __init__(self, url: Url) -> None:
        self.host = (url.host or "").lower().strip("[]").removesuffix(".")
        self.is_https = url.scheme == "https"
        self.usual_port = 443 if self.is_https else 80
        self.port = self.usual_port if url.port is None else url.port
        self.path = url.request_uri
        self.address: Address | None = None
        try:
            self.address = ip_address(self.host)
        except ValueError:
            self.is_loopback = self.is_localhost = self.host.rpartition(".")[2] == "localhost"
        else:
            self.is_loopback, self.is_localhost = _is_loopback(self.address), False

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == self.usual_port else f"{host}:{self.port}"


def _is_loopback(address: Address) -> bool:
    return any(address in network for network in _LOOPBACK)


def _may_be_reached(address: Address, *, allows_loopback: bool) -> bool:
    """Return whether `address` is a public one of a single machine, or an allowed one of the loopback."""
    if allows_loopback and _is_loopback(address):
        return True
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    # A zone id (fe80::1%eth0) names an interface of this machine.
    is_unicast = address.scope_id is None and address in _UNICAST_6
    return is_unicast and not any(address in network for network in _NOT_PUBLIC_6)


def ask_name_servers(host: str, port: int) -> list[str]:
    """Return the addresses of `host`. The dot makes the name complete, so no domain of this machine is appended."""
    found = socket.getaddrinfo(f"{host}.", port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _addresses(target: _Target, lookup: Lookup, until: float) -> Sequence[str]:
    if target.address is not None:
        return [str(target.address)]
    if target.is_localhost:
        return _LOCALHOST
    return _lookups.answer(lookup, target.host, target.port, until)


class _Lookups:
    """Lookups in threads of their own, since `getaddrinfo` takes no time limit.

    A caller waits until its time is over; the thread ends when the resolver gives up. One name has one thread at most,
    and all names have _LOOKUPS: where so many hang, a further one fails at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[tuple[Lookup, str, int], Future[Sequence[str]]] = {}

    def answer(self, lookup: Lookup, host: str, port: int, until: float) -> Sequence[str]:
        key = (lookup, host, port)
        with self._lock:
            future = self._running.get(key)
            if future is None:
                if len(self._running) >= _LOOKUPS:
                    raise NotSent(LATE_NAME)
                future = Future()
                threading.Thread(target=self._run, args=(key, future), name="lookup", daemon=True).start()
                self._running[key] = future
        try:
            addresses = future.result(max(0.0, until - time.monotonic()))
        except TimeoutError:
            raise NotSent(LATE_NAME) from None
        except (OSError, UnicodeError):
            raise NotSent(NOT_FOUND) from None
        if not addresses:
            raise NotSent(NOT_FOUND)
        return addresses

    def _run(self, key: tuple[Lookup, str, int], future: Future[Sequence[str]]) -> None:
        lookup, host, port = key
        addresses: Sequence[str] = []
        problem: Exception | None = None
        try:
            addresses = lookup(host, port)
        except Exception as error:  # it is raised where the answer is awaited
            problem = error
        with self._lock:
            del self._running[key]  # before the answer is there: whoever comes later asks again
        if problem is None:
            future.set_result(addresses)
        else:
            future.set_exception(problem)


_lookups = _Lookups()


def _connected(addresses: Sequence[str], port: int, until: float) -> socket.socket:
    """Return a connection to the first address that takes one; each has its share of the time that is left."""
    problem = NO_CONNECTION
    tried = addresses[:_ADDRESSES_TRIED]
    for number, address in enumerate(tried):
        left = until - time.monotonic()
        if left <= 0:
            break
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        connection = socket.socket(family, socket.SOCK_STREAM)
        try:
            connection.settimeout(left / (len(tried) - number))
            connection.connect((address, port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        except TimeoutError:
            problem = LATE_CONNECTION
        except ConnectionRefusedError:
            problem = "The connection was refused."
        except ConnectionResetError:
            problem = BROKEN
        except OSError:
            problem = NO_CONNECTION
        except BaseException:
            connection.close()
            raise
        connection.close()
    raise NotSent(problem)


@functools.cache
def _trusted() -> ssl.SSLContext:
    """Return the authorities that `http_client` trusts, too. Read once: it takes tens of milliseconds."""
    from requests.utils import DEFAULT_CA_BUNDLE_PATH  # where something is sent: programs without pages start lean

    context = ssl.create_default_context(cafile=DEFAULT_CA_BUNDLE_PATH)
    context.set_alpn_protocols(["http/1.1"])
    return context


def _encrypted(plain: socket.socket, context: ssl.SSLContext | None, host: str, until: float) -> socket.socket:
    """Return the connection after the handshake and the check of the certificate; `plain` itself for http."""
    if context is None:
        return plain
    try:
        plain.settimeout(max(0.001, until - time.monotonic()))  # of the handshake as a whole
        return context.wrap_socket(plain, server_hostname=host)
    except ssl.SSLCertVerificationError as error:
        raise NotSent(f"The certificate is not accepted: {error.verify_message}.") from None
    except TimeoutError:
        raise NotSent(LATE_CONNECTION) from None
    except (OSError, ValueError):  # ValueError: the name is none that a certificate could have
        raise NotSent("The TLS handshake failed.") from None


class _TooLong(Exception):
    """More was received than is read of any answer."""


class _Wire(io.RawIOBase):
    """The connection as `http.client` uses it: every step of it ends at one time, however small the pieces are."""

    def __init__(self, connection: socket.socket, ends_at: float) -> None:
        self._connection, self._ends_at = connection, ends_at
        self._received = self._reads = 0

    def _limit(self) -> None:
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)

    def sendall(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self._limit()
            rest = rest[self._connection.send(rest) :]

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self, _AT_ONCE)

    def close(self) -> None:
        """Do nothing: `http.client` closes what it writes to before it has read the answer. The owner closes."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Any: a buffer, which has no type in Python 3.11."""
        self._limit()
        received = self._connection.recv_into(buffer)
        self._received += received
        self._reads += 1
        if self._received > _MOST_RECEIVED or self._reads > _MOST_READS:
            raise _TooLong
        return received


def _exchanged(wire: _Wire, target: _Target, body: bytes, headers: Mapping[str, str]) -> Answer:
    """Send the request and return the answer; its `seconds` are 0."""
    client = http.client.HTTPConnection(target.host, target.port)
    client.auto_open = 0  # it has its connection, and makes no other
    client.sock = wire
    ours = {
        "Host": target.host_header,
        "User-Agent": _user_agent(),
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "Connection": "close",
    }
    own_names = {name.lower() for name in ours}
    others = {name: value for name, value in headers.items() if name.lower() not in own_names}
    try:
        client.request("POST", target.path, body=body, headers={**ours, **others})
        with client.getresponse() as response:
            lower = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, _body_of(response), 0.0, lower)
    except _TooLong:
        raise NotSent("The head of the answer is too long.") from None
    except TimeoutError:
        raise NotSent(LATE_ANSWER) from None
    except (OSError, http.client.IncompleteRead):
        raise NotSent(BROKEN) from None
    except http.client.HTTPException:
        raise NotSent(NOT_HTTP) from None


def _body_of(response: http.client.HTTPResponse) -> bytes:
    """Return the body, cut after MOST_BYTES."""
    parts: list[bytes] = []
    left = MOST_BYTES
    try:
        while left > 0 and (part := response.read1(min(_AT_ONCE, left))):
            parts.append(part)
            left -= len(part)
    except _TooLong:
        left = 0
    if left > 0 and response.length:
        raise NotSent(BROKEN)
    return b"".join(parts)[:MOST_BYTES]  # a chunk of negative size makes `read1` return more than it was asked for


def _user_agent() -> str:
    name = re.sub(r"[^A-Za-z0-9]+", "-", settings.SITE_NAME).strip("-") or "Service"
    return f"{name}-Webhooks/1.0 (+{settings.BASE_URL})"
