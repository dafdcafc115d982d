"""What every request passes on its way in and out."""

from collections.abc import Callable

from django.conf import settings
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
    """A NUL byte names nothing, in the path or in a page's query; PostgreSQL would refuse to look.

    The protocol endpoints answer for their own queries, in the protocol's words.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path:
            return views.not_found(request)
        if "%00" in request.META.get("QUERY_STRING", "") and not request.path.startswith("/api/"):
            return views.bad_request(request)
        if "\x00" in request.COOKIES.get(settings.SESSION_COOKIE_NAME, ""):
            del request.COOKIES[settings.SESSION_COOKIE_NAME]
        return self.get_response(request)


class ContentSecurityPolicyMiddleware:
    """Sets the strict policy on every response that has none of its own.

    Account pages may also redirect to the apps that wait for this session's sign-in. Apps may open the pages of a
    sign-in in a popup and hear from it when it comes back: those pages leave the popup its opener.
    """

    SIGN_IN_PATHS = ("/api/auth/", "/consent/", "/accounts/")

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if content_security.HEADER not in response.headers:
            is_account_page = request.path.startswith("/accounts/") and hasattr(request, "session")
            waiting = request.session.get(content_security.WAITING_FORM_ACTIONS, []) if is_account_page else []
            response.headers[content_security.HEADER] = content_security.header(*waiting)
        if request.path.startswith(self.SIGN_IN_PATHS):
            response.headers["Cross-Origin-Opener-Policy"] = "unsafe-none"
        return response
