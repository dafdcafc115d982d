"""What the confined child is refused by the kernel: as root and as an ordinary user, by what it tries."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from imagehost.examining.prober import client, confinement
from tests.dashboard.profile import sounds_and_fonts
from tests.imagehost import media_corpus

ROOT = Path(__file__).parents[2]
USERS = ["whoever runs the tests", "ordinary"]

BECOMING = """
import codecs, ctypes, errno, fcntl, json, mmap, os, resource, signal, socket, sys, termios, threading
from pathlib import Path
from imagehost.examining.prober import confinement, zygote
codecs.lookup("idna")  # of a host's name: it cannot be loaded later
if sys.argv[1] == "ordinary" and os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    confinement._prctl(confinement._PR_SET_DUMPABLE, 1)  # as a program is that this user has started

def outcome(act):
    try:
        act()
    except OSError as error:
        return errno.errorcode[error.errno]
    except RuntimeError as error:
        return str(error)
    return "done"
"""


def run(script: str, *arguments: str, **environment: str) -> Any:
    """What the script prints as JSON."""
    ran = subprocess.run(  # our own script
        [sys.executable, "-c", BECOMING + script, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(ran.stdout)


READING = """
def read():
    assert b"THE_SECRET=" in Path(f"/proc/{os.getppid()}/environ").read_bytes()

def by_child(*before):
    reader, writer = os.pipe()
    if os.fork() == 0:
        for act in before:
            act()
        os.write(writer, outcome(read).encode())
        os._exit(0)
    return os.read(reader, 100).decode()

found = [by_child(), by_child(confinement.confine)]
confinement.hide()
print(json.dumps([*found, by_child(confinement.drop_capabilities)]))
"""


@pytest.mark.parametrize("user", USERS)
def test_a_child_cannot_read_the_environment_of_its_worker(user: str) -> None:
    """The first one is not confined; from the last one the worker hides, as it does where there is no filter."""
    assert confinement.can_filter()
    assert run(READING, user, THE_SECRET="x") == ["done", "EPERM", "EACCES"]


ATTEMPTS = """
path, address, parent = sys.argv[2], ("127.0.0.1", int(sys.argv[3])), os.getppid()
libc = ctypes.CDLL(None, use_errno=True)

def call(number):
    if libc.syscall(number, 0, 0, 0, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "")

def refused(result):
    if result in (-1, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "")

