"""What visitors and owners do under /{username}: comment, reply, like, vote; delete, pin, block, switch off."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import rate_limits
from accounts.http import SignedInRequest, single_parameter
from accounts.models import User
from infrastructure import limits
from infrastructure.limits import Limit, LimitsUnavailable
from infrastructure.requests import content_security
from infrastructure.requests.errors import sentences
from lookup.documents import resolve
from lookup.documents.resolve import Parts
from lookup.models import Comment, Profile, ProfileBlock
from lookup.page import context
from lookup.page.context import MAX_COMMENTS, Elsewhere, ProfilePage
from lookup.page.forms import CommentForm
from lookup.shapes import settings_schema
from lookup.social import comments, feedback
from lookup.views.profile_page import View, policy, refusing, with_caching

MAX_PAGE = 10_000  # what an offset in the database can bear
MAX_BACK = 200  # characters of a path of ours
BLOCKS_AT_ONCE = 100  # on a page
GONE = "This comment has been deleted."
PART_NAMES = {"comments": "Comments", "votes": "Votes"}
_USER = Parts(is_alias_profile=True)

logger = logging.getLogger(__name__)


class TooOften(Exception):
    """The limit of the action is used up, or (no `seconds_left`) cannot be counted."""

    def __init__(self, sentence: str, seconds_left: int = 0) -> None:
        super().__init__(sentence)
        self.seconds_left = seconds_left
        self.status = 429 if seconds_left else 503


def count(limit: Limit, user: User) -> None:
    """Count an action of the user. Raises TooOften."""
    try:
        seconds_left = limits.hit(limit.of(user.pk))
    except LimitsUnavailable:
        logger.exception("The limit store does not answer.")
        raise TooOften("This does not work at the moment. Try again in a minute.") from None
    if seconds_left:
        minutes = -(-seconds_left // 60)
        raise TooOften(f"Limit reached: {limit.amount} an hour. Try again in {minutes} min.", seconds_left)


def return_path(given: QueryDict, name: str) -> str:
    """Return the path of this profile in `back` of the form or query, else the path of the profile."""
    back = given.get("back", "").partition("#")[0]
    profile = reverse("profile_page", args=[name])
    is_ours = back == profile or back.startswith(f"{profile}/")
    if len(back) <= MAX_BACK and is_ours and url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        return back
    return profile


def signed_in_or_back(view: View) -> View:
    """Send a visitor without a session to the sign-in page, which leads back to the profile."""

    @functools.wraps(view)
    def answered(request: HttpRequest, name: str, **names: str) -> HttpResponse:
        if request.method == "POST" and not request.user.is_authenticated:
            return redirect_to_login(reverse("profile_page", args=[name]))
        return view(request, name=name, **names)

    return answered


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in_or_back
@refusing
def comments_page(request: HttpRequest, name: str) -> HttpResponse:
    """Show all comments, a page at a time; a POST writes one."""
    number = _number(request)
    page = context.find(name, timezone.now(), number=number)
    if isinstance(page, Elsewhere):
        return HttpResponseRedirect(reverse("profile_comments", args=[page.username]))
    if not page.has_comments:
        raise Http404
    form = _form(request)
    if request.method == "POST":
        made = _written(request, form, page, parent=None)
        if isinstance(made, Comment):
            return HttpResponseRedirect(f"{reverse('profile_page', args=[page.name])}#comment-{made.pk}")
    known = {"number": number}
    return _rendered(request, "lookup/comments_page.html", page, form, known)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in_or_back
@refusing
def thread(request: HttpRequest, name: str, comment_id: str) -> HttpResponse:
    """Show a comment with all replies, a page at a time; a POST replies."""
    number = _number(request)
    page = context.find(name, timezone.now(), number=None)
    if isinstance(page, Elsewhere):
        return HttpResponseRedirect(reverse("profile_thread", args=[page.username, comment_id]))
    row = comments.find(page.user.id, comment_id) if page.has_comments else None
    if row is None:
        raise Http404
    form = _form(request)
    form.fields["content"].label = "Reply"
    if request.method == "POST":
        made = _written(request, form, page, parent=Comment(pk=comment_id))
        if isinstance(made, Comment):
            return HttpResponseRedirect(_place_of_reply(page, made))
    found = comments.replies(comment_id, limit=MAX_COMMENTS + 1, offset=(number - 1) * MAX_COMMENTS)
    shown, has_more = {row.id: found[:MAX_COMMENTS]}, len(found) > MAX_COMMENTS
    page = replace(page, comment_rows=[row], replies=shown, has_more_comments=has_more)
    known = {"number": number, "is_thread": True, "comment": page.comments[0]}
    return _rendered(request, "lookup/thread.html", page, form, known)


@require_POST
@signed_in_or_back
@refusing
def act(request: SignedInRequest, name: str, comment_id: str, act: str) -> HttpResponse:
    """Run one of ACTS on a comment or a reply; lead back to where it was shown."""
    user = resolve.answer("username", name, _USER, timezone.now())
    run = ACTS.get(act)
    if run is None:
        raise Http404
    back = return_path(request.POST, name)
    found = Comment.objects.select_related("user", "author").filter(pk=comment_id, user=user.id).first()
    if found is None:
        messages.error(request, GONE)
        return HttpResponseRedirect(f"{back}#comments")
    return _done(request, lambda: run(request, found), f"{back}#comment-{comment_id}")


@require_POST
@signed_in_or_back
@refusing
def vote(request: SignedInRequest, name: str) -> HttpResponse:
    """Vote: `vote` is like, dislike, or withdraw."""
    user = resolve.answer("username", name, _USER, timezone.now())
    chosen = request.POST.get("vote", "")
    if chosen not in {"like", "dislike", "withdraw"}:
        raise Http404

    def run() -> None:
        count(rate_limits.VOTES, request.user)
        owner = User(pk=user.id)
        if chosen == "withdraw":
            feedback.withdraw(user=owner, by=request.user)
        else:
            feedback.vote(user=owner, is_like=chosen == "like", by=request.user)

    return _done(request, run, f"{return_path(request.POST, name)}#feedback")


def _like(request: SignedInRequest, comment: Comment) -> None:
    count(rate_limits.VOTES, request.user)
    comments.like(comment=comment, by=request.user)


def _unlike(request: SignedInRequest, comment: Comment) -> None:
    count(rate_limits.VOTES, request.user)
    comments.unlike(comment=comment, by=request.user)


def _delete(request: SignedInRequest, comment: Comment) -> None:
    comments.delete(comment=comment, by=request.user)
    messages.success(request, "Reply deleted." if comment.parent_id else "Comment deleted.")


def _block(request: SignedInRequest, comment: Comment) -> None:
    if request.user.pk != comment.user_id:
        raise PermissionDenied("Only the profile's owner may block its commenters.")
    feedback.block(blocked=comment.author, by=request.user)
    messages.success(request, f"{comment.author.username} is blocked. You can undo this under “Moderation”.")


ACTS: dict[str, Callable[[SignedInRequest, Comment], None]] = {
    "like": _like,
    "unlike": _unlike,
    "delete": _delete,
    "pin": lambda request, comment: comments.pin(comment=comment, is_pinned=True, by=request.user),
    "unpin": lambda request, comment: comments.pin(comment=comment, is_pinned=False, by=request.user),
    "block": _block,
}


def _done(request: SignedInRequest, run: Callable[[], None], back: str) -> HttpResponse:
    """Run the action, and lead back; an error is a message there."""
    try:
        run()
    except (PermissionDenied, ValidationError) as refusal:
        messages.error(request, sentences(refusal))
    except TooOften as refusal:
        messages.error(request, str(refusal))
    except Comment.DoesNotExist:
        messages.error(request, GONE)
    except User.DoesNotExist:
        raise Http404 from None
    return HttpResponseRedirect(back)


def _written(request: HttpRequest, form: CommentForm, page: ProfilePage, *, parent: Comment | None) -> Comment | None:
    """Return the new comment; None where the form has errors now. A refused one counts, too.

    Raises Http404 where the profile or the parent comment was deleted.
    """
    by = cast("User", request.user)
    try:
        count(rate_limits.COMMENTS, by)
        if not form.is_valid():
            return None
        owner = User(pk=page.user.id)
        given = form.cleaned_data
        return comments.write(user=owner, content=given["content"], parent=parent, pk=given["pk"], by=by)
    except (PermissionDenied, ValidationError) as refusal:
        form.add_error("content", sentences(refusal))
    except TooOften as refusal:
        form.add_error("content", str(refusal))
        form.status, form.seconds_left = refusal.status, refusal.seconds_left
    except (Comment.DoesNotExist, User.DoesNotExist):
        raise Http404 from None
    return None


def _form(request: HttpRequest) -> CommentForm:
    if request.method != "POST":
        return CommentForm()
    return CommentForm(request.POST, by=cast("User", request.user))


def _rendered(
    request: HttpRequest, template: str, page: ProfilePage, form: CommentForm, known: dict[str, Any]
) -> HttpResponse:
    """Render the page. Any: values of the template."""
    known = {**known, "page": page, "comment_form": form}
    if isinstance(request.user, User):
        here = request.get_full_path() if request.method != "POST" else request.path
        known["viewer"] = context.viewer_of(page, request.user, here)
    response = with_caching(render(request, template, known, status=form.status))
    if form.seconds_left:
        response.headers["Retry-After"] = str(form.seconds_left)
    response.headers[content_security.HEADER] = policy(page)
    return response


def _place_of_reply(page: ProfilePage, reply: Comment) -> str:
    """Return the last page of the thread: replies are in order of time."""
    before = Comment.objects.filter(parent=reply.parent_id, author__is_active=True).exclude(pk=reply.pk).count()
    number = before // MAX_COMMENTS + 1
    query = f"?page={number}" if number > 1 else ""
    return f"{reverse('profile_thread', args=[page.name, reply.parent_id])}{query}#comment-{reply.pk}"


def _number(request: HttpRequest) -> int:
    """Return `page` of the query. Raises Http404 for any other text."""
    text = single_parameter(request.GET, "page", "1")
    if text is None or not (text.isascii() and text.isdigit()) or not 1 <= int(text[:6]) <= MAX_PAGE or len(text) > 5:
        raise Http404
    return int(text)


@never_cache
@login_required
@require_safe
def show_moderation(request: SignedInRequest, name: str) -> HttpResponse:
    _check_own(request, name)
    stored = Profile.objects.values_list("settings", flat=True).get(user=request.user, is_main=True)
    chosen = settings_schema.filled(stored)
    parts = [(part, PART_NAMES[part], chosen[key]["enabled"]) for part, key in feedback.PARTS.items()]
    blocks = ProfileBlock.objects.filter(user=request.user).select_related("blocked").order_by("-created_at", "pk")
    page = Paginator(blocks, BLOCKS_AT_ONCE).get_page(request.GET.get("page"))
    return render(request, "lookup/moderation.html", {"parts": parts, "page": page})


@login_required
@require_POST
def moderate(request: SignedInRequest, name: str, act: str) -> HttpResponse:
    """Show or hide (`show`, `hide`) a part of the profile; `unblock` a user."""
    _check_own(request, name)
    value = request.POST.get("value", "")
    if act in {"show", "hide"} and value in feedback.PARTS:
        feedback.switch(part=value, is_on=act == "show", by=request.user)
        messages.success(request, f"{PART_NAMES[value]} are switched {'on' if act == 'show' else 'off'}.")
    elif act == "unblock" and len(value) <= 32 and "\x00" not in value:
        feedback.unblock(blocked_id=value, by=request.user)
        messages.success(request, "User unblocked.")
    else:
        raise Http404
    return HttpResponseRedirect(reverse("profile_moderation", args=[request.user.username]))


def _check_own(request: SignedInRequest, name: str) -> None:
    """Raise Http404 for another user's page."""
    if name.upper() != request.user.username.upper():
        raise Http404
