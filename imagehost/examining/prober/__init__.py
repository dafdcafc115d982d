"""Untrusted files are parsed here, in a confined process.

`client` runs in the web process. `zygote` is a small process that has Pillow and PyAV loaded and forks a
child for each file; `confinement` limits the child; `tasks` is the child's work.

The limits of a child on Linux, the most reliable first:

- Its memory, processor time, wall time, file size and number of open files have limits on every kernel. Its open files
  are the upload, its conversation and the standard three. It has no environment variable of the worker.
- It has no capabilities, gains none, starts no thread and no process (RLIMIT_NPROC, which spares root), and no process
  of its own user can trace it.
- On x86_64 and aarch64, where the kernel knows seccomp filters: it makes only the system calls of a short list, for
  memory, the clock and its open descriptors (table: `confinement`). It sees and opens no path, makes no socket, starts
  nothing, signals, traces and limits no process, makes no memory executable. This holds for root too.
- Where the kernel grants a namespace to the zygote (containers often do not), there is no network interface.

A child can still overwrite the one file it probes. Without a filter it can also open its user's files, connect to Unix
sockets, and signal and limit processes of its user, but not read the worker's environment (`confinement.shield`). On
other systems only the limits of the first point apply, as far as the system enforces them.
"""
