"""What every request passes on its way in and out."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse

from accounts import client_address, content_security
from config import views

GetResponse = Callable[[HttpRequest], HttpResponse]


class EdgeProxyMiddleware:
    """Refuses a request that went around the edge proxy, whatever its path, before any route runs.

    Leaves the client's address in `client_address.current` for the limits and the audit trail.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        address = client_address.of(request)
        if address is None:
            return JsonResponse({"error": "errors.forbidden"}, status=403)
        token = client_address.current.set(address)
        try:
            return self.get_response(request)
        finally:
            client_address.current.reset(token)


class NulByteMiddleware:
    """A path with a NUL byte names nothing; PostgreSQL would refuse to look."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return views.not_found(request) if "\x00" in request.path else self.get_response(request)


class ContentSecurityPolicyMiddleware:
    """Sets the strict policy on every response that has none of its own.

    Account pages may also redirect to the apps that wait for this session's sign-in.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if content_security.HEADER not in response.headers:
            is_account_page = request.path.startswith("/accounts/") and hasattr(request, "session")
            waiting = request.session.get(content_security.WAITING_FORM_ACTIONS, []) if is_account_page else []
            response.headers[content_security.HEADER] = content_security.header(*waiting)
        return response
