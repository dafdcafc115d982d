"""Health checks: GET /healthz says that the process answers, GET /readyz/host that this host may get requests, and
GET /readyz, for people and monitoring, what its parts say.

A part's state is "ok" or a sentence that says what is wrong. Each group of checks has a thread of its own, so a check
that hangs delays no other group. Threads ask in the background, one for each group at most.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from django.conf import settings
from django.contrib.staticfiles.storage import ManifestFilesMixin, staticfiles_storage
from django.core.cache import cache
from django.core.files.storage import storages
from django.core.handlers.asgi import ASGIRequest
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.plans import LARGEST_FILE, MEGABYTE
from config import jobs
from config.jobs import Job
from config.observability import outages
from config.operations import parallel_calls
from imagehost.storing.storage import FolderStorage, incoming_directory
from infrastructure import redis_errors
from oidc_provider.errors import SigningUnavailable
from oidc_provider.token import signing
from presence.answer import members
from presence.store import store
from presence.store.store import StoreUnavailable

AWAY: tuple[type[Exception], ...] = (DatabaseError, StoreUnavailable, *redis_errors.AWAY)
STARTED_AT = timezone.now()
# After a stop of everything the jobs are late until they have run, and they may be started after the web server.
YOUNG = timedelta(minutes=2)
LIMIT = 0.9  # seconds for all parts together
KEPT = 2  # seconds for which an answer is given again: anybody may ask
REMEMBERED = 10  # seconds for which a part's last state stands, where a busy host has not asked again in time
NO_ANSWER = f"no answer within {LIMIT} s"

Checks = Mapping[str, Callable[[], str]]  # part → "" where it is ready, else what is wrong


class Part(NamedTuple):
    state: str
    milliseconds: int


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """200 as long as the process answers. Reads nothing."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def host(request: HttpRequest) -> HttpResponse:
    """Answer 200 once this process can serve requests, else 503.

    It can once it has started, its static files are there, and the migrations are applied. For load balancers.
    What all hosts share, such as the database, takes no host out of service. Asks the database until the migrations are
    applied, and then nothing.
    """
    found: dict[str, Part] = {}
    if not isinstance(request, ASGIRequest):  # `config.web.asgi` serves no pages
        found["static_files"] = Part(_state(static_files), 0)
    if not _migrated.is_set():
        found |= _parts([{"migrations": migrations}])
    return _answer(found, is_ready=all(part.state == "ok" for part in found.values()))


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """200, or 503 with the state of each part and how long its check took. Takes at most a second.

    A state is at most KEPT seconds old, REMEMBERED where its check takes long.

    `?exclude=jobs,presence`: these parts are listed, and do not count. 400 for an unknown part.
    """
    excluded = {name for value in request.GET.getlist("exclude") for name in value.split(",") if name}
    if unknown := excluded - names():
        all_names = ", ".join(sorted(names()))
        sentence = f"exclude: no part is named {', '.join(sorted(unknown))}. Parts: {all_names}.\n"
        return HttpResponse(sentence, status=400, content_type="text/plain; charset=utf-8")
    found = parts()
    if isinstance(request, ASGIRequest):
        del found["static_files"], found["files"], found["incoming"]  # `config.web.asgi` serves no pages and no files
    needed = [part for name, part in found.items() if name not in excluded and not is_optional(name)]
    return _answer(found, is_ready=all(part.state == "ok" for part in needed))


def _answer(found: Mapping[str, Part], *, is_ready: bool) -> HttpResponse:
    body = {
        "status": "ok" if is_ready else "unavailable",
        "parts": {name: part.state for name, part in found.items()},
        "milliseconds": {name: part.milliseconds for name, part in found.items()},
    }
    return JsonResponse(body, status=200 if is_ready else 503)


def parts() -> dict[str, Part]:
    """Return every part within a second, even if checks hang."""
    return _parts(GROUPS)


