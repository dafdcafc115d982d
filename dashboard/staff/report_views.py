"""Reports and appeals, for staff: what was reported beside what can be done about it, one after the other."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import SignedInRequest
from accounts.staff_actions import StaffAction
from dashboard import access
from dashboard.staff import APPEALS, FILES, PEOPLE, REPORTS, acting, report_actions, report_queries
from dashboard.staff.forms import ReportFilter
from imagehost.moderation import QUARANTINE
from imagehost.staff_actions import DECISION_ACTIONS
from infrastructure.requests import content_security
from lookup.models import Asset, Decision, Report
from lookup.page import context as page_context
from lookup.page import url_policy
from lookup.social import cases, decisions
from lookup.staff_actions import DECIDE, REMOVE_PICTURE
from lookup.views import profile_page

PAGE_SIZE = 25


@access.for_staff(*REPORTS)
@require_safe
def report_list(request: SignedInRequest) -> HttpResponse:
    """Show the things that are reported, the one that has waited longest first; or decided reports. 2 queries plus the
    session's."""
    chosen = ReportFilter(request.GET).chosen()
    wanted = {name: value for name, value in chosen.items() if value and name != "state"}
    is_decided = chosen["state"] == ReportFilter.DECIDED
    found = cases.decided(request.user, **wanted) if is_decided else cases.waiting(request.user, **wanted)
    page = Paginator(found.select_related("user", "author"), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "filter": ReportFilter(initial=chosen),
        "page": page,
        "is_decided": is_decided,
        "is_filtered": bool(wanted),
    }
    return render(request, "dashboard/staff/reports.html", context)


@access.for_staff(*REPORTS)
@require_safe
def report(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show what was reported, and what can be done. At most 9 queries plus the session's."""
    found = _found(request, pk)
    sees_people = access.may(request.user, *PEOPLE)
    record = report_queries.of_report(found, staff=request.user, has_events=sees_people)
    may_decide = found.decided_at is None and access.may(request.user, DECIDE)
    context = {
        "record": record,
        "actions": acting.buttons(request, report_actions.fitting(found), found) if may_decide else [],
        "may_remove": may_decide and bool(acting.buttons(request, [REMOVE_PICTURE], record.accused)),
        "following": cases.next_after(found, staff=request.user),
        "may_see_people": sees_people,
        "may_see_files": access.may(request.user, *FILES),
    }
    response = render(request, "dashboard/staff/report.html", context)
    sources = url_policy.media_sources()
    response.headers[content_security.HEADER] = content_security.header(images=sources, media=sources, has_frames=True)
    return response


@access.for_staff(DECIDE)
@require_http_methods(["GET", "POST"])
def decide(request: SignedInRequest, pk: int, act: str) -> HttpResponse:
    found = _found(request, pk)
    return _decide(request, found, report_actions.fitting(found), act)


@access.for_staff(DECIDE)
@require_http_methods(["GET", "POST"])
def remove_picture(request: SignedInRequest, pk: int, asset_id: str) -> HttpResponse:
    """Remove a picture of the reported profile, and come back to the report, which stays open."""
    found = _found(request, pk)
    if not report_actions.is_about_profile(found):
        raise Http404
    asset = get_object_or_404(Asset.objects.select_related("owner"), owner=found.user_id, pk=asset_id)
    back_url, listed = reverse("staff_report", args=[found.pk]), (report_actions.removal(asset),)
    return acting.answer(request, listed, "remove", found, name=found.user.username, back_url=back_url)


@access.for_staff(*REPORTS)
@xframe_options_sameorigin
@require_safe
def profile_frame(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show the page of the reported profile as visitors see it, a private one too, for the frame on the report's
    page."""
    found = _found(request, pk)
    profile = report_queries.profile_called(found.name, found.user) if report_actions.is_about_profile(found) else None
    if profile is None:
        raise Http404
    page = page_context.preview(profile, timezone.now())
    known = {"page": page, "presence": profile_page.presence_of(page), "is_saved": True}
    response = render(request, "dashboard/profile/preview.html", known)
    response.headers[content_security.HEADER] = profile_page.policy(page, is_framed=True)
    return response


@access.for_staff(*APPEALS)
@require_safe
def appeal_list(request: SignedInRequest) -> HttpResponse:
    """Show appeals that wait, the oldest first. 2 queries plus the session's."""
    page = Paginator(report_queries.appeals(request.user), PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "dashboard/staff/appeals.html", {"page": page})


@access.for_staff(*APPEALS)
@require_safe
def appeal(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show an appeal beside what was taken down. At most 4 queries plus the session's."""
    decision, sees_people = _decision(request, pk), access.may(request.user, *PEOPLE)
    context = {
        "decision": decision,
        "record": report_queries.of_decision(decision, has_events=sees_people),
        "actions": acting.buttons(request, DECISION_ACTIONS, decision),
        "needs_superuser": not acting.has_authority(request, decision),
        "barred": decisions.bar(decision, request.user),
        "may_decide": access.may(request.user, DECIDE),
        "may_restore": access.may(request.user, QUARANTINE),
        "following": report_queries.appeals(request.user).exclude(pk=decision.pk).first(),
        "may_see_people": sees_people,
        "may_see_files": access.may(request.user, *FILES),
    }
    response = render(request, "dashboard/staff/appeal.html", context)
    response.headers[content_security.HEADER] = content_security.header(media=())
    return response


@access.for_staff(*APPEALS)
@require_http_methods(["GET", "POST"])
def answer_appeal(request: SignedInRequest, pk: int, act: str) -> HttpResponse:
    decision = _decision(request, pk)

    def go_on() -> str:
        following = report_queries.appeals(request.user).first()
        return reverse("staff_appeal", args=[following.pk]) if following else reverse("staff_appeals")

    back_url = reverse("staff_appeal", args=[pk])
    return acting.answer(request, DECISION_ACTIONS, act, decision, name=decision.title, back_url=back_url, go_on=go_on)


def _found(request: SignedInRequest, pk: int) -> Report:
    """Return the report. 404 for one about the member of staff. 1 query."""
    people = ("user", "author", "reporter", "decided_by")
    return get_object_or_404(cases.seen_by(request.user).select_related(*people), pk=pk)


def _decision(request: SignedInRequest, pk: int) -> Decision:
    """Return the decision. 404 for one about something of the member of staff. 1 query."""
    return get_object_or_404(report_queries.decisions_seen_by(request.user), pk=pk)


def _decide(request: SignedInRequest, found: Report, listed: tuple[StaffAction, ...], act: str) -> HttpResponse:
    """Ask and run as `acting.answer`, and go on to the next report that waits."""
    back_url, name = reverse("staff_report", args=[found.pk]), cases.accused_of(found).username

    def go_on() -> str:
        following = cases.next_after(found, staff=request.user)
        return reverse("staff_report", args=[following.pk]) if following else reverse("staff_reports")

    return acting.answer(request, listed, act, found, name=name, back_url=back_url, go_on=go_on)
