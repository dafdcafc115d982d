"""Requests to addresses that strangers chose: which are refused, and what a receiver can do to the sender."""

from __future__ import annotations

import gzip
import socket
import struct
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from infrastructure import outbound
from infrastructure.outbound import NotSent, post, problem_of
from tests.support import raw_servers
from tests.support.raw_servers import RawServer, answering

pytestmark = pytest.mark.once
PUBLIC = "93.184.215.14"
HOOK = "https://hooks.example.com/in"
CALLED = UserWarning  # pytest-socket warns of a connection to another machine, with its address, and makes none
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

# One of each network that is not public, and its last address where the border is not at a whole byte.
PRIVATE_4 = """
0.0.0.0 0.1.2.3 0.255.255.255 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255
127.0.0.1 127.0.0.53 127.255.255.255 168.63.129.16 169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255
192.0.0.1 192.0.0.9 192.0.0.170 192.0.0.192 192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.255
198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
""".split()
PRIVATE_6 = """
:: ::1 ::2 ::7f00:1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
::ffff:8.8.8.8 0:0:0:0:0:ffff:a00:1 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b::8.8.8.8
64:ff9b:1::a00:1 64:ff9b:1:ffff::169.254.169.254 100::1 100:0:0:1::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2
2001:1::1 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1 2001:20::1 2001:30::1 2001:db8::1 2001:db8:ffff::1
2002:7f00:1:: 2002:a00:1::1 2002:808:808::1 3fff::1 3fff:fff::1 4000::1 5f00::1 fc00::1 fd00::1 fd00:ec2::254
fd20:ce::254 fe80::1 fe80::a9fe:a9fe febf::1 fec0::1 feff::1 ff01::1 ff02::1 ff02::fb ff0e::1
""".split()
PRIVATE = [*PRIVATE_4, *PRIVATE_6]
LOOPBACK = ["127.0.0.1", "127.0.0.53", "127.255.255.255", "::1"]
# Hosts that resolvers read as addresses, as this machine, or as a name of this machine's network.
HOST_FORMS = """
localhost LOCALHOST localhost. app.localhost app.localhost. 127.1 127.0.1 127.0.0.1. 2130706433 017700000001 0x7f000001
0x7f.1 0x7F.0.0.1 0177.0.0.1 0177.1 0x7f.0x0.0x0.0x1 127.0.0.01 10.1 0xa.1 167772161 3232235521 192.168.257 0 0x0
0xa9fea9fe 2852039166 169.254.43518 1.1.1.1.1 256.256.256.256 127.0.0.0x1 1.2.3.08 4294967297 router intranet.
a..example .example.com %31%32%37.0.0.1 127.0.0.1%2f.example.com [::1%25eth0] [fe80::1%25eth0] [fe80::1%eth0]
[::1].example.com [127.0.0.1] [::ffff:127.1] [localhost] -a.example.com a_.example.com
""".split()
WIDE = {ord(letter): ord(letter) + 0xFEE0 for letter in "127localhst"}  # Unicode's full-width forms of ASCII
FULL_WIDTH = [
    "127.0.0.1".translate(WIDE),
    "localhost".translate(WIDE),
    "127\u30020\u30020\u30021",  # ideographic full stops
    "\u2460\u2461\u2466.0.0.1",  # digits in circles
    "\u24dbocalhost",
    "127.0.0.1\u200b",
]


def url_of(address: str) -> str:
    return f"https://[{address}]/" if ":" in address else f"https://{address}/"


def refused(url: str, *, addresses: Sequence[str] = (), allows_loopback: bool = False) -> str:
    """Return why nothing was sent. `addresses`: what the name servers say."""

    def lookup(host: str, port: int) -> Sequence[str]:
        return addresses

    with pytest.raises(NotSent) as caught:
        post(url, body=b"{}", headers={}, allows_loopback=allows_loopback, lookup=lookup)
    return str(caught.value)


def sent(server: RawServer, path: str = "/in", **headers: str) -> outbound.Answer:
    return post(f"http://127.0.0.1:{server.port}{path}", body=b'{"a":1}', headers=headers, allows_loopback=True)


