"""Health for whoever runs the service: /healthz says the process answers, /readyz that its parts do."""

from collections.abc import Callable

from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from redis.exceptions import RedisError

from oidc_provider import signing
from oidc_provider.signing import SigningUnavailable


@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """200 as long as the process answers; touches nothing."""
    return JsonResponse({"status": "ok"})


@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """200, or 503 with what is wrong, part by part."""
    parts = {name: _state(check) for name, check in CHECKS.items()}
    is_ready = all(state == "ok" for state in parts.values())
    body = {"status": "ok" if is_ready else "unavailable", "parts": parts}
    return JsonResponse(body, status=200 if is_ready else 503)


def _state(check: Callable[[], str]) -> str:
    try:
        return check() or "ok"
    except (DatabaseError, RedisError, SigningUnavailable) as error:
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


CHECKS = {"database": _database, "migrations": _migrations, "cache": _cache, "signing_key": _signing_key}
