"""deploy/nginx.conf in nginx itself: what it answers where no host of the service does, and HTTP/2."""

from __future__ import annotations

import re
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.support import ports, processes

pytestmark = pytest.mark.live

NAME = "id.example.org"
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
            "127.0.0.1:8000": f"127.0.0.1:{web}", "127.0.0.1:8001": f"127.0.0.1:{streams}",
        }.items():  # fmt: skip
            text = text.replace(old, new)
        text = re.sub(r"listen (\[::\]:)?80;", lambda match: f"listen {match[1] or '127.0.0.1:'}{plain};", text)
        text = re.sub(r"listen (\[::\]:)?443 ", lambda match: f"listen {match[1] or '127.0.0.1:'}{tls} ", text)
    temporary = "".join(f"{each}_temp_path {folder}/{each};" for each in "client_body proxy fastcgi uwsgi scgi".split())
    (folder / "nginx.conf").write_text(f"pid {folder}/pid; events {{}} http {{ {temporary}\n{text}\n}}\n")
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
def test_an_outage_is_told_in_the_form_of_what_was_asked_for(
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
