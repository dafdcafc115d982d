"""deploy/nginx.conf in nginx itself: sizes of bodies, limits of an address, answers of an outage, and HTTP/2."""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from accounts.plans import LARGEST_BODY, LARGEST_FILE
from config.web.request_body import PAGE_BODY
from dashboard.profile.editing import MAX_BODY
from imagehost.errors import FileTooLarge
from lookup.transfer import own
from oidc_provider.applications import logos
from tests.support import ports, processes

pytestmark = pytest.mark.live

NAME = "id.example.org"
CLIENT = "X-Test-Client"  # a header that names the address of the client
CONF = Path(__file__).parents[2] / "deploy" / "nginx.conf"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Of TLS. No host of the service listens."""
    folder = tmp_path_factory.mktemp("nginx")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    made = f"req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN={NAME} -keyout {key} -out {certificate}"
    subprocess.run(["openssl", *made.split()], check=True, capture_output=True)  # noqa: S607
    with ports.held(4) as (plain, tls, web, streams):
        text = CONF.read_text()
        for old, new in {
            "ID.EXAMPLE.ORG": NAME, "/ETC/FULLCHAIN.PEM": str(certificate), "/ETC/PRIVKEY.PEM": str(key),
            "/SRV/FILES/": f"{folder}/", "allow PROMETHEUS;": "", "/var/log/nginx/access.log": f"{folder}/access.log",
            "limit_conn requests 200;": "limit_conn requests 10;",
            "limit_conn streams 500;": "limit_conn streams 12;",
            "127.0.0.1:8000": f"127.0.0.1:{web}", "127.0.0.1:8001": f"127.0.0.1:{streams}",
        }.items():  # fmt: skip
            assert old in text
            text = text.replace(old, new)
        text = re.sub(r"listen (\[::\]:)?80;", lambda match: f"listen {match[1] or '127.0.0.1:'}{plain};", text)
        text = re.sub(r"listen (\[::\]:)?443 ", lambda match: f"listen {match[1] or '127.0.0.1:'}{tls} ", text)
    temporary = "".join(f"{each}_temp_path {folder}/{each};" for each in "client_body proxy fastcgi uwsgi scgi".split())
    clients = f"set_real_ip_from 127.0.0.1; real_ip_header {CLIENT};"
    (folder / "nginx.conf").write_text(f"pid {folder}/pid; events {{}} http {{ {temporary} {clients}\n{text}\n}}\n")
    command = ["nginx", "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf"), "-g", "daemon off;"]
    with (folder / "error.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        _wait(process, tls, folder)
        yield tls
    finally:
        processes.stop(process)


def _wait(process: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    give_up_at = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            assert process.poll() is None, (folder / "error.log").read_text()
            assert time.monotonic() < give_up_at
            time.sleep(0.05)
        else:
            return


def ask(port: int, path: str) -> requests.Response:
    return requests.get(f"https://127.0.0.1:{port}{path}", headers={"Host": NAME}, verify=False, timeout=10)  # noqa: S501


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
@pytest.mark.parametrize(
    ("path", "content_type", "body"),
    [
        ("/api/lookup/user?username=a", "application/json", '{"error":"errors.unavailable"}'),
        ("/API", "application/json", '{"error":"errors.unavailable"}'),
        ("/api/lookup/presence/1/events", "application/json", '{"error":"errors.unavailable"}'),
        ("/api/auth/token", "application/json", '{"error":"temporarily_unavailable",'),
        ("/", "text/html; charset=utf-8", "<!doctype html>"),
        ("/apis", "text/html; charset=utf-8", "<!doctype html>"),
    ],
)
def test_an_outage_is_answered_in_the_form_that_was_asked_for(
    port: int, path: str, content_type: str, body: str
) -> None:
    answer = ask(port, path)
    assert (answer.status_code, answer.headers["Content-Type"]) == (503, content_type)
    assert answer.text.startswith(body)
    assert (answer.headers["Retry-After"], answer.headers["Cache-Control"]) == ("5", "no-store")


def test_browsers_get_http_2(port: int) -> None:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2", "http/1.1"])
    with context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname=NAME) as connected:
        assert connected.selected_alpn_protocol() == "h2"


def _announced(port: int, path: str, length: int, stack: contextlib.ExitStack, client: str = "127.0.0.1") -> str:
    """Announce a body and send none of it. Return the beginning of the answer; `100 Continue` asks for the body."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    plain = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
    connection = stack.enter_context(context.wrap_socket(plain, server_hostname=NAME))
    lines = [f"POST {path} HTTP/1.1", f"Host: {NAME}", f"Content-Length: {length}", "Expect: 100-continue"]
    connection.sendall("\r\n".join([*lines, f"{CLIENT}: {client}", "", ""]).encode())
    return connection.recv(65_536).decode()


LOGIN, UPLOAD, PROFILE = "/accounts/login/", "/api/imagehost/upload", "/dashboard/profile/media/banner/"
STREAM = "/api/lookup/presence/1/events"
ALL_UPLOADS = 24
PAGE = "<h1>This form is too large</h1>"


