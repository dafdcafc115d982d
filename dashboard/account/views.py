"""The account: names, sessions, data and deletion."""

from __future__ import annotations

from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts import browser_sessions, users
from accounts.http import SignedInRequest
from dashboard import access
from dashboard.account import actions, queries
from dashboard.account.forms import DeletionForm, DisplayNameForm, UsernameForm
from dashboard.forms import is_done
from oidc_provider.applications import transfers


@access.signed_in
@require_safe
def overview(request: SignedInRequest) -> HttpResponse:
    facts = queries.overview_of(request.user, timezone.now())
    return render(request, "dashboard/account/overview.html", {"facts": facts})


@access.signed_in
@access.form_page
def display_name(request: SignedInRequest) -> HttpResponse:
    form = DisplayNameForm(request.POST or None, initial={"display_name": request.user.display_name})
    if is_done(
        form,
        lambda: users.set_display_name(user=request.user, name=form.cleaned_data["display_name"], by=request.user),
    ):
        messages.success(request, "Display name saved.")
        return redirect("account_overview")
    return render(request, "dashboard/account/display_name.html", {"form": form})


@access.recently_signed_in
@access.form_page
def username(request: SignedInRequest) -> HttpResponse:
    form = UsernameForm(request.POST or None, user=request.user)
    if is_done(form, lambda: actions.rename(user=request.user, by=request.user, **form.cleaned_data)):
        messages.success(request, f"Username changed to {form.cleaned_data['username']}.")
        return redirect("account_overview")
    context = {"form": form, "renamable_at": users.renamable_at(request.user), "pause": users.RENAMED_EVERY.days}
    return render(request, "dashboard/account/username.html", context)


@access.signed_in
@require_POST
def end_session(request: SignedInRequest, pk: int) -> HttpResponse:
    """End one of the user's sessions. The current one is signed out."""
    session = get_object_or_404(UserSession, pk=pk, user=request.user)
    if session.session_key == request.session.session_key:
        browser_sessions.sign_out(request)
        return redirect("home")
    users.end_session(session=session, by=request.user)
    messages.success(request, "Browser signed out.")
    return redirect("usersessions_list")


@access.recently_signed_in
@access.form_page
def new_browsers(request: SignedInRequest) -> HttpResponse:
    """Turn the emails about new browsers on or off. GET, where a login in between leads to, goes back to the page."""
    if request.method == "POST":
        are_sent = request.POST.get("emails") == "on"
        users.set_new_browser_mails(user=request.user, are_sent=are_sent, by=request.user)
        messages.success(request, f"Emails about new browsers are {'on' if are_sent else 'off'}.")
    return redirect("usersessions_list")


@access.signed_in
@require_safe
def data(request: SignedInRequest) -> HttpResponse:
    return render(request, "dashboard/account/data.html", {"grace": users.DELETION_GRACE.days})


@access.recently_signed_in
@require_safe
def download(request: SignedInRequest) -> StreamingHttpResponse:
    now = timezone.now()
    name = f"{request.user.username}-{now:%Y-%m-%d}.json"
    response = StreamingHttpResponse(queries.data_chunks(request.user, now), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@access.recently_signed_in
@access.form_page
def delete(request: SignedInRequest) -> HttpResponse:
    """Request the deletion of the account, with the password, the typed username, and who takes apps and teams. Not for
    staff. 3 queries plus the session's; 2 more for each team without another owner."""
    if request.user.is_staff:
        return redirect("account_data")
    estate = transfers.estate_of(request.user)
    owned = queries.teams_for(request.user, estate)
    form = DeletionForm(request.POST or None, user=request.user, estate=estate, owned=owned)
    if is_done(
        form,
        lambda: actions.ask_for_deletion(user=request.user, by=request.user, heirs=form.heirs(), takers=form.takers()),
    ):
        return redirect("account_data")
    context = {"form": form, "grace": users.DELETION_GRACE.days, "estate": estate}
    return render(request, "dashboard/account/delete.html", context)


@access.signed_in
@require_POST
def keep(request: SignedInRequest) -> HttpResponse:
    if actions.keep(user=request.user, by=request.user):
        messages.success(request, "Your account stays.")
    return redirect("account_data")
