"""Health checks for operators: /healthz says that the process answers, /readyz that its parts do."""

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache

from config import readiness


@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """200 as long as the process answers; touches nothing."""
    return JsonResponse({"status": "ok"})


@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """200, or 503 with what is wrong, part by part, and how long each took. It takes at most a second."""
    parts = readiness.parts()
    if isinstance(request, ASGIRequest):
        del parts["static_files"], parts["files"]  # `config.asgi` serves no pages and no files
    is_ready = all(part.state == "ok" for name, part in parts.items() if not readiness.is_optional(name))
    body = {
        "status": "ok" if is_ready else "unavailable",
        "parts": {name: part.state for name, part in parts.items()},
        "milliseconds": {name: part.milliseconds for name, part in parts.items()},
    }
    return JsonResponse(body, status=200 if is_ready else 503)
