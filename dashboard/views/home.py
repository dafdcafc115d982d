"""The dashboard's first page."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.http import SignedInRequest
from dashboard import access


@access.signed_in
@require_safe
def home(request: SignedInRequest) -> HttpResponse:
    return render(request, "dashboard/home.html")
