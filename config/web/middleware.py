"""The middleware of the service, and where its messages lie."""

from collections.abc import Callable, MutableMapping
from typing import Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import auth
from django.contrib.auth import SESSION_KEY
from django.contrib.auth import middleware as auth_middleware
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
    StreamingHttpResponse,
)
from django.middleware.gzip import GZipMiddleware
from django.urls import Resolver404, resolve
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.functional import SimpleLazyObject

from accounts import api_view
from accounts.sign_up import waiting_apps
from config import views
from config.observability import access_log, tracing
from config.web import door, request_body
from config.web.door import CountedAsyncIterator, CountedIterator, ObservedRequest
from imagehost.views import content
from infrastructure.requests import content_security, request_context
from infrastructure.requests.kept_html import accepts_gzip

GetResponse = Callable[[HttpRequest], HttpResponse]


class DoorMiddleware:
    """Passes each request that the lane leaves to Django through `config.web.door`, and observes it to its end.

    Probes and scrapes are served under the host of BASE_URL: on a cluster they name a pod's address, which is not in
    ALLOWED_HOSTS. Absolute URLs are made from BASE_URL, not from the header: the libraries build the links of mails and
    the redirect URLs of other services by `build_absolute_uri`.
    """

    PROBES = frozenset({"/healthz", "/readyz", "/readyz/host", "/metrics"})

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self.host = urlsplit(settings.BASE_URL).netloc

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info in self.PROBES:
            request.META["HTTP_HOST"] = self.host
        observed = ObservedRequest(request.META)
        with observed:
            refuse = observed.refusal(request.META)
            response = refuse(request) if refuse else self._answer(request)
        response.headers[request_context.HEADER] = observed.request_id
        if not observed.user_id:  # "" where no view has read the session
            session: dict[str, Any] = vars(getattr(request, "session", object)).get("_session_cache") or {}
            observed.user_id = str(session.get(SESSION_KEY, ""))
        path, method = request.path_info, request.method or ""
        observed.answered(route=route_of(request), method=method, path=path, status=response.status_code)
        if access_log.is_on() or tracing.is_on():
            self._end_with_answer(response, observed)
        return response

    def _answer(self, request: HttpRequest) -> HttpResponse:
        vars(request)["_current_scheme_host"] = settings.BASE_URL  # the cached property that it reads
        if "\x00" in request.COOKIES.get(settings.SESSION_COOKIE_NAME, ""):
            del request.COOKIES[settings.SESSION_COOKIE_NAME]
        return self.get_response(request)

    def _end_with_answer(self, response: HttpResponse | StreamingHttpResponse, observed: ObservedRequest) -> None:
        if not isinstance(response, StreamingHttpResponse):
            observed.end(len(response.content))
            return
        pieces: Any = response.streaming_content  # an iterable of bytes, asynchronous or not
        if response.is_async:
            response.streaming_content = CountedAsyncIterator(aiter(pieces), observed)
        else:
            response.streaming_content = CountedIterator(iter(pieces), observed)


def route_of(request: HttpRequest) -> str:
    """Return the URL pattern of a request that Django has answered."""
    match = request.resolver_match
    if match is None:  # whitenoise resolves no URL
        is_static = request.path_info.startswith(settings.STATIC_URL)
        return f"{settings.STATIC_URL}<path>" if is_static else door.UNMATCHED
    return door.UNMATCHED if match.func is views.api_not_found else door.label_of(match.route)


class CompressionMiddleware(GZipMiddleware):
    """Compresses pages and texts from 1 kB and JSON from 4 kB on; files, streams and secrets never."""

    SMALLEST_TEXT = 1024  # bytes

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not isinstance(response, HttpResponse) or door.holds_secret(response.headers, request.path_info):
            return response
        accepted = request.META.get("HTTP_ACCEPT_ENCODING", "")
        content_type = response.get("Content-Type", "").partition(";")[0]
        if content_type == "application/json":
            headers = cast("MutableMapping[str, str]", response.headers)
            response.content = door.compressed_json(headers, response.content, accepted)
            return response
        is_text = content_type.startswith("text/") or content_type == "application/vnd.oai.openapi"
        if not is_text or len(response.content) < self.SMALLEST_TEXT:
            return response
        if not accepts_gzip(accepted):  # the base class finds the word alone
            patch_vary_headers(response, ("Accept-Encoding",))
            return response
        return super().process_response(request, response)


