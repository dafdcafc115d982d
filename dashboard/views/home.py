"""The dashboard's first page."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.http import SignedInRequest
from dashboard import access, home_facts


@access.signed_in
@require_safe
def home(request: SignedInRequest) -> HttpResponse:
    facts = home_facts.of(request.user, timezone.now())
    return render(request, "dashboard/home.html", {"facts": facts})