def _parts(groups: Iterable[Checks]) -> dict[str, Part]:
    calls = [{name: partial(_state, check) for name, check in checks.items()} for checks in groups]
    outcomes = parallel_calls.run(calls, caller="readiness", limit=LIMIT, kept=KEPT, remembered=REMEMBERED)
    return {name: Part(found.value or NO_ANSWER, found.milliseconds) for name, found in outcomes.items()}


def names() -> set[str]:
    """Return the names of all parts."""
    return {name for checks in GROUPS for name in checks}


def _state(check: Callable[[], str]) -> str:
    try:
        return check() or "ok"
    except SigningUnavailable as error:
        return str(error)
    except AWAY as error:
        is_full = outages.server_of(error) == "Redis (full)"
        return "Redis is full (maxmemory) and refuses to write" if is_full else "not reachable"


def is_optional(part: str) -> bool:
    """Return whether the service is ready without this part."""
    return part == "presence"


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return ""


def migrations() -> str:
    """Check that no migration waits. Once none does, this process looks no more: what it needs stays applied."""
    if _migrated.is_set():
        return ""
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if waiting:
        return f"{len(waiting)} migrations are waiting"
    _migrated.set()
    return ""


def _cache() -> str:
    cache.set("readyz", "ok", timeout=5)
    return "" if cache.get("readyz") == "ok" else "does not keep values"


def static_files() -> str:
    """Check the manifest of `collectstatic`, without which pages answer 500."""
    storage: object = staticfiles_storage
    is_missing = isinstance(storage, ManifestFilesMixin) and not storage.hashed_files
    return "not collected: run manage.py collectstatic --noinput on this host, then restart" if is_missing else ""


def files() -> str:
    """Check that both folders are writable and shared by all hosts."""
    for alias, variable in (("imagehost", "FILES_DIR"), ("uploads", "UPLOADS_DIR")):
        store: object = storages[alias]
        if not isinstance(store, FolderStorage):
            continue
        try:
            if not store.is_shared(name=alias):
                return f"{variable} is not the folder of the other hosts: share it, or set S3_BUCKET"
            if not os.access(store.location, os.W_OK):
                return f"{variable} cannot be written"
        except redis_errors.AWAY:
            return "Redis is not reachable, in which hosts compare their folders"
        except OSError as error:
            return f"{variable}: {error.strerror}"
    return ""


def _incoming() -> str:
    """Check that an upload has room while it comes in."""
    try:
        free = shutil.disk_usage(incoming_directory()).free
    except OSError as error:
        return f"INCOMING_DIR: {error.strerror}"
    if free >= LARGEST_FILE:
        return ""
    return f"INCOMING_DIR is full: {free // MEGABYTE} MB are left, and an upload takes up to {LARGEST_FILE // MEGABYTE}"


def _signing_key() -> str:
    signing.check()
    return ""


def _jobs() -> str:
    now = timezone.now()
    is_young = now - STARTED_AT < YOUNG
    late = [] if is_young else jobs.late(now)
    return f"late: {', '.join(_age(job, now) for job in late)}" if late else ""


def presence() -> str:
    if not settings.CHAT.guild_id:
        return "off: CHAT_GUILD_ID names no chat server"
    opened, now = store.opened(), timezone.now()
    alive_at = opened.alive_at()
    if alive_at is None:
        return "no worker has filled the store"
    if not members.is_fresh(alive_at, now):
        return f"stale: last write {now.timestamp() - alive_at:.0f} s ago"
    policy = opened.eviction()
    return f"Redis may evict members (maxmemory-policy {policy}): set noeviction" if policy else ""


def _age(job: Job, now: datetime) -> str:
    """Return the job's name and how long ago it succeeded last."""
    success = job.run.last_success(now)
    if success is None:
        return f"{job.name} (no success yet)"
    return f"{job.name} (last success {(now - success) // timedelta(minutes=1)} min ago)"


_migrated = threading.Event()  # set for good
GROUPS: tuple[Checks, ...] = (
    {"database": _database, "migrations": migrations, "signing_key": _signing_key, "jobs": _jobs},
    {"static_files": static_files, "cache": _cache},  # which may hang
    {"files": files},
    {"incoming": _incoming},
    {"presence": presence},
)