def test_the_tables_hold_sixty_forms() -> None:
    assert len({*PRIVATE, *HOST_FORMS, *FULL_WIDTH}) == len([*PRIVATE, *HOST_FORMS, *FULL_WIDTH]) >= 60


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_is_not_public_is_refused_in_the_url(address: str) -> None:
    assert problem_of(url_of(address), allows_loopback=False) is not None
    assert refused(url_of(address)) == problem_of(url_of(address), allows_loopback=False)
    is_allowed = address in LOOPBACK
    assert (problem_of(url_of(address), allows_loopback=True) is None) == is_allowed


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_is_not_public_is_refused_as_an_answer_of_the_name_servers(address: str) -> None:
    for addresses in ([address], [PUBLIC, address], [address, PUBLIC], ["2606:4700::6810:84e5", PUBLIC, address]):
        assert refused(HOOK, addresses=addresses) == outbound.NOT_PUBLIC
    if address not in LOOPBACK:
        assert refused(HOOK, addresses=[address], allows_loopback=True) == outbound.NOT_PUBLIC


@pytest.mark.parametrize("host", [*HOST_FORMS, *FULL_WIDTH])
def test_a_host_that_a_resolver_would_read_as_this_network_is_refused(host: str) -> None:
    url = f"https://{host}/"
    assert problem_of(url, allows_loopback=False) is not None
    assert refused(url, addresses=[PUBLIC]) == problem_of(url, allows_loopback=False)


def test_an_address_of_an_interface_is_refused() -> None:
    for address in ("fe80::1%eth0", "2606:4700::1%1"):
        assert refused(HOOK, addresses=[address]) == outbound.NOT_PUBLIC


@pytest.mark.parametrize(
    "address",
    """
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 168.63.129.15
    169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.88.98.1 192.167.0.1 192.169.0.1
    198.17.255.255 198.20.0.0 203.0.112.1 223.255.255.255 2000::1 2001:200::1 2001:4860:4860::8888 2001:db7::1 2003::1
    2606:4700::6810:84e5 2a00:1450::1 3ffe::1 3fff:1000::1
    """.split(),
)
def test_a_public_address_is_called_itself(address: str) -> None:
    assert problem_of(url_of(address), allows_loopback=False) is None
    with pytest.raises(CALLED, match=f'"{address}"'):
        post(HOOK, body=b"", headers={}, allows_loopback=False, lookup=lambda host, port: [address])


ACCEPTED = """
https://hooks.example.com https://hooks.example.com/ https://hooks.example.com:443/a?b=c https://hooks.example.com:8443/
https://hooks.example.com:1024/ https://hooks.example.com:65535/ https://HOOKS.Example.COM/In https://example.com./x
https://xn--bcher-kva.example/ https://1.example.com/ https://a.b-c.example.com/%C3%BC https://8.8.8.8:8443/
https://hooks.example.com/a@b https://example.123abc/
""".split()


@pytest.mark.parametrize("url", ACCEPTED)
def test_an_address_of_a_receiver_is_accepted(url: str) -> None:
    assert problem_of(url, allows_loopback=False) is None


REFUSED = {
    "": "whole URL",
    "hooks.example.com/in": "whole URL",
    "ftp://hooks.example.com/": "whole URL",
    "javascript:alert(1)": "whole URL",
    "https:hooks.example.com": "whole URL",
    "https:///in": "whole URL",
    "//hooks.example.com/": "whole URL",
    "http://hooks.example.com/": "Use https",
    "http://8.8.8.8/": "Use https",
    "https://hooks.example.com/#a": "fragment",
    "https://hooks.example.com/#": "fragment",
    "https://ada@hooks.example.com/": "user name",
    "https://ada:secret@hooks.example.com/": "user name",
    "https://@hooks.example.com/": "user name",
    "https://8.8.8.8@127.0.0.1/": "user name",
    "https://hooks.example.com\\@127.0.0.1/": "backslash",
    "https://hooks.example.com/a b": "white space",
    " https://hooks.example.com/": "white space",
    "https://hooks.example.com/\r\nHost: x": "white space",
    "https://hooks.example.com/\t": "white space",
    "https://hooks.example.com/\x00": "white space",
    "https://hooks.example.com/in\n": "white space",
    "https://bücher.example/": "xn--",
    "https://hooks.example.com/ü": "percent-encode",
    "https://hooks.example.com:0/": "port 443",
    "https://hooks.example.com:22/": "port 443",
    "https://hooks.example.com:25/": "port 443",
    "https://hooks.example.com:80/": "port 443",
    "https://hooks.example.com:1023/": "port 443",
    "https://hooks.example.com:65536/": "cannot be read",
    "https://hooks.example.com:a/": "cannot be read",
    "https://hooks.example.com:-1/": "cannot be read",
    "https://[v1.a]/": "cannot be read",
    "https://[::1/": "cannot be read",
    f"https://{'a' * 64}.example.com/": "full name",
    f"https://{'a.' * 127}example/": "full name",
    f"https://hooks.example.com/{'a' * 487}": "at most 512",
}


