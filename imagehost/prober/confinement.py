"""What a child may use: set by itself, before it reads the first byte of a stranger's file. No way back."""

import os
import resource
import signal
from pathlib import Path

_MEBIBYTE = 1024 * 1024
ADDRESS_SPACE = 1024 * _MEBIBYTE
"""Bytes beyond what the zygote has mapped. libwebp and libavif hold two pictures at once: 720 MB of the largest."""
VIDEO_ADDRESS_SPACE = 512 * _MEBIBYTE  # 300 MB decode 8K
CPU_SECONDS = 15
WALL_SECONDS = 20
FILE_SIZE = 257 * _MEBIBYTE  # the largest plan takes 250 MiB; the strip never makes a file longer
OPEN_FILES = 16
_STATM = Path("/proc/self/statm")
_WHERE_UNKNOWN = 256 * _MEBIBYTE


def confine() -> None:
    """Limit this process: memory, processor, time, files, no core dump. SIGALRM ends it when its time is over."""
    for number in (signal.SIGALRM, signal.SIGXCPU, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS)
    _limit(resource.RLIMIT_AS, _mapped() + ADDRESS_SPACE)
    _limit(resource.RLIMIT_CPU, CPU_SECONDS, hard=CPU_SECONDS + 1)
    _limit(resource.RLIMIT_FSIZE, FILE_SIZE)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    _limit(resource.RLIMIT_CORE, 0)


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


def _mapped() -> int:
    """Bytes of address space in use; only Linux says (and only Linux keeps RLIMIT_AS)."""
    if not _STATM.exists():
        return _WHERE_UNKNOWN
    return int(_STATM.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