def make_executable():
    page = mmap.mmap(-1, mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    refused(libc.mprotect(ctypes.c_void_p(address), mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_EXEC))

def fork():
    if os.fork() == 0:
        os._exit(0)

spare, _ = socket.socketpair()
limits = (ctypes.c_ulong * 2)(1, 1)
attempts = {
    "read": lambda: os.open(path, os.O_RDONLY),
    "write": lambda: os.open(path, os.O_WRONLY),
    "create": lambda: os.open(path + ".new", os.O_CREAT | os.O_WRONLY),
    "truncate": lambda: os.truncate(path, 0),
    "truncate the log": lambda: os.ftruncate(2, 0),
    "overwrite the log": lambda: os.pwrite(2, b"", 0),
    "go back in the log": lambda: os.lseek(2, 0, os.SEEK_SET),
    "remove": lambda: os.unlink(path),
    "rename": lambda: os.rename(path, path + ".new"),
    "link": lambda: os.link(path, path + ".new"),
    "chmod": lambda: os.chmod(path, 0o777),
    "mkdir": lambda: os.mkdir(path + ".new"),
    "stat": lambda: os.stat(path),
    "stat of nothing": lambda: os.stat(path + ".new"),
    "access": lambda: call(21 if os.uname().machine == "x86_64" else 48),
    "readlink": lambda: os.readlink("/proc/self/exe"),
    "list": lambda: os.listdir(0),
    "getcwd": os.getcwd,
    "own signals of descriptors": lambda: fcntl.fcntl(spare, fcntl.F_SETOWN, parent),
    "choose the signal of descriptors": lambda: fcntl.fcntl(spare, 10, signal.SIGKILL),  # F_SETSIG
    "ioctl": lambda: fcntl.ioctl(spare, termios.FIOASYNC, 1),
    "duplicate": lambda: os.dup(0),
    "pass descriptors": lambda: socket.send_fds(spare, [b"x"], [0]),
    "limit the parent": lambda: refused(libc.prlimit(parent, resource.RLIMIT_AS, limits, None)),
    "see limits of the parent": lambda: refused(libc.prlimit(parent, resource.RLIMIT_AS, None, limits)),
    "change another limit": lambda: refused(libc.prlimit(0, resource.RLIMIT_CPU, limits, None)),
    "priority of the parent": lambda: os.setpriority(os.PRIO_PROCESS, parent, 19),
    "processors of the parent": lambda: os.sched_setaffinity(parent, {0}),
    "another alarm": lambda: signal.setitimer(signal.ITIMER_REAL, 0),
    "no alarm": lambda: signal.signal(signal.SIGALRM, signal.SIG_IGN),
    "map code": lambda: mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_EXEC),
    "make memory executable": make_executable,
    "prctl": lambda: refused(libc.prctl(4, 1, 0, 0, 0)),
    "ptrace": lambda: refused(libc.ptrace(16, parent, 0, 0)),
    "mount": lambda: refused(libc.mount(b"none", b"/", b"tmpfs", 0, None)),
    "connect": lambda: socket.create_connection(address, timeout=5),
    "socketpair": socket.socketpair,
    "fork": fork,
    "exec": lambda: os.execv(sys.executable, [sys.executable, "-c", ""]),
    "kill": lambda: os.kill(parent, 0),
    "unshare": lambda: libc.unshare(0) and call(-1),
    "io_uring_setup": lambda: call(425),
    "clone3": lambda: call(435),
    "openat2": lambda: call(437),
    "second numbers of x86_64": lambda: call(0x40000000 | 39),
    "thread": threading.Thread(target=fork).start,
}
confinement.confine()
print(json.dumps({name: outcome(attempt) for name, attempt in attempts.items()}))
"""


@pytest.mark.parametrize("user", USERS)
def test_a_child_sees_opens_starts_and_changes_nothing(user: str, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(b"x")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        found = run(ATTEMPTS, user, str(path), str(listener.getsockname()[1]))
    assert found.pop("thread") == "can't start new thread"
    assert set(found.values()) == {"EPERM"}, found
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("other", b"x")]


def test_the_zygote_has_left_the_network_where_it_may_and_has_no_capability() -> None:
    may_leave = run("print(json.dumps(confinement.leave_network()))", USERS[0])
    started = client._start()
    try:
        ask_in_vain(started)
        namespaces = [Path(f"/proc/{pid}/ns/net") for pid in ("self", started.process.pid)]
        ours, its = (namespace.readlink() for namespace in namespaces)
        status = Path(f"/proc/{started.process.pid}/status").read_text()
    finally:
        started.end()
    assert (ours != its) is may_leave
    assert "CapEff:\t0000000000000000" in status
    assert "CapPrm:\t0000000000000000" in status


def ask_in_vain(started: client._Zygote) -> None:
    """Returns when the zygote serves: it closes what comes without the descriptors of a request."""
    end, other = socket.socketpair()
    with end:
        with other:
            socket.send_fds(started.control, [b"."], [other.fileno()])
        assert end.recv(1) == b""


KEEPING = """
spare = [socket.socketpair() for _ in range(20)]
file = os.open(os.devnull, os.O_RDONLY)
zygote._keep_only(file, spare[3][0].fileno())
confinement.confine()
print(json.dumps([number for number in range(3, 100) if outcome(lambda: os.close(number)) == "done"]))
"""


def test_a_child_keeps_the_file_and_the_conversation_alone() -> None:
    assert run(KEEPING, USERS[0]) == [3, 4]


# --- The zygote has loaded all that a child imports: a confined child opens no file, so an import in it fails. ---

ROOT = Path(__file__).parents[2]
PROBE, SOUND, FONT = {"task": "probe"}, {"task": "sound"}, {"task": "font"}

CHILDREN = """
import json, os, socket, sys
from imagehost.examining.prober import tasks, wire

class Searches:
    found = []
    def find_spec(self, name, path=None, target=None):
        self.found.append(name)

def searched(path, request):
    reader, writer = os.pipe()
    if os.fork() == 0:
        ours, theirs = socket.socketpair()
        sys.meta_path.insert(0, Searches())
        ours.sendall(wire.line(request))
        try:
            tasks.serve(os.open(path, os.O_RDWR), theirs)
        except BaseException as error:
            Searches.found.append(repr(error))
        os.write(writer, json.dumps(Searches.found).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as output:
        return json.load(output)

tasks.warm_up()
tasks.confinement.keep_to_video_memory = lambda: None
print(json.dumps({f"{name} {request}": searched(name, request) for name, request in json.load(sys.stdin)}))
"""


def requests(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """A file and what a child is to do with it."""
    for name in {*media_corpus.TAKEN_NAMES, *media_corpus.REFUSED_NAMES} - {*media_corpus.LARGE_NAMES}:
        sample = media_corpus.sample(name)
        path = folder / name
        path.write_bytes(sample.content)
        yield str(path), PROBE
        if sample.mime:
            render = {"task": "render", "mime": sample.mime, "longest_side": 64, "only_whole": False}
            forms = ("WEBP", "PNG") if name == "png-rgb" else ("WEBP",)
            yield from ((str(path), {**render, "as": form}) for form in forms)
    sounds = {name: sounds_and_fonts.sound(name) for name in sounds_and_fonts.SOUNDS}
    fonts = {"ttf": sounds_and_fonts.plain_font(), "woff": sounds_and_fonts.woff(), "woff2": sounds_and_fonts.woff2()}
    for request, files in ((SOUND, sounds), (FONT, fonts)):
        for name, content in files.items():
            path = folder / name
            path.write_bytes(content)
            yield str(path), request


def test_a_child_imports_nothing(tmp_path: Path) -> None:
    asked = list(requests(tmp_path))
    ran = subprocess.run(  # our own script
        [sys.executable, "-c", CHILDREN],
        cwd=ROOT,
        input=json.dumps(asked),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    searched = json.loads(ran.stdout)
    assert len(searched) == len(asked)
    assert {name: modules for name, modules in searched.items() if modules} == {}