@pytest.mark.parametrize("url", REFUSED)
def test_another_url_is_refused_with_what_to_change(url: str) -> None:
    for allows_loopback in (False, True):
        problem = problem_of(url, allows_loopback=allows_loopback)
        assert problem is not None
        assert REFUSED[url] in problem
        assert problem.endswith(".")
    assert problem_of(f"https://hooks.example.com/{'a' * 486}", allows_loopback=False) is None


def test_loopback_passes_where_it_is_allowed_and_nothing_else_does() -> None:
    for url in ("http://127.0.0.1:8001/", "http://localhost/", "https://[::1]:8443/", "http://app.localhost:1024/"):
        assert problem_of(url, allows_loopback=True) is None
        assert problem_of(url, allows_loopback=False) is not None
    for url in ("http://10.0.0.1/", "http://example.com/", "https://192.168.0.1/", "http://127.0.0.1:25/"):
        assert problem_of(url, allows_loopback=True) is not None


def test_a_name_that_leads_to_loopback_later_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack: a public address for the check, and 127.0.0.1 for whoever asks a second time."""
    asked: list[str] = []

    def rebinding(host: str, port: int, *_: object, **__: object) -> list[tuple[object, ...]]:
        asked.append(host)
        address = PUBLIC if len(asked) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    with raw_servers.running(answering(OK)) as server:
        monkeypatch.setattr(socket, "getaddrinfo", rebinding)
        with pytest.raises(CALLED, match=f'"{PUBLIC}"'):
            post(f"https://rebind.example:{server.port}/", body=b"", headers={}, allows_loopback=False)
        assert (asked, server.connections) == (["rebind.example."], 0)
        # The second request asks again, and is refused.
        with pytest.raises(NotSent, match="not public"):
            post(f"https://rebind.example:{server.port}/", body=b"", headers={}, allows_loopback=False)
        assert server.connections == 0


@pytest.mark.parametrize("problem", [socket.gaierror(-2, "10.0.0.53 says no"), UnicodeError("label"), None])
def test_a_name_without_an_address_is_not_found(problem: Exception | None) -> None:
    def lookup(host: str, port: int) -> list[str]:
        if problem is not None:
            raise problem
        return []

    with pytest.raises(NotSent) as caught:
        post(HOOK, body=b"", headers={}, allows_loopback=False, lookup=lookup)
    assert str(caught.value) == outbound.NOT_FOUND


def test_lookups_that_hang_hold_their_callers_no_longer_than_a_connection_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are bounded: one for each name, and a number of names."""
    monkeypatch.setattr(outbound, "CONNECT_SECONDS", 0.2)
    monkeypatch.setattr(outbound, "_LOOKUPS", 2)
    released = threading.Event()
    asked: list[str] = []

    def hanging(host: str, port: int) -> list[str]:
        asked.append(host)
        released.wait(30)
        return ["10.0.0.1"]

    def late(host: str) -> float:
        started = time.monotonic()
        with pytest.raises(NotSent) as caught:
            post(f"https://{host}/", body=b"", headers={}, allows_loopback=False, lookup=hanging)
        assert str(caught.value) == outbound.LATE_NAME
        return time.monotonic() - started

    try:
        assert 0.2 <= late("one.example") < 5
        late("one.example")
        late("two.example")
        assert asked == ["one.example", "two.example"]
        late("three.example")  # at once: no place is free
        assert asked == ["one.example", "two.example"]
    finally:
        released.set()
        for thread in threading.enumerate():
            if thread.name == "lookup":
                thread.join(10)
    assert refused(HOOK, addresses=["10.0.0.1"]) == outbound.NOT_PUBLIC


