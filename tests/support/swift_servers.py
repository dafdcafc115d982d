"""The processes of OpenStack Swift: `python -m tests.support.swift_servers DIRECTORY NAME=PORT…`.

It imports Swift once, forks the servers, and reads lines: "kill NAME" and "start NAME", each answered by "done". When
its input ends, however that came about, it ends, and the servers and the directory with it.
"""

import ctypes
import importlib
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import NoReturn

from tests.support.swift_configuration import KINDS, SERVERS

# Loaded before the fork; what the configuration names is found there.
MODULES = (
    "swift.account.server",
    "swift.container.server",
    "swift.obj.server",
    "swift.proxy.server",
    "swift.common.middleware.s3api.s3api",
)
PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)


def main(directory: Path, ports: dict[str, int]) -> int:
    for module in MODULES:
        importlib.import_module(module)
    for kind in KINDS:
        _make_ring(directory, kind, ports[f"{kind}-server"])
    running = {server: _start(directory, server) for server in SERVERS}
    try:
        for line in sys.stdin:
            action, server = line.split()
            if action == "kill":
                _kill(running.pop(server))
            else:
                running[server] = _start(directory, server)
            print("done", flush=True)
    finally:
        for process in running.values():
            _kill(process)
        shutil.rmtree(directory, ignore_errors=True)
    return 0


def _make_ring(directory: Path, kind: str, port: int) -> None:
    """All partitions on one device of one machine."""
    builder = importlib.import_module("swift.common.ring").RingBuilder(part_power=2, replicas=1, min_part_hours=0)
    device = {"region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": "disk", "weight": 1}
    builder.add_dev({**device, "replication_ip": "127.0.0.1", "replication_port": port})
    builder.rebalance()
    builder.get_ring().save(str(directory / f"{kind}.ring.gz"))


def _start(directory: Path, server: str) -> int:
    process = os.fork()
    if process == 0:
        _serve(directory, server)
    return process


def _serve(directory: Path, server: str) -> NoReturn:
    """The rest of a forked process's life."""
    try:
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1):  # the conversation is the parent's
            os.dup2(null, stream)
        run = importlib.import_module("swift.common.wsgi").run_wsgi
        run(str(directory / f"{server}.conf"), server, verbose=True)  # to stderr
    finally:
        os._exit(1)


def _kill(process: int) -> None:
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


if __name__ == "__main__":
    sys.exit(
        main(Path(sys.argv[1]), {name: int(port) for name, _, port in (pair.partition("=") for pair in sys.argv[2:])})
    )
