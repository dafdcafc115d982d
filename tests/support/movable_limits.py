"""The limits of one process on the clock that tests move: nothing moves the monotonic one."""

import time

from infrastructure.limits.in_process import InProcessLimits


class MovableLimits(InProcessLimits):
    """Windows end by `time.time`."""

    def __init__(self) -> None:
        super().__init__(clock=time.time)
