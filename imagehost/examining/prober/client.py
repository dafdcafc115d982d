"""The prober's client in the web process: starts the zygote at the first use, sends files, reads answers.

It is thread-safe. A process that is forked from this one starts a zygote of its own.
"""

import atexit
import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from imagehost.examining.prober import confinement, wire

PATIENCE = confinement.WALL_SECONDS + 10.0  # seconds: the child ends itself long before
_ROOT = Path(__file__).resolve().parents[3]


class ProberFailed(Exception):
    """The prober failed, for another reason than the file."""


class InvalidMedia(Exception):
    """Not an allowed type, broken, a bomb, or another type in disguise; the text is for the log.

    `seconds`: of a processor, that the prober used until it knew.
    """

    def __init__(self, text: str, seconds: float = 0.0) -> None:
        super().__init__(text)
        self.seconds = seconds


class Killed(InvalidMedia):
    """The child was ended by a limit, crashed, or answered too much, while it worked on the file."""


class _Lost(Exception):
    """The zygote ended before a child began with the file."""


@dataclass(frozen=True)
class Answer:
    """`content`: the bytes of a requested preview. `seconds`: of a processor, that the child used."""

    message: wire.Message
    content: bytes
    seconds: float


@dataclass(frozen=True)
class _Zygote:
    process: subprocess.Popen[bytes]
    control: socket.socket

    def end(self) -> None:
        """Close the control socket, which ends the process."""
        self.control.close()
        try:
            self.process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


_lock = threading.Lock()
_zygote: _Zygote | None = None


def ask(path: Path, request: wire.Message, *, writable: bool) -> Answer:
    """Let a child do `request` with the file. Raises ProberFailed, InvalidMedia."""
    try:
        file = os.open(path, (os.O_RDWR if writable else os.O_RDONLY) | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise ProberFailed(f"the file cannot be opened: {error}") from error
    try:
        for _ in range(2):  # once more with a new zygote, if the first was killed
            try:
                return _ask(file, request)
            except _Lost:
                continue
        raise ProberFailed("the zygote ends as soon as it is started")
    except OSError as error:
        raise ProberFailed(f"no conversation with the zygote: {error}") from error
    finally:
        os.close(file)


def _ask(file: int, request: wire.Message) -> Answer:
    ours, theirs = socket.socketpair()
    report, reporting = socket.socketpair()
    with ours, report:
        with theirs, reporting:
            ours.sendall(wire.line(request))
            zygote = _hand_over(file, theirs, reporting)
        try:
            said, status, seconds = _listen(ours, report)
        except (_Lost, ProberFailed):
            _forget(zygote)
            raise
    return _answer(said, status, seconds)


def _listen(conversation: socket.socket, report: socket.socket) -> tuple[bytes, int, float]:
    """Return the child's output, exit status and processor time. Raises as `ask`; _Lost: no child began."""
    give_up_at = time.monotonic() + PATIENCE
    said, status = bytearray(), bytearray()
    with selectors.DefaultSelector() as waiting:
        waiting.register(conversation, selectors.EVENT_READ, said)
        waiting.register(report, selectors.EVENT_READ, status)
        while ends := waiting.get_map():
            ready = waiting.select(give_up_at - time.monotonic())
            if not ready:
                raise ProberFailed(f"no answer within {PATIENCE} s")
            for key, _ in ready:
                chunk = b""
                with contextlib.suppress(ConnectionResetError):
                    chunk = os.read(key.fd, 64 * 1024)
                key.data.extend(chunk)
                if not chunk:
                    waiting.unregister(key.fileobj)
            if said and report not in ends and not status:
                raise ProberFailed("the zygote ended before its child")
            if len(said) > wire.MAX_ANSWER:
                raise Killed("the child's answer is too long", 0.0)
    if not status:
        raise _Lost
    return bytes(said), *wire.REPORT.unpack(status)


def _hand_over(file: int, conversation: socket.socket, report: socket.socket) -> _Zygote:
    """Send the descriptors to the zygote, started if necessary. Raises _Lost."""
    global _zygote  # noqa: PLW0603  # one for each process
    with _lock:
        if _zygote is None:
            _zygote = _start()
        zygote = _zygote
        try:
            socket.send_fds(zygote.control, [wire.REQUEST], [file, conversation.fileno(), report.fileno()])
            return zygote
        except (BrokenPipeError, ConnectionResetError):
            pass  # it ended
    _forget(zygote)
    raise _Lost


def _forget(zygote: _Zygote | None) -> None:
    """End the zygote, unless another thread has replaced it."""
    global _zygote  # noqa: PLW0603  # as above
    with _lock:
        if zygote is None or zygote is not _zygote:
            return
        _zygote = None
        zygote.end()


def _start() -> _Zygote:
    """Start a zygote, with the module path as its only environment.

    `shield` protects /proc/<pid>/environ of this process first, where the kernel cannot filter the children's calls.
    """
    confinement.shield()
    control, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(  # noqa: S603  # our own module
            [sys.executable, "-P", "-m", "imagehost.examining.prober.zygote", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={
                "PATH": os.defpath,
                "PYTHONPATH": os.pathsep.join([str(_ROOT), *filter(None, sys.path)]),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            cwd="/",
            start_new_session=True,  # without the group's signals, it ends after the worker's last request
        )
    return _Zygote(process, control)


def _answer(said: bytes, status: int, seconds: float) -> Answer:
    if status == wire.NOT_STARTED:
        raise ProberFailed("the zygote could not start a process")
    if os.WIFSIGNALED(status):
        ended = f"the child was ended by {signal.Signals(os.WTERMSIG(status)).name}"
        if os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGTERM):  # sent by operators and a full memory
            raise ProberFailed(ended)
        raise Killed(ended, seconds)
    if status != 0:
        raise ProberFailed(f"the child ended with {os.waitstatus_to_exitcode(status)}; its traceback is in the log")
    line, _, content = said.removeprefix(wire.STARTED).partition(b"\n")
    try:
        message = wire.message(line)
    except ValueError as error:
        raise ProberFailed("the answer is not readable") from error
    if "invalid" in message:
        raise InvalidMedia(message["invalid"], seconds)
    return Answer(message, content, seconds)


def _after_fork() -> None:
    """Forget the parent's zygote: this process must neither keep its socket open nor wait for it."""
    global _lock, _zygote  # noqa: PLW0603  # a thread of the parent may hold the lock, and does not exist here
    _lock = threading.Lock()
    if _zygote is not None:
        _zygote.control.close()
        _zygote.process.returncode = 0  # so that wait() is not called for a process that is not our child
    _zygote = None


atexit.register(lambda: _forget(_zygote))
os.register_at_fork(after_in_child=_after_fork)
