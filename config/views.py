"""The landing page, and the answers to requests that failed: JSON under /api/, a page everywhere else."""

import functools
import json
import sys
from typing import Any
from urllib.parse import urlsplit

from allauth.account.utils import get_login_redirect_url, get_next_redirect_url
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template import loader
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_safe

from accounts import api_view, authentication
from accounts.api_view import ApiView
from config.observability import outages
from dashboard.access import RoleTooLow
from dashboard.documentation import schema
from imagehost.errors import Busy
from infrastructure.requests.errors import NotFound, Unavailable
from infrastructure.requests.request_context import Request
from oidc_provider import discovery, endpoints
from oidc_provider.errors import ProtocolError, TemporarilyUnavailable

ENTRANCES = {
    *("account_login", "account_signup", "account_signup_by_passkey", "account_reauthenticate"),
    *("mfa_authenticate", "mfa_login_webauthn", "mfa_signup_webauthn", "mfa_reauthenticate_webauthn"),
}
CODE_PAGE = "account_email_verification_sent"  # of sign-ups; signed-in people confirm further addresses there


# Profiles of the demo on the landing page; `tests/browser/screenshots.py` takes their pictures.
EXAMPLES = (
    (
        "ada",
        "Ada Example",
        "Forest",
        "A dark green profile: a sunset as banner, a live card of what its owner is doing, a short text.",
    ),
    (
        "ada-maps",
        "Ada draws maps",
        "Paper",
        "A light profile: a map as banner, a live card of what its owner is doing, badges.",
    ),
    ("cleo", "Cleo", "Dawn", "A pale profile: colored shapes as banner, a fox as picture, a short text and a link."),
)


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show the landing page. Its example profiles are links where the demo has them."""
    examples = [
        {
            "picture": f"img/profiles/{name}.webp",
            "path": reverse("profile_page", args=[name]) if settings.DEMO else "",
            "title": title,
            "theme": f"Theme {theme}",
            "alt": alt,
        }
        for name, title, theme, alt in EXAMPLES
    ]
    return render(request, "home.html", {"examples": examples})


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI document of everything under /api/ but the protocol's endpoints."""
    response = HttpResponse(_openapi_document(), content_type="application/vnd.oai.openapi+json")
    response.headers["Cache-Control"] = "public, max-age=300"
    return response


@functools.cache
def _openapi_document() -> bytes:
    return json.dumps(schema.document()).encode()


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _failure(request, 400, "errors.badRequest", "400.html")


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Say why, and lead a member of a team back to what their role may see."""
    seen = exception if isinstance(exception, RoleTooLow) else None
    return _failure(request, 403, "errors.forbidden", "403.html", {"explanation": str(exception or ""), "seen": seen})


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form that expired, as by a sign-in elsewhere. One that would sign in leads on to its `next`, such as
    a waiting app; other forms get a page that links back to theirs."""
    name = request.resolver_match.url_name if request.resolver_match else None
    is_way_in = name in ENTRANCES or (name == CODE_PAGE and get_next_redirect_url(request))
    if is_way_in and request.user.is_authenticated:
        return redirect(get_login_redirect_url(request))
    # The page with the form: the referrer, if it is a page of this host, else the form's target.
    page, referrer = request.get_full_path(), request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(referrer, {request.get_host()}):
        parts = urlsplit(referrer)
        path = f"/{parts.path.lstrip('/')}"  # two slashes would begin the name of another host
        page = f"{path}?{parts.query}" if parts.query else path
    return _failure(request, 403, "errors.forbidden", "403_csrf.html", {"form_page": page})


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _failure(request, 404, "errors.notFound", "404.html")


def form_too_large(request: HttpRequest) -> HttpResponse:
    return render(request, "413.html", status=413)


def too_many_uploads(request: HttpRequest) -> HttpResponse:
    """Answer 503 in the form of the requested resource."""
    error = Busy()
    if api_view.serves(request.path_info):
        return api_view.finished(request, api_view.error_response(error))
    if _is_api(request):
        response = _protocol_error(request, TemporarilyUnavailable(error.error))
    elif request.accepts("text/html"):
        response = render(request, "503.html", status=503)
    else:
        response = api_view.error_response(error)
    response.headers["Retry-After"] = error.headers()["Retry-After"]
    response.headers["Cache-Control"] = "no-store"
    return response


class ApiNotFound(ApiView):
    """For the pattern after every known path under /api/: 404 for any method."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer paths of the protocol in its own form, without counting them for the limits of the API."""
        if api_view.serves(request.path_info):
            return super().dispatch(request, *args, **kwargs)
        return _failure(request, 404, "errors.notFound", "404.html")

    def answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        authentication.count_address()
        raise NotFound


api_not_found = ApiNotFound.as_view()


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500; 503 where a server that it needs does not answer. Called while the exception is handled.

    The page has no context of the request: the failure may be in what a context processor needs.
    """
    if not outages.server_of(sys.exc_info()[1]):
        if _is_api(request) or request.path_info in discovery.PATHS:
            return _json_failure(request, 500, "errors.internal")
        return HttpResponse(loader.render_to_string("500.html"), status=500)
    error = Unavailable()
    if api_view.serves(request.path_info):
        return api_view.finished(request, api_view.error_response(error))
    if _is_api(request):
        description = "A part of the service does not answer at the moment. Try again."
        return _protocol_error(request, TemporarilyUnavailable(description))
    page = loader.render_to_string("500.html", {"is_outage": True})
    return HttpResponse(page, status=error.status, headers={**error.headers(), "Cache-Control": "no-store"})


def _failure(
    request: HttpRequest, status: int, error: str, template: str, context: dict[str, Any] | None = None
) -> HttpResponse:
    if _is_api(request):
        return _json_failure(request, status, error)
    return render(request, template, context, status=status)


def _json_failure(request: HttpRequest, status: int, error: str) -> HttpResponse:
    if api_view.serves(request.path_info):  # no middleware adds headers there
        return api_view.finished(request, api_view.json_response(api_view.json_bytes({"error": error}), status))
    body = json.dumps({"error": error}).encode()
    return endpoints.answer(Request.of(request), body, status).to_django()


def _protocol_error(request: HttpRequest, error: ProtocolError) -> HttpResponse:
    return endpoints.error_answer(Request.of(request), error).to_django()


def _is_api(request: HttpRequest) -> bool:
    """Return whether it is an API path in any case: `/API/lookup` is a program's request."""
    return request.path_info.lower().startswith("/api/") or request.path_info.lower() == "/api"


def site(request: HttpRequest) -> dict[str, Any]:
    """Return every page's context. `has_terms`, `has_privacy`: the operator has published them."""
    return {
        "site_name": settings.SITE_NAME,
        "support_email": settings.SUPPORT_EMAIL,
        "base_url": settings.BASE_URL,
        "has_terms": settings.TERMS.is_published,
        "has_privacy": settings.PRIVACY.is_published,
    }
