"""The process of a web worker that has the decoders loaded and forks a confined child for each file.

Started as `python -m imagehost.examining.prober.zygote <descriptor of the control socket>`. It reads no file itself,
has no secret and never imports Django. It ends when its worker ends, which closes the control socket.
"""

import fcntl
import gc
import os
import selectors
import signal
import socket
import sys
import time
from dataclasses import dataclass

from imagehost.examining.prober import confinement, tasks, wire

GRACE = 3.0  # seconds after a child's own alarm until it is killed
_FILE, _CONVERSATION = confinement.FILE, 4  # the only descriptors of a child


@dataclass(frozen=True)
class _Child:
    report: socket.socket
    kill_at: float


class _Zygote:
    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.children: dict[int, _Child] = {}
        self.woken, self.waker = socket.socketpair()
        self.woken.setblocking(False)  # noqa: FBT003  # the standard library's signature
        self.waker.setblocking(False)  # noqa: FBT003  # as above
        signal.signal(signal.SIGCHLD, lambda *_: None)  # needed for the wakeup descriptor
        signal.set_wakeup_fd(self.waker.fileno(), warn_on_full_buffer=False)

    def serve(self) -> None:
        """Run until the worker ends; then kill the children."""
        selector = selectors.DefaultSelector()
        selector.register(self.control, selectors.EVENT_READ)
        selector.register(self.woken, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select(self._patience())}
            if self.woken in ready:
                self.woken.recv(4096)
            self._reap()
            if self.control in ready and not self._accept():
                break
        for pid in self.children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def _patience(self) -> float | None:
        """Kill the children that are due. Return the seconds until the next one is, None without children."""
        now = time.monotonic()
        for pid, child in self.children.items():
            if child.kill_at <= now:
                os.kill(pid, signal.SIGKILL)
        return max(0.1, min(child.kill_at for child in self.children.values()) - now) if self.children else None

    def _accept(self) -> bool:
        """Take one request and fork its child. False where the worker has ended."""
        data, descriptors, _, _ = socket.recv_fds(self.control, len(wire.REQUEST), 3)
        if not data:
            return False
        if len(descriptors) != 3:
            for descriptor in descriptors:
                os.close(descriptor)
            return True
        file, conversation, report = descriptors
        child = _Child(socket.socket(fileno=report), time.monotonic() + confinement.WALL_SECONDS + GRACE)
        try:
            pid = os.fork()
            if pid == 0:
                _become_child(file, conversation)
            self.children[pid] = child
        except (OSError, MemoryError):
            self._report(child.report, wire.NOT_STARTED, 0.0)
        os.close(file)
        os.close(conversation)
        return True

    def _reap(self) -> None:
        while self.children:
            pid, status, used = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            self._report(self.children.pop(pid).report, status, used.ru_utime + used.ru_stime)

    def _report(self, report: socket.socket, status: int, seconds: float) -> None:
        with report:
            try:
                report.sendall(wire.REPORT.pack(status, seconds))
            except (BrokenPipeError, ConnectionResetError):
                return  # the web process has stopped waiting


def _become_child(file: int, conversation: int) -> None:
    """Serve one request and exit. An exit status other than 0 invalidates the answer."""
    code = 70  # EX_SOFTWARE
    try:
        signal.set_wakeup_fd(-1)
        _keep_only(file, conversation)
        talking = socket.socket(fileno=_CONVERSATION)
        confinement.confine(_FILE)
        tasks.serve(_FILE, talking)
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())  # to the worker's log: a bug, not the file
    finally:
        os._exit(code)


def _keep_only(file: int, conversation: int) -> None:
    """Close all descriptors but the standard three, the file and the conversation."""
    aside = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _CONVERSATION + 1) for descriptor in (file, conversation)]
    os.dup2(aside[0], _FILE)
    os.dup2(aside[1], _CONVERSATION)
    os.closerange(_CONVERSATION + 1, os.sysconf("SC_OPEN_MAX"))


def main(descriptor: int) -> None:
    os.umask(0o077)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # sent to whole groups; this process ends after its worker's last request
    tasks.warm_up()
    confinement.seclude()
    gc.freeze()  # so that children share the loaded memory
    _Zygote(socket.socket(fileno=descriptor)).serve()


if __name__ == "__main__":
    main(int(sys.argv[1]))