def test_names_that_hang_at_all_places_of_a_worker_keep_no_other_name_from_being_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 32 places each asks for another name after 5 seconds, and a resolver gives up after 30."""
    released = threading.Event()

    def hanging(host: str, port: int) -> list[str]:
        released.wait(30)
        return []

    try:
        with monkeypatch.context() as patch:
            patch.setattr(outbound, "CONNECT_SECONDS", 0.001)
            for number in range(32 * 30 // 5):
                with pytest.raises(NotSent):
                    post(f"https://{number}.example.com/", body=b"", headers={}, allows_loopback=False, lookup=hanging)
        assert refused(HOOK, addresses=["10.0.0.1"]) == outbound.NOT_PUBLIC
    finally:
        released.set()
        for thread in threading.enumerate():
            if thread.name == "lookup":
                thread.join(10)


def test_the_request_is_what_was_asked_for_and_no_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither a proxy nor a password file of the machine is used, and no cookie comes back."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ada password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    answer = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok"
    with raw_servers.running(answering(answer)) as server:
        for _ in range(2):
            got = sent(server, "/in?a=%2F", **{"webhook-id": "msg_1", "host": "evil.example", "accept-encoding": "br"})
        assert (got.status, got.body, got.headers["x-a"]) == (200, b"ok", "1")
        assert 0 < got.seconds < 10
        first, second = server.requests
    assert first == second
    head, _, body = first.partition(b"\r\n\r\n")
    assert body == b'{"a":1}'
    assert sorted(head.decode().split("\r\n")) == sorted(
        [
            "POST /in?a=%2F HTTP/1.1",
            f"Host: 127.0.0.1:{server.port}",
            "Content-Length: 7",
            "webhook-id: msg_1",
            "User-Agent: Hearth-Webhooks/1.0 (+http://127.0.0.1:8000)",
            "Accept: */*",
            "Accept-Encoding: identity",
            "Connection: close",
        ]
    )


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_an_answer_and_is_not_followed(status: int) -> None:
    with raw_servers.running(answering(OK)) as inner:
        location = f"http://127.0.0.1:{inner.port}/"
        answer = f"HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
        with raw_servers.running(answering(answer)) as server:
            got = sent(server)
        assert (got.status, got.headers["location"], got.body) == (status, location, b"")
        assert inner.connections == 0


STATUSES = [200, 201, 204, 304, 400, 404, 410, 429, 500, 503]


@pytest.mark.parametrize("status", STATUSES)
def test_an_answer_of_any_status_is_returned(status: int) -> None:
    with raw_servers.running(answering(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode())) as server:
        assert sent(server).status == status


HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
LATE = {
    "headers without an end": answering(HEAD, b"X-A: 1\r\n", 0.05, endlessly=True),
    "nothing": answering(60.0),
    "a head in drips": answering(HEAD, b"X", 0.05, endlessly=True),
    "a status line in drips": answering(b"H", 0.05, endlessly=True),
    "a body in drips": answering(HEAD + b"Content-Length: 9000\r\n\r\n", b"x", 0.05, endlessly=True),
    "chunks in drips": answering(CHUNKED, b"1\r\nx\r\n", 0.05, endlessly=True),
    "a body that stops": answering(HEAD + b"Content-Length: 9\r\n\r\n", b"x", 60.0),
    "the answer comes later, over and over": answering(b"HTTP/1.1 100 Continue\r\n\r\n", 0.05, endlessly=True),
}


@pytest.mark.parametrize("case", LATE)
def test_an_answer_that_is_not_complete_in_time_is_none(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound, "SECONDS", 0.4)
    started = time.monotonic()
    with raw_servers.running(LATE[case]) as server, pytest.raises(NotSent) as caught:
        sent(server)
    assert str(caught.value) == outbound.LATE_ANSWER
    assert 0.4 <= time.monotonic() - started < 5


def test_a_receiver_that_does_not_read_holds_the_sender_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound, "SECONDS", 0.4)
    with raw_servers.running(raw_servers.waiting) as server, pytest.raises(NotSent) as caught:
        url = f"http://127.0.0.1:{server.port}/"
        post(url, body=b"x" * 50_000_000, headers={}, allows_loopback=True)
    assert str(caught.value) == outbound.LATE_ANSWER


MUCH = b"x" * 65536
HUGE = {
    "with its length": answering(HEAD + b"Content-Length: 999999999\r\n\r\n", MUCH, endlessly=True),
    "without a length": answering(HEAD + b"\r\n", MUCH, endlessly=True),
    "in chunks": answering(CHUNKED, b"10000\r\n" + MUCH + b"\r\n", endlessly=True),
    "in a chunk of negative size": answering(CHUNKED + b"-5\r\n", MUCH, endlessly=True),
}


@pytest.mark.parametrize("case", HUGE)
def test_the_first_256_kilobytes_of_a_body_are_read(case: str) -> None:
    with raw_servers.running(HUGE[case]) as server:
        got = sent(server)
    assert (got.status, len(got.body)) == (200, 256 * 1024)


def test_chunks_of_one_byte_end_sooner() -> None:
    """The marks between the chunks count, too."""
    with raw_servers.running(answering(CHUNKED, b"1\r\nx\r\n" * 10_000, endlessly=True)) as server:
        got = sent(server)
    assert got.status == 200
    assert 50_000 < len(got.body) < 100_000


def test_a_compressed_bomb_stays_compressed() -> None:
    bomb = gzip.compress(b"0" * 10_000_000)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    with raw_servers.running(answering(head + bomb)) as server:
        assert sent(server).body == bomb


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def reset_at_once(connection: socket.socket, _server: RawServer) -> None:
    reset(connection)


def test_a_reset_is_the_end_of_a_connection_however_early_it_comes() -> None:
    with raw_servers.running(reset_at_once) as server:
        for _ in range(100):
            with pytest.raises(NotSent) as caught:
                post(f"http://127.0.0.1:{server.port}/", body=b"", headers={}, allows_loopback=True)
            assert str(caught.value) == outbound.BROKEN


def reset_after(part: bytes) -> raw_servers.Act:
    def act(connection: socket.socket, server: RawServer) -> None:
        answering(part)(connection, server)
        reset(connection)

    return act


BROKEN = {
    "reset before the request": (reset_at_once, outbound.BROKEN),
    "reset after the request": (reset_after(b""), outbound.BROKEN),
    "reset in the head": (reset_after(HEAD), outbound.BROKEN),
    "reset in the body": (reset_after(HEAD + b"Content-Length: 9\r\n\r\nx"), outbound.BROKEN),
    "closed without an answer": (answering(b""), outbound.BROKEN),
    "a body that is cut": (answering(HEAD + b"Content-Length: 9\r\n\r\nx"), outbound.BROKEN),
    "a chunk that is cut": (answering(CHUNKED + b"9\r\nx"), outbound.BROKEN),
    "chunks without an end": (answering(CHUNKED + b"1\r\nx\r\n"), outbound.BROKEN),
    "a chunk without a size": (answering(CHUNKED + b"zz\r\nx\r\n"), outbound.BROKEN),
    "another protocol": (answering(b"SSH-2.0-OpenSSH_9.2\r\n"), outbound.NOT_HTTP),
    "a status that is no number": (answering(b"HTTP/1.1 abc OK\r\n\r\n"), outbound.NOT_HTTP),
    "a header without an end": (answering(HEAD + b"X: " + b"x" * 70_000), outbound.NOT_HTTP),
    "a thousand headers": (answering(HEAD + b"X: 1\r\n" * 1000 + b"\r\n"), outbound.NOT_HTTP),
    "a flood of first answers": (
        answering(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, endlessly=True),
        "The head of the answer is too long.",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_answer_is_none(case: str) -> None:
    act, sentence = BROKEN[case]
    with raw_servers.running(act) as server, pytest.raises(NotSent) as caught:
        sent(server)
    assert str(caught.value) == sentence


def test_a_port_where_nobody_listens_refuses() -> None:
    with raw_servers.running(answering(OK)) as server:
        pass
    with pytest.raises(NotSent, match="refused"):
        sent(server)


def test_the_next_address_is_tried_where_one_refuses() -> None:
    """Nothing listens at ::1; `localhost` is both, and no name server is asked for it."""
    with raw_servers.running(answering(OK)) as server:
        for order in (["::1", "127.0.0.1"], ["127.0.0.1", "::1"]):
            connected = outbound._connected(order, server.port, time.monotonic() + 5)
            connected.close()
        url = f"http://localhost:{server.port}/"
        assert post(url, body=b"", headers={}, allows_loopback=True).status == 200
