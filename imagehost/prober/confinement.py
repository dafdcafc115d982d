"""What a child may use: it limits itself before it reads the first byte of a file, and cannot undo it.

System calls are filtered and the network is left on Linux alone; where the kernel cannot, those functions do nothing.
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
_STATM = Path("/proc/self/statm")
_WHERE_UNKNOWN = 256 * _MEBIBYTE

_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 4, 22, 38  # linux/prctl.h
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000  # linux/sched.h
_CAPABILITY_VERSION_3 = 0x20080522  # linux/capability.h
_SECCOMP_MODE_FILTER = 2

_NUMBERS = """
    open 2 -                creat 85 -                openat 257 56             openat2 437 437
    open_by_handle_at 304 265                         open_tree 428 428         open_tree_attr 467 467
    socket 41 198           connect 42 203            bind 49 200               io_uring_setup 425 425
    clone 56 220            fork 57 -                 vfork 58 -                clone3 435 435
    execve 59 221           execveat 322 281          unshare 272 97            setns 308 268
    ptrace 101 117          process_vm_readv 310 270  process_vm_writev 311 271 pidfd_open 434 434
    pidfd_getfd 438 438     pidfd_send_signal 424 424 kill 62 129               tkill 200 130
    tgkill 234 131          rt_sigqueueinfo 129 138   rt_tgsigqueueinfo 297 240 bpf 321 280
    perf_event_open 298 241 userfaultfd 323 282       add_key 248 217           keyctl 250 219
    request_key 249 218     mount 165 40              umount2 166 39            pivot_root 155 41
    chroot 161 51           truncate 76 45            rename 82 -               renameat 264 38
    renameat2 316 276       mkdir 83 -                mkdirat 258 34            rmdir 84 -
    link 86 -               linkat 265 37             unlink 87 -               unlinkat 263 35
    symlink 88 -            symlinkat 266 36          mknod 133 -               mknodat 259 33
    chmod 90 -              fchmodat 268 53           fchmodat2 452 452         chown 92 -
    lchown 94 -             fchownat 260 54           utime 132 -               utimes 235 -
    futimesat 261 -         utimensat 280 88          setxattr 188 5            lsetxattr 189 6
    removexattr 197 14      lremovexattr 198 15       setxattrat 463 463        removexattrat 466 466
    shmget 29 194           shmat 30 196              msgget 68 186             semget 64 190
    mq_open 240 180         socketpair 53 199
""".split()
"""The denied system calls: the name of each, its number on x86_64 and on aarch64. They open or change something outside
of the process: paths, sockets, processes, namespaces. Open descriptors stay usable."""

_COLUMN, _ARCHITECTURE = {"x86_64": (1, 0xC000003E), "aarch64": (2, 0xC00000B7)}.get(platform.machine(), (0, 0))
_X32 = 0x40000000  # the same calls under second numbers
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # linux/bpf_common.h
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4  # in struct seccomp_data
_ALLOWED, _REFUSED = 0x7FFF0000, 0x00050000 | errno.EPERM


def shield() -> None:
    """Where children cannot be filtered, keep them from reading and tracing this process.

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
    """Bytes of address space in use at the first call; known on Linux alone, which alone enforces RLIMIT_AS."""
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
    """Keep processes of the same user from tracing this one and reading its environment and memory; no core dump."""
    _prctl(_PR_SET_DUMPABLE, 0)


def can_filter() -> bool:
    """Whether `filter_calls` has an effect. A kernel with filters answers EFAULT to one at address 0."""
    known = _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER) == errno.EFAULT
    return known and bool(_COLUMN) and sys.maxsize > 2**32


def filter_calls() -> None:
    """Make the calls of the table fail with EPERM from now on, also in programs that this process starts."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    if can_filter():
        program = _Program(len(_FILTER) // 8, _FILTER)
        refusal = _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))
        if refusal:
            raise OSError(refusal, "the system calls cannot be filtered")


def _prctl(option: int, *arguments: int) -> int:
    """The error number, 0 for none."""
    if _LIBC is None:
        return errno.ENOSYS
    padded = [*arguments, 0, 0, 0, 0][:4]
    return ctypes.get_errno() if _LIBC.prctl(option, *map(ctypes.c_ulong, padded)) == -1 else 0


def _filter() -> bytes:
    """The instructions of classic BPF (seccomp(2)); the last one refuses."""
    denied = [int(number) for number in _NUMBERS[_COLUMN::3] if number != "-"] if _COLUMN else []
    count = len(denied) + 6
    steps = [(_LOAD, 0, 0, _ARCHITECTURE_AT), (_EQUAL, 0, count - 3, _ARCHITECTURE), (_LOAD, 0, 0, _NUMBER_AT)]
    for code, value in [(_AT_LEAST, _X32), *((_EQUAL, number) for number in denied)]:
        steps.append((code, count - len(steps) - 2, 0, value))
    steps += [(_RETURN, 0, 0, _ALLOWED), (_RETURN, 0, 0, _REFUSED)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


_FILTER = _filter()
