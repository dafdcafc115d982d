"""A little API that the tests call: one endpoint for each thing that a view can be."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, re_path

from accounts import authentication
from accounts.api_view import ApiRequest, ApiView, json_bytes, json_response
from accounts.models import Permission
from config import views
from infrastructure.requests import request_context
from infrastructure.requests.errors import ApiError, NotFound

handler400 = views.bad_request
handler403 = views.permission_denied
handler404 = views.not_found
handler500 = views.server_error


class NotMember(NotFound):
    error = "errors.lookupNotMember"
    extra = {"miss": "notMember"}


class Open(ApiView):
    """Asks for no key."""

    def get(self, request: HttpRequest) -> HttpResponse:
        seen = [name for name in ("session", "user", "csrf_processing_done", "caller") if hasattr(request, name)]
        return json_response(json_bytes({"seen": seen, "query": request.GET.get("q")}))


class Keyed(ApiView):
    """Returns its caller."""

    permission = Permission.LOOKUP_PRESENCE

    def get(self, request: ApiRequest) -> HttpResponse:
        caller = request.caller
        return json_response(json_bytes({"key": caller.key_id, "owner": caller.owner_id, "premium": caller.is_premium}))

    def post(self, request: ApiRequest) -> HttpResponse:
        return json_response(b'{"posted":true}', 201)


class Costly(Keyed):
    """Counts as three requests of its key."""

    def cost(self, request: request_context.Request) -> int:
        return 3


class Earlier(ApiView):
    permission = Permission.ACCOUNT
    credential = authentication.earlier_credential

    def refusal(self, error: ApiError) -> ApiError:
        return error if error.status == 429 else error.with_status(404)

    def get(self, request: ApiRequest) -> HttpResponse:
        return json_response(json_bytes({"key": request.caller.key_id}))


class Kept(ApiView):
    """Sets its own Cache-Control."""

    permission = Permission.LOOKUP_PRESENCE

    def get(self, request: ApiRequest) -> HttpResponse:
        response = json_response(b"{}")
        response.headers["Cache-Control"] = "private, max-age=30"
        return response


class Failing(ApiView):
    """Raises the exception that the path names."""

    RAISED: dict[str, Exception] = {
        "api-error": ApiError(),
        "extra": NotMember(),
        "missing": Http404(),
        "suspicious": SuspiciousOperation(),
        "denied": PermissionDenied(),
        "broken": RuntimeError("the key=s3cret of a user"),
    }

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        raise self.RAISED[name]


class Length(ApiView):
    """Reads the body."""

    def put(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        return json_response(json_bytes({"length": len(request.body)}))


urlpatterns = [
    path("api/open", Open.as_view()),
    path("api/keyed", Keyed.as_view()),
    path("api/costly", Costly.as_view()),
    path("api/earlier", Earlier.as_view()),
    path("api/kept", Kept.as_view()),
    path("api/failing/<name>", Failing.as_view()),
    path("api/length", Length.as_view()),
    re_path(r"^api(?:/|$)", views.api_not_found),
]
