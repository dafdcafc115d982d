"""What people ask of staff, and the answers."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import SignedInRequest
from dashboard import access
from dashboard.forms.staff import QueueFilter, QueueState
from dashboard.models import AccessRequest
from dashboard.staff import on_requests, records, rights
from dashboard.views.staff import asking

PAGE_SIZE = 20


@access.for_staff(*rights.QUEUE)
@require_safe
def queue(request: SignedInRequest) -> HttpResponse:
    """4 queries beside those of the session: how many, a page of them, their owners' apps and requests."""
    chosen = QueueFilter(request.GET).chosen()
    found = records.requests(state="" if chosen["state"] == QueueState.ALL else chosen["state"], kind=chosen["kind"])
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    now = timezone.now()
    context = {
        "filter": QueueFilter(initial=chosen),
        "page": page,
        "records": [records.of_request(asked, now) for asked in page],
        "is_waiting_list": chosen["state"] == QueueState.PENDING and not chosen["kind"],
        "may_decide": access.may(request.user, rights.DECIDE),
        "may_see_people": access.may(request.user, *rights.PEOPLE),
        "may_see_applications": access.may(request.user, *rights.APPLICATIONS),
    }
    return render(request, "dashboard/staff/queue.html", context)


@access.for_staff(rights.DECIDE)
@require_http_methods(["GET", "POST"])
def decide(request: SignedInRequest, pk: int, act: str) -> HttpResponse:
    asked = get_object_or_404(AccessRequest.objects.select_related("user", "key"), pk=pk)
    if act not in on_requests.ACTS:
        raise Http404
    return asking.answer(
        request, on_requests.ACTS[act], asked, name=f"{asked.subject} for {asked.user}", back_url=reverse("staff_queue")
    )
