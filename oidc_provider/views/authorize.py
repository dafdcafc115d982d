"""GET /api/auth/oauth2/authorize and the pages that a person meets between there and the app."""

from __future__ import annotations

from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from oidc_provider import consent_page, flows, server, sessions
from oidc_provider.errors import ErrorPage, ErrorRedirect
from oidc_provider.flows import Step
from oidc_provider.models import PendingRequest
from oidc_provider.views.protocol import LimitedView, prefers_json


class Authorize(LimitedView):
    """Validates first: a bad request or a suspended app never shows a login page. 5 queries with a kept approval."""

    endpoint = "authorize"
    http_method_names = ["get"]  # no HEAD: a prefetch must not make a code

    def get(self, request: HttpRequest) -> HttpResponse:
        now = timezone.now()
        try:
            asked = server.backend().validated(request)
            pending = flows.draft(asked, now)
            visitor = sessions.visitor_of(request)
            step = flows.next_step(pending, visitor)
            if "none" in asked.prompt:
                flows.refuse_interaction(pending, step)
            if visitor and step is Step.FINISH:
                return to_app(flows.finish(pending, visitor, now))
            pending.save(force_insert=True)
        except ErrorPage as error:
            return error_page(request, error)
        except IntegrityError:
            return deleted_page(request)
        except ErrorRedirect as error:
            return to_app(flows.error_url(error))
        sessions.remember_waiting(request, pending, asked.login_hint)
        return to_step(request, pending, step)


@never_cache
@require_http_methods(["GET", "POST"])
def consent(request: HttpRequest, pending_id: str) -> HttpResponse:
    """Where a waiting request goes on after login, and where the person decides."""
    now = timezone.now()
    pending = PendingRequest.objects.with_app().filter(pk=pending_id).first()
    if pending is None or pending.is_late(now):
        return late_page(request, pending)
    try:
        flows.check_registration(pending)
        visitor = sessions.visitor_of(request)
        step = flows.next_step(pending, visitor)
        decision = request.POST.get("decision")
        if visitor and decision == "cancel":
            raise flows.refusal(pending)
        if visitor and step is Step.FINISH:
            return leave(request, flows.finish(pending, visitor, now))
        if visitor is None or step is not Step.CONSENT:
            return to_step(request, pending, step)
        if decision == "allow":
            return leave(request, flows.allow(pending, visitor, now))
    except ErrorPage as error:
        return error_page(request, error)
    except IntegrityError:
        return deleted_page(request)
    except ErrorRedirect as error:
        return leave(request, flows.error_url(error))
    return consent_page.response(request, pending, visitor.user)


@never_cache
@require_POST
def switch_account(request: HttpRequest, pending_id: str) -> HttpResponse:
    """ "Not you?": sign out, sign in as somebody else, come back to the same request."""
    pending = PendingRequest.objects.filter(pk=pending_id).first()
    if pending is None or pending.is_late(timezone.now()):
        return late_page(request, pending)
    return redirect(sessions.switch_account(request, pending))


def to_step(request: HttpRequest, pending: PendingRequest, step: Step) -> HttpResponse:
    if step is Step.LOG_IN:
        return redirect(sessions.login_url(pending))
    if step is Step.REAUTHENTICATE:
        return redirect(sessions.reauthentication_url(request, pending))
    return redirect(reverse("consent", args=[pending.pk]))


def leave(request: HttpRequest, url: str) -> HttpResponse:
    """Back to the app from one of our pages; 303, so that a form's POST is not repeated there."""
    sessions.forget_waiting(request)
    return to_app(url, status=303 if request.method == "POST" else 302)


def to_app(url: str, *, status: int = 302) -> HttpResponse:
    """A redirect to a registered URL, private-use schemes included, which Django's own redirect refuses."""
    response = HttpResponse(status=status, headers={"Location": url})
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def late_page(request: HttpRequest, pending: PendingRequest | None) -> HttpResponse:
    """Login and consent did not end within ten minutes, or the request is none of ours."""
    context = {
        "title": "This sign-in took too long",
        "message": "A sign-in has to end within 10 minutes. Nothing was shared. Please start again from the app.",
        "code": "expired",
        "return_url": flows.error_url(flows.refusal(pending)) if pending else "",
        "application_name": pending.application.name if pending else "",
    }
    return render(request, "oidc_provider/error.html", context, status=400)


def deleted_page(request: HttpRequest) -> HttpResponse:
    """Somebody deleted the app or the account between our reads and our write, which then stored nothing."""
    return error_page(request, ErrorPage("invalid_client", 400, "The app or the account has just been deleted."))


def error_page(request: HttpRequest, error: ErrorPage) -> HttpResponse:
    if prefers_json(request):
        body = {"error": error.error, "error_description": error.message}
        response: HttpResponse = JsonResponse(body, status=error.status)
    else:
        context = {
            "title": "This sign-in cannot go on",
            "message": error.message,
            "code": error.error,
            "return_url": "",
            "application_name": "",
        }
        response = render(request, "oidc_provider/error.html", context, status=error.status)
    response.headers["Cache-Control"] = "no-store"
    return response
