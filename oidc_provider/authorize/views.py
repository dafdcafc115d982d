"""GET and POST /api/auth/oauth2/authorize and the pages between it and the app, with redirects to allauth's pages."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts import browser_sessions, credentials
from accounts.models import User
from accounts.sign_up import waiting_apps
from infrastructure.requests.request_context import Request
from oidc_provider import client_requests, endpoints, lifetimes, redirects, request_log
from oidc_provider.authorize import consent_page, flows, validation
from oidc_provider.authorize.flows import AlreadyAnswered, Step, Visitor
from oidc_provider.client_requests import Parameters
from oidc_provider.endpoints import REQUEST_ID, LimitedPage, prefers_json
from oidc_provider.errors import EndSessionRefused, ErrorPage, ErrorRedirect, InvalidRequest
from oidc_provider.models import PendingRequest, RequestKind
from oidc_provider.request_log import Note

CROSS_SITE = "cross-site"  # what browsers say in Sec-Fetch-Site


class Authorize(LimitedPage):
    """Validation comes first: a bad request or a suspended app shows no login page. 5 queries with a kept approval."""

    endpoint = "authorize"
    http_method_names = ["get", "post"]  # no HEAD: a prefetch must not make a code

    def get(self, request: HttpRequest) -> HttpResponse:
        request_log.about(client_id=client_requests.claimed_client_id(Request.of(request)))
        return _answer(request, client_requests.parse_query(request.META.get("QUERY_STRING", "")))

    def post(self, request: HttpRequest) -> HttpResponse:
        """OpenID Connect Core §3.1.2.1: the parameters are in the body; a query is not read."""
        value = Request.of(request)
        try:
            query = client_requests.parsed_body(value)
        except InvalidRequest as error:
            request_log.about(client_id=client_requests.claimed_client_id(value))
            return error_page(request, ErrorPage(error.error, error.status, error.description))
        request_log.about(client_id=client_requests.claimed_client_id(value))
        response = _answer(request, query)
        if response.status_code == 302:
            response.status_code = 303  # the browser goes on by GET
        return response


def _answer(request: HttpRequest, query: Parameters) -> HttpResponse:
    now, prompt = timezone.now(), query.get("prompt").split()
    try:
        application = validation.backend().validated(query)
        if "none" in prompt and request.method == "POST" and request.headers.get("Sec-Fetch-Site") == CROSS_SITE:
            return _again_by_get(request, query)
        pending = flows.draft(application, query, now)
        visitor = _visitor_of(request)
        step = flows.next_step(pending, visitor)
        if "none" in prompt:
            flows.refuse_interaction(pending, step)
        if visitor and step is Step.FINISH:
            request_log.about(kind=RequestKind.KEPT)
            return to_app(flows.finish(pending, visitor, now))
        pending.save(force_insert=True)
    except ErrorPage as error:
        return error_page(request, error, query.get("redirect_uri"))
    except IntegrityError:
        return deleted_page(request)
    except ErrorRedirect as error:
        return to_app(_noted_error_url(error))
    return _remembering(request, _to_step(request, pending, step), pending, query.get("login_hint"))


def _again_by_get(request: HttpRequest, query: Parameters) -> HttpResponse:
    """Redirect to the same request by GET: browsers send no session with a POST from another site, but send it after
    a redirect.

    Only `prompt=none` needs this: for other requests the login page reads the session.
    """
    return redirect(f"{reverse('authorize')}?{urlencode(query.only(validation.READ))}")


@never_cache
@require_http_methods(["GET", "POST"])
def consent(request: HttpRequest, pending_id: str) -> HttpResponse:
    """Continue a waiting request after login, and take the user's decision."""
    with request_log.Noting(RequestKind.ASKED) as note:
        pending = PendingRequest.objects.with_app().filter(pk=pending_id).first()
        if pending is None or not pending.is_open(timezone.now()):
            response = ended_page(request, pending)
        else:
            note.client_id = pending.application.client_id
            try:
                response = _go_on(request, pending, note)
            except AlreadyAnswered:
                note.kind = RequestKind.ASKED
                response = answered_page(request, pending)
        response.headers[REQUEST_ID] = note.request_id
        return response


def _go_on(request: HttpRequest, pending: PendingRequest, note: Note) -> HttpResponse:
    """Return the next page or the redirect to the app. AlreadyAnswered: the request was answered before."""
    now, decision = timezone.now(), request.POST.get("decision")
    try:
        flows.check_registration(pending)
        visitor = _visitor_of(request)
        step = flows.next_step(pending, visitor)
        if visitor and decision == "cancel":
            note.kind = RequestKind.DENIED
            raise flows.refusal(pending)
        if visitor and step is Step.FINISH:
            note.kind = RequestKind.KEPT
            flows.use_up(pending, now)
            return leave(request, flows.finish(pending, visitor, now))
        if visitor and step is Step.CHOOSE_ACCOUNT:
            note.client_id = ""  # not logged
            if decision != "continue":
                return consent_page.account_response(request, pending)
            flows.keep_account(pending)
            return redirect("consent", pending.pk)
        if visitor is None or step is not Step.CONSENT:
            note.client_id = ""  # not logged: on the way to the login page, or back to it
            return _to_step(request, pending, step)
        if decision == "allow":
            note.kind = RequestKind.APPROVED
            return leave(request, flows.allow(pending, visitor, now))
    except ErrorPage as error:
        return error_page(request, error)
    except IntegrityError:
        return deleted_page(request)
    except ErrorRedirect as error:
        flows.use_up(pending, now)
        return leave(request, _noted_error_url(error))
    note.kind = RequestKind.SHOWN
    return consent_page.response(request, pending, visitor.user)


