"""The service's mail: in its log (embedded default) or at an SMTP server of the test run."""

from __future__ import annotations

import email
import email.policy
import re
import socketserver
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

WAIT_SECONDS = 10


class PostOffice(Protocol):
    def letters(self) -> list[str]:
        """Return the text of every mail so far, with headers, oldest first."""
        ...


class LogPostOffice:
    """Reads mails of the console backend in the server's log: a line of dashes ends each."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def letters(self) -> list[str]:
        return re.split(r"^-{79}$", self._log.read_text(errors="replace"), flags=re.MULTILINE)[:-1]


class SmtpPostOffice:
    """Accepts every mail at `port` on loopback."""

    def __init__(self) -> None:
        self._letters: list[str] = []
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _handler(self._letters.append))
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def letters(self) -> list[str]:
        return list(self._letters)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(deliver: Callable[[str], None]) -> type[socketserver.StreamRequestHandler]:
    """The part of RFC 5321 that a simple sender needs."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self._say("220 ready")
            while line := self.rfile.readline():
                verb = line[:4].upper()
                if verb == b"DATA":
                    self._say("354 go on")
                    deliver(self._letter())
                self._say("221 bye" if verb == b"QUIT" else "250 fine")

        def _letter(self) -> str:
            lines = iter(self.rfile.readline, b".\r\n")
            message = email.message_from_bytes(b"".join(lines), policy=email.policy.default)
            headers = "".join(f"{name}: {value}\n" for name, value in message.items())
            text = message.get_body(("plain",))
            assert text is not None
            return headers + str(text.get_content())

        def _say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

    return Handler


def code_for(office: PostOffice, address: str) -> str:
    """Wait for the newest mail to `address` and return its code."""
    give_up_at = time.monotonic() + WAIT_SECONDS
    while not (mine := [letter for letter in office.letters() if f"To: {address}" in letter]):
        assert time.monotonic() < give_up_at, f"No mail came for {address}"
        time.sleep(0.05)
    codes = re.findall(r"^\s*([A-Z0-9]{3,5}-[A-Z0-9]{3,5}|[A-Z0-9]{6,10})\s*$", mine[-1], flags=re.MULTILINE)
    assert len(codes) == 1, f"{len(codes)} codes in the mail to {address}"
    return str(codes[0])
