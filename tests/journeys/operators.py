"""The client of the operator's console (console.py), which runs in the server's environment."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.journeys import processes
from tests.support import processes as groups


class Operator:
    """An operator with a shell on the server's machine. `do(name, ...)` runs an action of console.py."""

    def __init__(
        self, values: dict[str, str], log: Path, *, cwd: Path = processes.ROOT, python: str = sys.executable
    ) -> None:
        """`values`: the server's environment. `log`: for the console's errors. `cwd`: the folder of its code."""
        self._log = log
        with log.open("ab") as file:
            self._process = subprocess.Popen(
                [python, "-m", "tests.journeys.console"],
                cwd=cwd,
                env=processes.clean_environment(**values),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                start_new_session=True,
            )

    def do(self, deed: str, **arguments: Any) -> dict[str, Any]:
        """`Any`: JSON values."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps({'do': deed, **arguments})}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"The console stopped at {deed}:\n{self._log.read_text()[-4000:]}"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def leave(self) -> None:
        """End the console by closing its input."""
        with self._process as process:
            if process.stdin:
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(groups.STOP_SECONDS)
            groups.kill_group(process)
