"""The form that reports something: a profile, a comment or a reply; for apps above, something else of a user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import rate_limits
from accounts.http import SignedInRequest
from accounts.models import User
from infrastructure.requests.errors import sentences
from lookup.models import Comment
from lookup.page import context
from lookup.page.context import Elsewhere
from lookup.page.forms import ReportForm
from lookup.social import reports
from lookup.views.discussion import GONE, TooOften, count, return_path
from lookup.views.profile_page import refusing


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@refusing
def report(request: SignedInRequest, name: str, comment_id: str = "") -> HttpResponse:
    """Ask for the reason; a POST sends the report and leads back."""
    page = context.find(name, timezone.now(), number=None)
    if isinstance(page, Elsewhere):
        view, ids = ("profile_comment_report", [comment_id]) if comment_id else ("profile_report", [])
        return HttpResponseRedirect(reverse(view, args=[page.username, *ids]))
    comment = None
    if comment_id and page.has_comments:
        shown = Comment.objects.filter(user=page.user.id, author__is_active=True)
        comment = shown.select_related("author").filter(pk=comment_id).first()
    back = return_path(request.POST if request.method == "POST" else request.GET, name)
    about: dict[str, Any] = {"user_id": page.user.id, "comment": comment, "by": request.user}
    problem = GONE if comment_id and comment is None else problem_of(**about)
    owner = User(pk=page.user.id)
    return answer(
        request,
        {"kind": "profile", "title": page.display_name, "comment": comment},
        back=back,
        problem=problem,
        place=f"comment-{comment.pk}" if comment else "",
        send=lambda **given: reports.send(user=owner, name=page.name, comment=comment, by=request.user, **given),
    )


def problem_of(**about: Any) -> str:
    """Return why this cannot be reported now; empty where it can. `about`: as `reports.refusal` takes it. 1 query."""
    return reports.refusal(**about) or (reports.ALREADY if reports.is_open(**about) else "")


def answer(
    request: SignedInRequest,
    shown: Mapping[str, Any],
    *,
    back: str,
    problem: str,
    send: Callable[..., object],
    place: str = "",
) -> HttpResponse:
    """Show the form; a POST sends the report by `send(reason=, text=)` and leads to the path `back`.

    `shown`: `kind` and `title` of what is reported, `comment`. `problem`: why it cannot be. `place`: the fragment of
    `back`. Raises Http404 where the owner was deleted.
    """
    if problem:
        return _left(request, back, problem)
    form = ReportForm(request.POST) if request.method == "POST" else ReportForm(initial={"back": back})
    too_often = None
    if request.method == "POST":
        try:
            count(rate_limits.REPORTS, request.user)
            if form.is_valid():
                return _sent(request, form, f"{back}#{place}" if place else back, back, send)
        except TooOften as refusal:
            too_often = refusal
            form.add_error(None, str(refusal))
    status = too_often.status if too_often else 200
    response = render(request, "lookup/report.html", {**shown, "form": form, "back": back}, status=status)
    if too_often and too_often.seconds_left:
        response.headers["Retry-After"] = str(too_often.seconds_left)
    return response


def _sent(
    request: SignedInRequest, form: ReportForm, done: str, back: str, send: Callable[..., object]
) -> HttpResponse:
    """Send the report. Raises Http404 where the owner was deleted."""
    try:
        send(reason=form.cleaned_data["reason"], text=form.cleaned_data["text"])
    except (PermissionDenied, ValidationError) as refusal:
        return _left(request, back, sentences(refusal))
    except Comment.DoesNotExist:
        return _left(request, back, GONE)
    except User.DoesNotExist:
        raise Http404 from None
    messages.success(request, "Report sent. Staff will look at it.")
    return HttpResponseRedirect(done)


def _left(request: HttpRequest, back: str, problem: str) -> HttpResponse:
    messages.error(request, problem)
    return HttpResponseRedirect(back)
