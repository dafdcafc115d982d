"""/{username}/report and /{username}/comments/{id}/report: a visitor reports a profile, a comment or a reply."""

from __future__ import annotations

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
from lookup.page.context import Elsewhere, ProfilePage
from lookup.page.forms import ReportForm
from lookup.social import reports
from lookup.views.profile_page import refusing
from lookup.views.visitor_actions import GONE, TooOften, count, return_path


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@refusing
def report(request: SignedInRequest, name: str, comment_id: str = "") -> HttpResponse:
    """Ask for the reason; a POST sends the report and leads back."""
    page = context.find(name, timezone.now(), number=None)
    if isinstance(page, Elsewhere):
        return HttpResponseRedirect(_url(page.username, comment_id))
    comment = _comment(page, comment_id)
    back = return_path(request.POST if request.method == "POST" else request.GET, name)
    if comment_id and comment is None:
        return _left(request, back, GONE)
    if problem := _problem(page, comment, request.user):
        return _left(request, back, problem)
    form = ReportForm(request.POST) if request.method == "POST" else ReportForm(initial={"back": back})
    too_often = None
    if request.method == "POST":
        try:
            count(rate_limits.REPORTS, request.user)
            if form.is_valid():
                return _sent(request, page, comment, form, back)
        except TooOften as refusal:
            too_often = refusal
            form.add_error(None, str(refusal))
    known = {"page": page, "comment": comment, "form": form, "back": back}
    response = render(request, "lookup/report.html", known, status=too_often.status if too_often else 200)
    if too_often and too_often.seconds_left:
        response.headers["Retry-After"] = str(too_often.seconds_left)
    return response


def _url(name: str, comment_id: str) -> str:
    if comment_id:
        return reverse("profile_comment_report", args=[name, comment_id])
    return reverse("profile_report", args=[name])


def _comment(page: ProfilePage, comment_id: str) -> Comment | None:
    """Return the comment or reply, where the page shows it."""
    if not comment_id or not page.has_comments:
        return None
    shown = Comment.objects.filter(user=page.user.id, author__is_active=True)
    return shown.select_related("author").filter(pk=comment_id).first()


def _problem(page: ProfilePage, comment: Comment | None, by: User) -> str:
    """Return why `by` cannot report this now; empty where they can."""
    if refusal := reports.refusal(user_id=page.user.id, comment=comment, by=by):
        return refusal
    return reports.ALREADY if reports.is_open(user_id=page.user.id, comment=comment, by=by) else ""


def _sent(
    request: SignedInRequest, page: ProfilePage, comment: Comment | None, form: ReportForm, back: str
) -> HttpResponse:
    """Send the report. Raises Http404 where the profile was deleted."""
    given = {key: form.cleaned_data[key] for key in ("reason", "text")}
    try:
        reports.send(user=User(pk=page.user.id), name=page.name, comment=comment, by=request.user, **given)
    except (PermissionDenied, ValidationError) as refusal:
        return _left(request, back, sentences(refusal))
    except Comment.DoesNotExist:
        return _left(request, back, GONE)
    except User.DoesNotExist:
        raise Http404 from None
    messages.success(request, "Report sent. Staff will look at it.")
    return HttpResponseRedirect(f"{back}#comment-{comment.pk}" if comment else back)


def _left(request: HttpRequest, back: str, problem: str) -> HttpResponse:
    messages.error(request, problem)
    return HttpResponseRedirect(back)
