"""What a child may use: it limits itself before it reads the first byte of a file, and cannot undo it.

System calls are filtered and the network is left only on Linux; where the kernel cannot, these functions do nothing.
"""

import ctypes
import errno
import os
import platform
import resource
import signal
import struct
import sys
from functools import cache
from pathlib import Path

_MEBIBYTE = 1024 * 1024
ADDRESS_SPACE = 1152 * _MEBIBYTE
"""Bytes beyond what the zygote has mapped. libwebp holds two pictures and the file: at most 800 and 250 MB."""
VIDEO_ADDRESS_SPACE = 512 * _MEBIBYTE  # 300 MB decode 8K
CPU_SECONDS = 15
WALL_SECONDS = 45  # on a busy machine CPU_SECONDS take as long
LOG_GROWTH = 64 * 1024  # bytes that it may write to stderr where that is a file
OPEN_FILES = 16
FILE = 3  # the descriptor of a child's file
_STATM = Path("/proc/self/statm")
_WHERE_UNKNOWN = 256 * _MEBIBYTE

_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 4, 22, 38  # linux/prctl.h
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000  # linux/sched.h
_CAPABILITY_VERSION_3 = 0x20080522  # linux/capability.h
_SECCOMP_MODE_FILTER = 2

_NUMBERS = """
    read 0 63               write 1 64                readv 19 65               writev 20 66
    pread64 17 67           pwrite64 18 68            lseek 8 62                fstat 5 80
    ftruncate 77 46         close 3 57                recvfrom 45 207           sendto 44 206
    brk 12 214              mmap 9 222                munmap 11 215             mprotect 10 226
    mremap 25 216           madvise 28 233            futex 202 98              prlimit64 302 261
    clock_gettime 228 113   gettimeofday 96 169       getrandom 318 278         rt_sigreturn 15 139
    restart_syscall 219 128 exit 60 93                exit_group 231 94
""".split()
"""The allowed system calls: the name of each, its number on x86_64 and on aarch64. They use memory, the clock and open
descriptors, and none takes a path. `_CONDITIONS` narrows some."""

_COLUMN, _ARCHITECTURE = {"x86_64": (1, 0xC000003E), "aarch64": (2, 0xC00000B7)}.get(platform.machine(), (0, 0))
_LOAD, _EQUAL, _SHARES_BITS, _RETURN = 0x20, 0x15, 0x45, 0x06  # linux/bpf_common.h
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16  # in struct seccomp_data
_PROT_EXEC = 0x4  # asm-generic/mman-common.h
_CONDITIONS = {
    "lseek": [(0, _EQUAL, FILE, True)],  # stderr may be the file of a log
    "ftruncate": [(0, _EQUAL, FILE, True)],
    "pwrite64": [(0, _EQUAL, FILE, True)],
    "mmap": [(2, _SHARES_BITS, _PROT_EXEC, False)],
    "mprotect": [(2, _SHARES_BITS, _PROT_EXEC, False)],
    "prlimit64": [(0, _EQUAL, 0, True), (1, _EQUAL, resource.RLIMIT_AS, True)],  # its own, for `keep_to_video_memory`
}
"""For a call: the position of an argument, the test of its lower half, the value, and whether the test must hold."""
_ALLOWED, _REFUSED = 0x7FFF0000, 0x00050000 | errno.EPERM


def shield() -> None:
    """Keep children from reading and tracing this process where they cannot be filtered.

    It then writes no core dump, and only root may trace it or write to its files in /proc.
    """
    if not can_filter():
        hide()


def seclude() -> None:
    """Give up the network and capabilities, in a process that has loaded all it needs and only forks children."""
    shield()
    leave_network()
    drop_capabilities()


