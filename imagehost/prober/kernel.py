"""What Linux takes from a process that asks for it. Elsewhere, and where the kernel refuses, nothing happens."""

import ctypes
import errno
import platform
import struct
import sys

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
"""Denied: the name of each system call and its number on x86_64 and aarch64. Whatever opens, changes or calls for
something outside of the process: paths, sockets, processes, namespaces. What is open already stays usable."""

_COLUMN, _ARCHITECTURE = {"x86_64": (1, 0xC000003E), "aarch64": (2, 0xC00000B7)}.get(platform.machine(), (0, 0))
_X32 = 0x40000000  # the same calls under second numbers
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # linux/bpf_common.h
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4  # in struct seccomp_data
_ALLOWED, _REFUSED = 0x7FFF0000, 0x00050000 | errno.EPERM


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def leave_network() -> bool:
    """Into a network namespace without any interface. Only for a process without threads. False: all is as it was."""
    return _LIBC is not None and (
        _LIBC.unshare(_CLONE_NEWNET) == 0 or _LIBC.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0
    )


def drop_capabilities() -> None:
    """Those of root, and those that come with a user namespace."""
    if _LIBC is not None:
        _LIBC.capset(ctypes.byref(_CapabilityHeader(_CAPABILITY_VERSION_3, 0)), (ctypes.c_uint32 * 6)())


def hide() -> None:
    """From processes of the same user: no reading of its environment or memory, no tracing; no core dump either."""
    _prctl(_PR_SET_DUMPABLE, 0)


def can_filter() -> bool:
    """Whether `filter_calls` will do something. A filter at address 0 is EFAULT where filters are known."""
    known = _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER) == errno.EFAULT
    return known and bool(_COLUMN) and sys.maxsize > 2**32


def filter_calls() -> None:
    """From now on the calls of the table fail with EPERM. No way back, not by starting a program either."""
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
    """As instructions of classic BPF (seccomp(2)), the last one being the refusal."""
    denied = [int(number) for number in _NUMBERS[_COLUMN::3] if number != "-"] if _COLUMN else []
    count = len(denied) + 6
    steps = [(_LOAD, 0, 0, _ARCHITECTURE_AT), (_EQUAL, 0, count - 3, _ARCHITECTURE), (_LOAD, 0, 0, _NUMBER_AT)]
    for code, value in [(_AT_LEAST, _X32), *((_EQUAL, number) for number in denied)]:
        steps.append((code, count - len(steps) - 2, 0, value))
    steps += [(_RETURN, 0, 0, _ALLOWED), (_RETURN, 0, 0, _REFUSED)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


_FILTER = _filter()
