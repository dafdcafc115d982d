"""The landing page, and the answers to requests that failed: JSON under /api/, a page everywhere else."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template import loader
from django.views.decorators.csrf import csrf_exempt

from oidc_provider.scopes import SCOPES


def home(request: HttpRequest) -> HttpResponse:
    return render(request, "home.html")


def docs(request: HttpRequest) -> HttpResponse:
    """How to sign people in: what the discovery document names as `service_documentation`."""
    return render(request, "docs/sign_in.html", {"scopes": SCOPES.values()})


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _failure(request, 400, "errors.badRequest", "400.html")


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _failure(request, 403, "errors.forbidden", "403.html")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return _failure(request, 403, "errors.forbidden", "403_csrf.html")


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _failure(request, 404, "errors.notFound", "404.html")


@csrf_exempt
def api_not_found(request: HttpRequest) -> HttpResponse:
    """For the pattern that stands behind every known path under /api/."""
    return JsonResponse({"error": "errors.notFound"}, status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Rendered without context: whatever broke may be what a context processor needs."""
    if _is_api(request):
        return JsonResponse({"error": "errors.internal"}, status=500)
    return HttpResponse(loader.render_to_string("500.html"), status=500)


def _failure(request: HttpRequest, status: int, error: str, template: str) -> HttpResponse:
    if _is_api(request):
        return JsonResponse({"error": error}, status=status)
    return render(request, template, status=status)


def _is_api(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")
