"""The web server of the embedded default: its command line, and its first start out of a process that is ready for it.

A cold start imports Django a second time, while the other programs do the same. A fork of the process that has prepared
the service has it loaded, answers in a third of the time and shares the memory.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import runpy
import select
import signal
import sys
import traceback
from dataclasses import replace
from typing import NoReturn

from django.conf import settings

from config.operations import supervisor
from config.operations.supervisor import Program

READY_VARIABLE = "WEB_READY_FD"  # a pipe: the first worker writes to it once it has loaded everything
PATIENCE = 60.0  # seconds that the other programs and the printed address wait for that
_MODULE = ("-m", "granian")
# One worker: limits and caches of the embedded default live in it.
_OPTIONS = (
    *("--interface", "asgi"),
    *("--workers", "1"),
    *("--workers-kill-timeout", "5"),  # a connection that idles must not keep Ctrl-C waiting
    "--respawn-failed-workers",
    *("--log-level", "error"),
    "--no-ws",
    "--no-access-log",
)


def program() -> Program:
    """Return the web server, still to be started.

    It replaces a worker that ends, and ends itself where two end within 5.5 seconds: the supervisor starts it again.
    """
    where = ("--host", settings.HOST, "--port", str(settings.PORT))
    return Program("web", (sys.executable, *_MODULE, *_OPTIONS, *where, "config.web.embedded:application"))


def forked(web: Program) -> Program:
    """Start `web` in a fork of this process, which has one thread and no connection, and wait until it can answer."""
    gc.freeze()  # a collection writes to each object that it looks at, which ends the sharing of its memory
    parent = os.getpid()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _serve(web, parent, writer)
    os.close(writer)
    select.select([reader], [], [], PATIENCE)  # readable, too, once the server and its worker have ended
    os.close(reader)
    return replace(web, pid=pid)


def note_loaded() -> None:
    """Collect garbage from here on, and say that this worker can answer (later ones find the pipe closed)."""
    gc.enable()
    if writer := os.environ.get(READY_VARIABLE):
        with contextlib.suppress(OSError):
            os.write(int(writer), b".")
            os.close(int(writer))


def _serve(web: Program, parent: int, writer: int) -> NoReturn:
    """Run the program's command line in this new process."""
    code = 1
    try:
        supervisor.lead_session(parent)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.set_inheritable(writer, False)  # noqa: FBT003 - so it is called
        os.environ[READY_VARIABLE] = str(writer)
        gc.disable()  # until the worker has loaded everything
        multiprocessing.set_start_method("fork")  # from Python 3.14 on the default is another one
        sys.argv = list(web.argv[2:])
        runpy.run_module(_MODULE[1], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
