"""The app of node/sign-in.js, which signs users in with openid-client, on the Node of the development tools."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from tests.journeys.people import App
from tests.support import node, processes
from tests.support.node import NodeError


class NodeApp:
    """One sign-in: `begin()` returns the authorization URL, `finish()` the results after the callback."""

    def __init__(self, issuer: str, app: App, *, auth_method: str) -> None:
        self._process = subprocess.Popen(
            [str(node.PROGRAM), "sign-in.js"],
            cwd=node.FOLDER,
            env=node.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
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
        """Return the results as JSON."""
        return self._ask({"callback": callback})

    def leave(self) -> None:
        """End the program."""
        with self._process as process:
            processes.kill_group(process)

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