class ApiMiddleware:
    """Takes requests under /api/ that the lane leaves to Django straight to their view; not those of a sign-in.

    Such a view needs no session, no cookie and no form, and sets its own headers: the middleware below would cost more
    than many an answer. Exceptions of a view go the usual way, to Django's log and `config.views`.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not api_view.serves(request.path_info):
            return self.get_response(request)
        if request.META.get(request_body.HAS_NO_PLACE):
            return views.too_many_uploads(request)
        match = request.resolver_match = resolve(request.path_info)
        response: HttpResponse = match.func(request, *match.args, **match.kwargs)
        return response


class MethodMiddleware:
    """Refuses TRACE everywhere, and on the libraries' pages all but METHODS: some take PUT for POST."""

    METHODS = ("GET", "HEAD", "POST", "OPTIONS")
    OF_LIBRARIES = ("/accounts/", "/admin/")

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_of_library = request.path_info.startswith(self.OF_LIBRARIES)
        if request.method == "TRACE" or (is_of_library and request.method not in self.METHODS):
            return HttpResponseNotAllowed(self.METHODS)
        return self.get_response(request)


class ContentMiddleware:
    """Takes requests for uploaded files, the image host's and profiles', straight to their view: no session, no cookie,
    no page's headers.

    Where IMAGE_CDN_URL names a host of its own, that host serves files and nothing else.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
        if request.get_host().lower() not in door.hosts_of_endpoints():
            urls = "imagehost.content_urls"
        elif request.path_info.startswith(door.FILES):
            urls = settings.ROOT_URLCONF
        else:
            return self.get_response(request)
        try:
            match = request.resolver_match = resolve(request.path_info, urls)
        except Resolver404:
            return content.not_found(request)
        response: HttpResponse | StreamingHttpResponse = match.func(request, *match.args, **match.kwargs)
        return response


class ContentSecurityPolicyMiddleware:
    """Sets the strict policy on every response that has none of its own.

    Account pages may also redirect to the apps that wait for a sign-in in this browser. Apps may open the pages of a
    sign-in in a popup and hear from it when it comes back: those pages keep the popup's opener.
    """

    SIGN_IN_PATHS = ("/api/auth/", "/consent/", "/accounts/")

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if content_security.HEADER not in response.headers:
            waiting: list[str] = []  # origins of waiting apps and of services to be linked
            if request.path.startswith("/accounts/") and hasattr(request, "session"):
                services = request.session.get(content_security.WAITING_FORM_ACTIONS, [])
                waiting = [*services, *waiting_apps.of(request).form_actions]
            response.headers[content_security.HEADER] = content_security.header(*waiting)
        if request.path.startswith(self.SIGN_IN_PATHS):
            response.headers["Cross-Origin-Opener-Policy"] = "unsafe-none"
        return response


class FormTokenMiddleware:
    """Marks every page with a form's token as `no-store`: the token belongs to one person's cookie."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if settings.CSRF_COOKIE_NAME in response.cookies:  # Django sets it where a page asked for the token
            patch_cache_control(response, private=True, no_store=True)
        return response


class LargeBodyMiddleware:
    """Refuses a large body where too many are read already, or its page takes no uploads, before it is read."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request_body.is_too_large_for_its_page(request.META):
            return views.form_too_large(request)
        if request.META.get(request_body.HAS_NO_PLACE):
            return views.too_many_uploads(request)
        return self.get_response(request)


class AuthenticationMiddleware(auth_middleware.AuthenticationMiddleware):
    """Django's, except that a session of an earlier SECRET_KEY keeps its id.

    Django gives such a session a new id and deletes the old one. The requests that a page sends at the same time still
    carry the old id, and would sign the user out.
    """

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        if settings.SECRET_KEY_FALLBACKS:
            request.user = SimpleLazyObject(lambda: self._user_of(request))  # type: ignore[assignment]  # as Django does

    def _user_of(self, request: HttpRequest) -> AbstractBaseUser | AnonymousUser:
        session = request.session
        session.cycle_key = lambda: None  # type: ignore[method-assign]  # called for an earlier SECRET_KEY alone
        try:
            return auth.get_user(request)
        finally:
            del session.cycle_key


class PrefixedCookieStorage(CookieStorage):
    cookie_name = f"{settings.COOKIE_PREFIX}messages"


class MessageStorage(FallbackStorage):
    """Django's messages, in a cookie with the prefix of the service's cookies."""

    storage_classes = (PrefixedCookieStorage, SessionStorage)
