"""Loopback ports for servers that take a number and bind it themselves."""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def held(count: int = 1) -> Iterator[list[int]]:
    """`count` ports that the kernel gives to no other program meanwhile.

    Linux lets a server listen where another socket is bound, as long as both have SO_REUSEADDR and the other does not
    listen. Elsewhere the server could not bind, so the ports are only known to be free.
    """
    with contextlib.ExitStack() as stack:
        holders = [stack.enter_context(socket.socket()) for _ in range(count)]
        for holder in holders:
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holder.bind(("127.0.0.1", 0))
        ports = [int(holder.getsockname()[1]) for holder in holders]
        if sys.platform != "linux":
            stack.close()
        yield ports