def confine(*files: int) -> None:
    """Limit this process: memory, processor, time, files and system calls. `files`: descriptors.

    No file may grow beyond the largest that is open, since the strip never makes a file longer. SIGALRM ends the
    process when its time is over. It cannot dump core, start a thread or process, or open anything.
    """
    for number in (signal.SIGALRM, signal.SIGXCPU, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS)
    _limit(resource.RLIMIT_AS, _mapped() + ADDRESS_SPACE)
    _limit(resource.RLIMIT_CPU, CPU_SECONDS, hard=CPU_SECONDS + 1)
    sizes = [os.fstat(2).st_size + LOG_GROWTH, *(os.fstat(file).st_size for file in files)]
    _limit(resource.RLIMIT_FSIZE, max(sizes))
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NPROC, 0)  # root may exceed it
    hide()
    filter_calls()


def keep_to_video_memory() -> None:
    """Lower the memory limit for video decoders: they need less, and are attacked most."""
    _limit(resource.RLIMIT_AS, _mapped() + VIDEO_ADDRESS_SPACE)


def _limit(kind: int, soft: int, *, hard: int | None = None) -> None:
    """Set a limit, never above the current one."""
    _, ceiling = resource.getrlimit(kind)
    hard = soft if hard is None else hard
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))


@cache
def _mapped() -> int:
    """Return the bytes of address space in use at the first call; a guess except on Linux, which enforces RLIMIT_AS."""
    if not _STATM.exists():
        return _WHERE_UNKNOWN
    return int(_STATM.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def leave_network() -> bool:
    """Enter a network namespace without any interface; whether that worked. Only for a process without threads."""
    return _LIBC is not None and (
        _LIBC.unshare(_CLONE_NEWNET) == 0 or _LIBC.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0
    )


def drop_capabilities() -> None:
    """Drop the capabilities of root and of a new user namespace."""
    if _LIBC is not None:
        _LIBC.capset(ctypes.byref(_CapabilityHeader(_CAPABILITY_VERSION_3, 0)), (ctypes.c_uint32 * 6)())


def hide() -> None:
    """Keep processes of this user from tracing this one and reading its environment and memory; no core dump."""
    _prctl(_PR_SET_DUMPABLE, 0)


def can_filter() -> bool:
    """Return whether `filter_calls` has an effect. A kernel with filters answers EFAULT to one at address 0."""
    known = _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER) == errno.EFAULT
    return known and bool(_COLUMN) and sys.maxsize > 2**32


def filter_calls() -> None:
    """Make all calls outside the table fail with EPERM from now on."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    if can_filter():
        program = _Program(len(_FILTER) // 8, _FILTER)
        refusal = _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))
        if refusal:
            raise OSError(refusal, "the system calls cannot be filtered")


def _prctl(option: int, *arguments: int) -> int:
    """Return the error number, 0 for none."""
    if _LIBC is None:
        return errno.ENOSYS
    padded = [*arguments, 0, 0, 0, 0][:4]
    return ctypes.get_errno() if _LIBC.prctl(option, *map(ctypes.c_ulong, padded)) == -1 else 0


def _filter() -> bytes:
    """Return the instructions of classic BPF (seccomp(2)).

    A call's instructions end by allowing or refusing it; a call of another number goes on behind them.
    """
    steps = [(_LOAD, 0, 0, _ARCHITECTURE_AT), (_EQUAL, 1, 0, _ARCHITECTURE), (_RETURN, 0, 0, _REFUSED)]
    steps.append((_LOAD, 0, 0, _NUMBER_AT))
    for name, number in zip(_NUMBERS[::3], _NUMBERS[_COLUMN::3], strict=True) if _COLUMN else ():
        call = []
        conditions = _CONDITIONS.get(name, [])
        for left, (argument, test, value, must_hold) in zip(range(len(conditions), 0, -1), conditions, strict=True):
            to_refusal = 2 * left - 1
            call.append((_LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument))
            call.append((test, *((0, to_refusal) if must_hold else (to_refusal, 0)), value))
        call += [(_RETURN, 0, 0, _ALLOWED), (_RETURN, 0, 0, _REFUSED)]
        steps += [(_EQUAL, 0, len(call), int(number)), *call]
    steps.append((_RETURN, 0, 0, _REFUSED))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


_FILTER = _filter()
