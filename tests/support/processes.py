"""Programs that a test run starts: each leads a process group, which ends as a whole.

None has a `preexec_fn`. With one, Python runs in the fork before `exec` and frees what other threads hold: their open
cursors are closed over the connections that both processes share, and PostgreSQL ends those. What a killed run leaves
is ended by `keeper`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

STOP_SECONDS = 15


def kill_group(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """End `process`, the leader of a group, and whatever it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run(
    command: Sequence[str], *, seconds: float, cwd: Path | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `command` to its end; its two outputs are one. subprocess.TimeoutExpired after `seconds`, its group killed.

    `subprocess.run` kills the one process alone and then waits for pipes that its children hold.
    """
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            output, _ = process.communicate(timeout=seconds)
        finally:
            kill_group(process)
    return subprocess.CompletedProcess(command, process.returncode, output, "")


def stop(
    process: subprocess.Popen[str] | subprocess.Popen[bytes],
    how: signal.Signals = signal.SIGTERM,
    seconds: float = STOP_SECONDS,
) -> None:
    """Ask the leader of a group to end, and kill what is left of the group after `seconds`."""
    if process.poll() is None:
        process.send_signal(how)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    kill_group(process)
