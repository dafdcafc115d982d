"""What a child may use: set by itself, before it reads the first byte of a stranger's file. No way back."""

import os
import resource
import signal
from functools import cache
from pathlib import Path

from imagehost.prober import kernel

_MEBIBYTE = 1024 * 1024
ADDRESS_SPACE = 1152 * _MEBIBYTE
"""Bytes beyond what the zygote has mapped. libwebp holds two pictures and the file: 800 and 250 MB of the largest."""
VIDEO_ADDRESS_SPACE = 512 * _MEBIBYTE  # 300 MB decode 8K
CPU_SECONDS = 15
WALL_SECONDS = 45  # on a busy machine CPU_SECONDS take as long
LOG_GROWTH = 64 * 1024  # bytes that it may write to a log which is a file
OPEN_FILES = 16
_STATM = Path("/proc/self/statm")
_WHERE_UNKNOWN = 256 * _MEBIBYTE


def shield() -> None:
    """Keep the children of this user from reading and tracing this process, where no filter keeps them from it.

    That costs its core dumps, and that only root may trace it or write to its files in /proc.
    """
    if not kernel.can_filter():
        kernel.hide()


def seclude() -> None:
    """For a process that will only fork children: no network, no capabilities. It has loaded all it needs."""
    shield()
    kernel.leave_network()
    kernel.drop_capabilities()


def confine(*files: int) -> None:
    """Limit this process: memory, processor, time, files, and what it may ask the kernel for. `files`: descriptors.

    The strip never makes a file longer: none may grow beyond the largest that is open, whatever a plan allows.
    SIGALRM ends it when its time is over. No core dump, no thread, no other process, nothing that is not open yet.
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
    kernel.hide()
    kernel.filter_calls()


def keep_to_video_memory() -> None:
    """Video decoders need less, and are the ones that are attacked most."""
    _limit(resource.RLIMIT_AS, _mapped() + VIDEO_ADDRESS_SPACE)


def _limit(kind: int, soft: int, *, hard: int | None = None) -> None:
    """Never above the limits that the process has already."""
    _, ceiling = resource.getrlimit(kind)
    hard = soft if hard is None else hard
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))


@cache
def _mapped() -> int:
    """Bytes of address space in use at first; only Linux says (and only Linux keeps RLIMIT_AS)."""
    if not _STATM.exists():
        return _WHERE_UNKNOWN
    return int(_STATM.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
