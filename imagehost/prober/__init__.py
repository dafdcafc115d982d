"""Files of strangers are parsed here, in a process that can do little else.

`client` is the side of the web process. `zygote` is a small process beside it that has Pillow and PyAV loaded and forks
a child for each file; `confinement` takes from the child what it does not need; `tasks` is what the child does.

What a child is limited to, on Linux, in the order of how far one can rely on it:

- Its memory, processor time, wall time, file size and number of open files have limits on every kernel. It holds the
  file, its conversation and the standard three, and none of the worker's environment.
- It has no capabilities, gains none, starts no thread and no process (RLIMIT_NPROC, which spares root), and no process
  of its own user can trace it.
- On x86_64 and aarch64, where the kernel knows seccomp filters: it opens no file for reading or writing, changes no
  path, makes no socket, starts nothing, signals and traces no process (table: `kernel`). This holds for root too.
- Where the kernel grants a namespace to the zygote (containers often do not), there is no network interface.

What is left to it: it may ask whether paths exist and who they belong to, change the priority and the limits of
processes of its user, and overwrite the one file it was given for probing. Without a filter it may besides open what
its user may open and connect to Unix sockets; the worker's environment stays closed to it (`confinement.shield`).
Elsewhere than on Linux the limits of the first point are all there is, as far as the system keeps them.
"""
