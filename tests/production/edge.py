"""nginx as `deploy/nginx.conf` sets it up, with a certificate of an authority that exists for one run."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import requests
import trustme

from tests.config import process_table
from tests.production import deployed, engines
from tests.production.engines import Engine
from tests.production.waiting import TIMEOUT, until
from tests.support import programs, servers

NAME = "localhost"
ANSWERED_BY = "X-Upstream-Address"  # a header of each answer that nginx passes on
# What the distribution's nginx.conf says around the file in deploy/.
AROUND = f"""
daemon off;
pid {{home}}/pid;
error_log stderr warn;
events {{{{ worker_connections 1024; }}}}
http {{{{
    add_header {ANSWERED_BY} $upstream_addr always;
    client_body_temp_path {{home}}/body;
    proxy_temp_path {{home}}/proxy;
    fastcgi_temp_path {{home}}/fastcgi;
    uwsgi_temp_path {{home}}/uwsgi;
    scgi_temp_path {{home}}/scgi;
{{site}}
}}}}
"""


@dataclass
class Edge(Engine):
    """`home`: where its configuration lies. `port`: of https; `plain_port`: of the redirect to it."""

    home: Path
    port: int
    plain_port: int
    web: Sequence[int]
    streams: Sequence[int]

    def __post_init__(self) -> None:
        self._configure(self.web)
        super().__post_init__()

    @property
    def authority(self) -> Path:
        """The certificate of the authority, for clients to trust."""
        return authority_in(self.home)

    def answered_by(self, path: str) -> int:
        """The port of the program that answers a request; 0 where nginx finds none."""
        url = f"https://{NAME}:{self.port}{path}"
        answer = requests.get(url, timeout=TIMEOUT, verify=str(self.authority))
        address = answer.headers[ANSWERED_BY].rpartition(", ")[2]  # the last of those that it tried
        return int(address.rpartition(":")[2]) if ":" in address else 0

    def use(self, web: Sequence[int]) -> None:
        """Send requests to these web programs alone. Returns when requests to others have ended."""
        self._configure(web)
        before = self._workers()
        self.process.send_signal(signal.SIGHUP)
        until(lambda: not before & self._workers())

    def _configure(self, web: Sequence[int]) -> None:
        site = _site(self, web)
        (self.home / "nginx.conf").write_text(AROUND.format(home=self.home, site=site))

    def _workers(self) -> set[int]:
        """The process ids of nginx's workers. Those of an earlier configuration end with their last request."""
        running = process_table.running()
        return {pid for pid, one in running.items() if one.parent == self.process.pid}


def authority_in(home: Path) -> Path:
    return home / "authority.pem"


def start(
    home: Path, port: int, plain_port: int, web: Sequence[int], streams: Sequence[int], stack: contextlib.ExitStack
) -> Edge:
    """`web`, `streams`: the ports of the programs of the service."""
    home.mkdir()
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(authority_in(home)))
    authority.issue_cert(NAME).private_key_and_cert_chain_pem.write_to_path(str(home / "served.pem"))
    command: list[str | Path] = [
        programs.found("nginx")["nginx"],
        "-e",
        "stderr",
        "-p",
        home,
        "-c",
        home / "nginx.conf",
    ]
    ask = partial(engines.connect, port)
    begin = partial(servers.start, command, home, stack, ask, stop=signal.SIGQUIT)
    return Edge(begin, home, port, plain_port, web, streams)


def _site(edge: Edge, web: Sequence[int]) -> str:
    """The file in deploy/ with what its reader is asked to replace, the ports of this run, and all hosts."""
    certificate = str(edge.home / "served.pem")
    replaced = {
        "https://ID.EXAMPLE.ORG": f"https://{NAME}:{edge.port}",
        "ID.EXAMPLE.ORG": NAME,
        "/ETC/FULLCHAIN.PEM": certificate,
        "/ETC/PRIVKEY.PEM": certificate,
        "/SRV/FILES/": f"{edge.home}/files/",
        "PROMETHEUS": "127.0.0.1",
        "/var/log/nginx/access.log": str(edge.home / "access.log"),
        "    listen [::]:80;\n": "",
        "    listen [::]:443 ssl;\n": "",
        "    listen [::]:443 ssl http2;\n": "",
        "listen 80;": f"listen 127.0.0.1:{edge.plain_port};",
        "listen 443 ssl;": f"listen 127.0.0.1:{edge.port} ssl;",
        "listen 443 ssl http2;": f"listen 127.0.0.1:{edge.port} ssl http2;",
        "Host $host;": "Host $http_host;",  # with the port, which a public address does not have
        "    server 127.0.0.1:8000 fail_timeout=1s;": _servers(web),
        "    server 127.0.0.1:8001 fail_timeout=1s;": _servers(edge.streams),
    }
    return deployed.read("nginx.conf", replaced)


def _servers(ports: Sequence[int]) -> str:
    return "\n".join(f"    server 127.0.0.1:{port} fail_timeout=1s;" for port in ports)