@pytest.mark.parametrize(
    ("path", "most", "refusal"),
    [
        (LOGIN, PAGE_BODY, PAGE),
        ("/api/imagehost/folders", PAGE_BODY, '{"error":"errors.badRequest"}'),
        ("/api/auth/oauth2/token", PAGE_BODY, '{"error":"invalid_request",'),
        (UPLOAD, LARGEST_BODY, FileTooLarge(LARGEST_FILE).error),
        ("/dashboard/imagehost/upload/", LARGEST_BODY, FileTooLarge(LARGEST_FILE).error),
        ("/dashboard/imagehost/upload/one/", LARGEST_BODY, FileTooLarge(LARGEST_FILE).error),
        ("/dashboard/imagehost/uploaders/", PAGE_BODY, PAGE),
        (PROFILE, MAX_BODY + 1024 * 1024, PAGE),  # a little more: the page says it in its own words
    ],
)
def test_a_path_takes_bodies_as_large_as_it_needs(port: int, path: str, most: int, refusal: str) -> None:
    with contextlib.ExitStack() as stack:
        assert _announced(port, path, most, stack).startswith("HTTP/1.1 100 ")
        answer = _announced(port, path, most + 1, stack)
    assert answer.startswith("HTTP/1.1 413 ")
    assert refusal in answer


def test_a_form_is_large_enough_for_what_pages_without_uploads_take() -> None:
    text = 2_621_440  # Django's DATA_UPLOAD_MAX_MEMORY_SIZE
    assert max(logos.MAX_BYTES, own.MAX_BYTES) < PAGE_BODY
    assert logos.MAX_BYTES + text < PAGE_BODY


def test_one_address_sends_few_large_bodies_at_once(port: int) -> None:
    with contextlib.ExitStack() as held:
        for _ in range(6):
            assert _announced(port, UPLOAD, 2_000_000, held).startswith("HTTP/1.1 100 ")
        refused = _announced(port, LOGIN, 2_000_000, held)
        assert refused.startswith("HTTP/1.1 503 ")
        assert "Retry-After: 5" in refused
        assert _announced(port, LOGIN, 200_000, held).startswith("HTTP/1.1 100 ")


def test_one_address_has_a_bounded_number_of_requests_at_once(port: int) -> None:
    """Ten here, so that none of them ends before the last one comes."""
    with contextlib.ExitStack() as held:
        for _ in range(10):
            assert _announced(port, LOGIN, 10, held).startswith("HTTP/1.1 100 ")
        assert _announced(port, LOGIN, 10, held).startswith("HTTP/1.1 503 ")


def test_event_streams_count_apart_from_requests(port: int) -> None:
    """An office with many open profile pages still gets answers."""
    with contextlib.ExitStack() as held:
        for _ in range(12):
            assert _announced(port, STREAM, 10, held).startswith("HTTP/1.1 100 ")
        assert _announced(port, STREAM, 10, held).startswith("HTTP/1.1 503 ")
        assert _announced(port, LOGIN, 10, held).startswith("HTTP/1.1 100 ")


def test_all_clients_together_send_a_bounded_number_of_large_bodies_at_once(port: int) -> None:
    with contextlib.ExitStack() as held:
        for number in range(ALL_UPLOADS):
            assert _announced(port, UPLOAD, 2_000_000, held, f"192.0.2.{number}").startswith("HTTP/1.1 100 ")
        assert _announced(port, UPLOAD, 2_000_000, held, "192.0.2.200").startswith("HTTP/1.1 503 ")
        assert _announced(port, LOGIN, 200_000, held, "192.0.2.200").startswith("HTTP/1.1 100 ")


def test_addresses_of_one_ipv6_network_count_as_one(port: int) -> None:
    with contextlib.ExitStack() as held:
        for number in range(6):
            assert _announced(port, UPLOAD, 2_000_000, held, f"2001:db8:a:a::{number}").startswith("HTTP/1.1 100 ")
        assert _announced(port, UPLOAD, 2_000_000, held, "2001:db8:a:a:b::1").startswith("HTTP/1.1 503 ")
        assert _announced(port, UPLOAD, 2_000_000, held, "2001:db8:a:b::1").startswith("HTTP/1.1 100 ")


def test_the_disk_of_compose_has_room_for_all_uploads() -> None:
    compose = (CONF.parent / "compose.yaml").read_text()
    (uploads,) = re.findall(rf"limit_conn all_uploads {ALL_UPLOADS};\|limit_conn all_uploads (\d+);", compose)
    (size,) = re.findall(r"/var/cache/nginx:uid=101,size=(\d+)g", compose)
    assert int(uploads) * LARGEST_BODY < int(size) * 1024**3
    assert ALL_UPLOADS * LARGEST_BODY < 8_000_000_000  # as the comment in nginx.conf says