@never_cache
@require_POST
def switch_account(request: HttpRequest, pending_id: str) -> HttpResponse:
    """ "Not you?": sign out, log in with another account, continue the same request."""
    pending = PendingRequest.objects.filter(pk=pending_id).first()
    if pending is None or not pending.is_open(timezone.now()):
        return ended_page(request, pending)
    browser_sessions.sign_out(request)
    return _remembering(request, _to_step(request, pending, Step.LOG_IN), pending)


def _visitor_of(request: HttpRequest) -> Visitor | None:
    """Return the signed-in user with the time of the last authentication in this session; else None. Logs the user."""
    if not isinstance(request.user, User):
        return None
    request_log.about(user_id=request.user.pk)
    name_session = partial(browser_sessions.ensure_name, request.session)
    authenticated_at = datetime.fromtimestamp(credentials.authenticated_at(request, request.user), UTC)
    return Visitor(request.user, authenticated_at, name_session)


def _to_step(request: HttpRequest, pending: PendingRequest, step: Step) -> HttpResponse:
    """Redirect to the page of the step, which leads back to the waiting request.

    A user without password and second factor cannot authenticate again: they are logged out, and log in.
    """
    waiting = reverse("consent", args=[pending.pk])
    if step is Step.LOG_IN:
        page = "account_login"
    elif step is not Step.REAUTHENTICATE:
        return redirect(waiting)
    elif get_adapter().get_reauthentication_methods(request.user):
        page = "account_reauthenticate"
    else:
        browser_sessions.sign_out(request)
        page = "account_login"
    return redirect(f"{reverse(page)}?{urlencode({'next': waiting})}")


def _remembering(
    request: HttpRequest, response: HttpResponse, pending: PendingRequest, login_hint: str = ""
) -> HttpResponse:
    """Let the account pages redirect to the waiting app, and fill the login field. Return `response`."""
    waiting_apps.add(request, response, form_action=redirects.form_action(pending.redirect_uri), login_hint=login_hint)
    return response


def leave(request: HttpRequest, url: str) -> HttpResponse:
    """Redirect to the app from a page; 303 after a form, so that its POST is not repeated there."""
    response = to_app(url, status=303 if request.method == "POST" else 302)
    waiting_apps.forget(request, response)
    return response


def to_app(url: str, *, status: int = 302) -> HttpResponse:
    """Redirect to a registered URL; Django's own redirect refuses private-use schemes."""
    response = HttpResponse(status=status, headers={"Location": url})
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def ended_page(request: HttpRequest, pending: PendingRequest | None) -> HttpResponse:
    """The error page of a request that was answered, has expired, or does not exist."""
    if pending is not None and pending.answered_at is not None:
        return answered_page(request, pending)
    if pending:
        request_log.about(client_id=pending.application.client_id)
        request_log.failed("expired", f"The sign-in did not end within {lifetimes.REQUEST}.")
    return _error_html(
        request,
        pending,
        title="This sign-in took too long",
        message=f"A sign-in has to end within {lifetimes.REQUEST}. Nothing was shared. "
        "Please start again from the app.",
        code="expired",
    )


def answered_page(request: HttpRequest, pending: PendingRequest) -> HttpResponse:
    """The error page of a request that was answered before."""
    request_log.about(client_id=pending.application.client_id)
    request_log.failed("answered", "The sign-in was answered before.")
    return _error_html(
        request,
        pending,
        title="Already answered",
        message="This sign-in was answered before, on this page or in another tab, and can be answered once. "
        "To sign in again, start again from the app.",
        code="answered",
    )


def deleted_page(request: HttpRequest) -> HttpResponse:
    """The app or the account was deleted between the reads and the write, which then stored nothing."""
    return error_page(request, ErrorPage("invalid_client", 400, "The app or the account has just been deleted."))


def error_page(request: HttpRequest, error: ErrorPage, redirect_uri: str = "") -> HttpResponse:
    """`redirect_uri`: the parameter of the request, logged for `invalid_redirect`."""
    redirect_uri = redirect_uri if error.error == "invalid_redirect" else ""
    request_log.failed(error.error, error.message, redirect_uri=redirect_uri)
    if prefers_json(request):
        body = {"error": error.error, "error_description": error.message}
        response: HttpResponse = JsonResponse(body, status=error.status)
    else:
        words = {"title": "This sign-in cannot go on", "message": error.message, "code": error.error}
        response = _error_html(request, None, error.status, **words)
    response.headers["Cache-Control"] = "no-store"
    return response


def _error_html(request: HttpRequest, pending: PendingRequest | None, status: int = 400, **words: str) -> HttpResponse:
    """Return an error page, with a link back to the app of a waiting request."""
    context = {
        **words,
        "return_url": flows.return_url(pending) if pending else "",
        "application_name": pending.application.name if pending else "",
        "request_id": request_log.request_id(),
    }
    return render(request, "oidc_provider/error.html", context, status=status)


def _noted_error_url(error: ErrorRedirect) -> str:
    request_log.failed(error.error, error.description)
    return flows.error_url(error)


class EndSession(LimitedPage):
    """Apps cannot end a session: the page offers the user a sign-out button."""

    endpoint = "end-session"
    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest) -> HttpResponse:
        if prefers_json(request):
            error = EndSessionRefused("Apps cannot end a session here.")
            return endpoints.error_answer(Request.of(request), error).to_django()
        return render(request, "oidc_provider/end_session.html")

    post = get
