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
    """200, or 503 with what is wrong, part by part, and how long each took. It takes at most a second.

    `?exclude=jobs,presence`: these parts are named, and make nothing unready. 400 where a name is none of a part.
    """
    excluded = {name for value in request.GET.getlist("exclude") for name in value.split(",") if name}
    if unknown := excluded - readiness.names():
        return _unknown(unknown)
    parts = readiness.parts()
    if isinstance(request, ASGIRequest):
        del parts["static_files"], parts["files"]  # `config.asgi` serves no pages and no files
    needed = [part for name, part in parts.items() if name not in excluded and not readiness.is_optional(name)]
    is_ready = all(part.state == "ok" for part in needed)
    body = {
        "status": "ok" if is_ready else "unavailable",
        "parts": {name: part.state for name, part in parts.items()},
        "milliseconds": {name: part.milliseconds for name, part in parts.items()},
    }
    return JsonResponse(body, status=200 if is_ready else 503)


def _unknown(names: set[str]) -> HttpResponse:
    sentence = f"exclude: no part is named {', '.join(sorted(names))}. Parts: {', '.join(sorted(readiness.names()))}.\n"
    return HttpResponse(sentence, status=400, content_type="text/plain; charset=utf-8")
