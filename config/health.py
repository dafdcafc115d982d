"""Health checks for operators: /healthz says that the process answers, /readyz that its parts do."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from redis.exceptions import RedisError

from config import jobs
from config.jobs import Job
from oidc_provider.token import signing
from oidc_provider.token.signing import SigningUnavailable
from presence import members, store
from presence.store import StoreUnavailable

STARTED_AT = timezone.now()
# After a stop of everything the jobs are late until they have run, and they may be started after the web server.
YOUNG = timedelta(minutes=2)


@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """200 as long as the process answers; touches nothing."""
    return JsonResponse({"status": "ok"})


@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """200, or 503 with what is wrong, part by part. Presence is named only: the rest of the service works without."""
    parts = {name: _state(check) for name, check in CHECKS.items()}
    is_ready = all(state == "ok" for state in parts.values())
    parts["presence"] = _state(_presence)
    body = {"status": "ok" if is_ready else "unavailable", "parts": parts}
    return JsonResponse(body, status=200 if is_ready else 503)


def _state(check: Callable[[], str]) -> str:
    try:
        return check() or "ok"
    except (DatabaseError, RedisError, SigningUnavailable, StoreUnavailable) as error:
        return str(error) if isinstance(error, SigningUnavailable) else "not reachable"


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return ""


def _migrations() -> str:
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(waiting)} migrations are waiting" if waiting else ""


def _cache() -> str:
    cache.set("readyz", "ok", timeout=5)
    return "" if cache.get("readyz") == "ok" else "does not keep values"


def _signing_key() -> str:
    signing.check()
    return ""


def _jobs() -> str:
    now = timezone.now()
    is_young = now - STARTED_AT < YOUNG
    late = [] if is_young else jobs.late(now)
    return f"late: {', '.join(_age(job, now) for job in late)}" if late else ""


def _presence() -> str:
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
    """The job's name and how long ago it succeeded last."""
    if job.run.succeeded_at is None:
        return f"{job.name} (no success yet)"
    return f"{job.name} (last success {(now - job.run.succeeded_at) // timedelta(minutes=1)} min ago)"


CHECKS = {
    "database": _database,
    "migrations": _migrations,
    "cache": _cache,
    "signing_key": _signing_key,
    "jobs": _jobs,
}
