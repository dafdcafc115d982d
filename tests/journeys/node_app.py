"""The app of node/sign-in.js, which signs people in with openid-client, under the Node of the development tools."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.journeys.people import App

FOLDER = Path(__file__).parent / "node"
BIN = Path(sys.executable).parent
TIMEOUT = 120


class NodeError(Exception):
    """Node or the library refused; the message holds what it said."""


def install() -> None:
    """Install what node/package-lock.json pins, once; a second run at the same moment waits for the first."""
    lock, stamp = FOLDER / "package-lock.json", FOLDER / "node_modules" / ".package-lock.json"
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if stamp.exists() and stamp.stat().st_mtime >= lock.stat().st_mtime:
            return
        command = [str(BIN / "npm"), "ci", "--no-progress"]
        done = subprocess.run(
            command, cwd=FOLDER, env=_environment(), capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
        if done.returncode:
            raise NodeError(f"npm cannot install openid-client into {FOLDER.name}/:\n{done.stdout}{done.stderr}")
        stamp.touch()


class NodeApp:
    """One sign-in: `begin()` gives the authorization URL, `finish()` all that followed from the callback."""

    def __init__(self, issuer: str, app: App, *, auth_method: str) -> None:
        self._process = subprocess.Popen(
            [str(BIN / "node"), "sign-in.js"],
            cwd=FOLDER,
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._app = {
            "issuer": issuer,
            "client_id": app.client_id,
            "client_secret": app.client_secret,
            "redirect_url": app.redirect_url,
            "scope": " ".join(app.scopes),
            "auth_method": auth_method,
        }

    def begin(self) -> str:
        return str(self._ask(self._app)["url"])

    def finish(self, callback: str) -> dict[str, Any]:
        """Any: whatever the library read; the tests look at it."""
        return self._ask({"callback": callback})

    def leave(self) -> None:
        """End the program, however far it came."""
        with self._process as process:
            process.kill()

    def _ask(self, line: dict[str, str]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._process.stdin.write(f"{json.dumps(line)}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise NodeError(self._process.stderr.read())
        read: dict[str, Any] = json.loads(answer)
        return read


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
